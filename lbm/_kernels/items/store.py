"""The arrays of a block on its device, and what runs over their items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lbm._kernels.engine import Engine
from lbm._kernels.items import loops


class Store:
    """Arrays beside the populations of a block, in the memory of its device.

    Parameters
    ----------
    engine : the block
    stream : of its loops; by default that of the engine

    Attributes
    ----------
    T : type of the arithmetic of the block
    lanes : columns of sums to which items add
    """

    def __init__(self, engine: Engine, stream: Any = None):
        self.engine, self._on, self._device = engine, loops(engine.device), engine.device
        self._stream = getattr(engine, "stream", None) if stream is None else stream
        self.T = engine.problem.precision.compute
        self.lanes = self._on.LANES

    def zeros(self, *shape: int, dtype: type | None = None) -> Any:
        """Allocate an array of zeros."""
        with self._device.active():
            return self._on.zeros(shape, self.T if dtype is None else dtype)

    def put(self, array: np.ndarray) -> Any:
        """Return a copy of an array on the device; real numbers get the type of the arithmetic."""
        if array.dtype.kind == "f":
            array = array.astype(self.T)
        with self._device.active():
            return self._on.put(array)

    def get(self, array: Any) -> np.ndarray:
        """Return a copy of an array in host memory, when all work before it is done."""
        with self._device.active():
            self.engine.synchronize()
            return self._on.get(array)

    def get_from_stream(self, array: Any) -> np.ndarray:
        """Return a copy of an array in host memory, when the loops before it are done."""
        with self._device.active():
            if self._stream:
                self._stream.synchronize()
            return self._on.get(array)

    def set(self, array: Any, values: Any) -> None:
        """Set an array to values in host memory; streams need not wait for it."""
        with self._device.active():
            self._on.set(array, values)
            self.engine.synchronize()

    def copy(self, source: Any, target: Any) -> None:
        """Copy an array of the device over another one."""
        with self._device.active():
            self._on.copy(source, target)

    def duplicate(self, source: Any) -> Any:
        """Return a copy of an array on the device."""
        target = self.zeros(*source.shape, dtype=source.dtype)
        self.copy(source, target)
        return target

    def prepare(self, item: Any, count: int, *arguments: Any) -> Callable[[], None]:
        """Return a function that calls item(i, *arguments) for i < count."""
        return self._prepare("each", item, count, (count,), arguments)

    def prepare_sum(self, item: Any, count: int, total: Any, *arguments: Any) -> Callable[[], None]:
        """Return a function that sets total[0] to the sum of the int64 that items return."""
        return self._prepare("sum", item, count, (count, total), arguments)

    def prepare_adding(
        self, item: Any, most: int, count: tuple[Any, int, int], sums: Any, *arguments: Any
    ) -> Callable[[], None]:
        """Return a function that calls item(i, k, lane, sums, *arguments) for i < n and k < per.

        `count` is (counts, j, per), where n = counts[j] on the device is rarely above `most`. An
        item adds to sums[:, lane], int64, which no other one has at that time.
        """
        return self._prepare("add", item, most, (*count, sums), arguments)

    def prepare_joining(
        self, part: Any, item: Any, count: tuple[Any, int, int], sums: Any, *arguments: Any
    ) -> Callable[[], None]:
        """Return a function that calls part(i, k, lane, *arguments) for k < per, at most 32, and
        then item(i, lane, sums, *arguments), for i < n, as `prepare_adding` does.

        What parts leave for their item in an array at position `lane` stays until then.
        """
        return self._prepare("join", item, 0, (*count, sums), arguments, part)

    def prepare_choice(
        self, item: Any, count: int, chosen: Any, lengths: Any, *arguments: Any
    ) -> Callable[[], None]:
        """Return a function that makes two lists of what item(i, *arguments) returns for i < count.

        An item returns 4 n + bits: n joins chosen[k], in any order, if bit k is set. The lists
        have lengths[k] elements then.
        """
        return self._prepare("choose", item, count, (count, chosen, lengths), arguments)

    def _prepare(
        self, kind: str, item: Any, most: int, numbers: tuple[Any, ...],
        arguments: tuple[Any, ...], part: Any = None,
    ) -> Callable[[], None]:  # fmt: skip
        numbers = tuple(np.int64(n) if isinstance(n, int) else n for n in numbers)
        with self._device.active():
            return self._on.prepare(kind, item, most, numbers, arguments, self._stream, part)

    def flat_moments(self, t: int) -> tuple[Any, Any]:
        """Return the flat arrays of moments that step t reads and writes."""
        source, target = self.engine.source(t), self.engine.target(t)
        return source.reshape(-1), target.reshape(-1)

    def flat_target(self, t: int) -> Any:
        """Return the flat array of populations that step t writes, one element for each."""
        problem = self.engine.problem
        assert not problem.precision.moments, "moments are not addressed like populations"
        return self.engine.cells(self.engine.target(t)).reshape(problem.populations)
