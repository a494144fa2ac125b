"""Arrays in the memory of a device, and loops over their items: cells, links, eddies.

An item is a function item(i, *arrays and numbers), compiled by
`lbm.collisions.unroll.inlined`: it does what belongs to item number i, on both targets.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from hetero.devices import Device


class Loops(Protocol):
    """The functions that `cpu.py` and `cuda.py` of this folder both have.

    All work on the current device. Numbers among arguments have the types of NumPy.
    """

    LANES: int
    """Sums among which those of `prepare_adding` are spread."""

    def zeros(self, shape: tuple[int, ...], dtype: type) -> Any:
        """Allocate an array of zeros."""

    def put(self, array: np.ndarray) -> Any:
        """Return a copy of an array on the device."""

    def get(self, array: Any) -> np.ndarray:
        """Return a copy of an array, or of a contiguous part of it, in host memory."""
        ...

    def set(self, array: Any, values: np.ndarray) -> None:
        """Set an array, or a contiguous part of it, to values in host memory."""

    def copy(self, source: Any, target: Any) -> None:
        """Copy an array of the device over another one."""

    def prepare(
        self, item: Any, count: int, arguments: Sequence[Any], stream: Any
    ) -> Callable[[], None]:
        """Return a function that calls item(i, *arguments) for i < count."""
        ...

    def prepare_sum(
        self, item: Any, count: int, arguments: Sequence[Any], total: Any, stream: Any
    ) -> Callable[[], None]:
        """Return a function that sets total[0] to the sum of the int64 that items return."""
        ...

    def prepare_adding(
        self, item: Any, most: int, count: tuple[Any, int, int], sums: Any,
        arguments: Sequence[Any], stream: Any,
    ) -> Callable[[], None]:  # fmt: skip
        """Return a function that calls item(i, k, lane, sums, *arguments) for i < n and k < per.

        `count` is (counts, j, per), where n = counts[j] on the device is rarely above `most`. An
        item adds to sums[:, lane], int64, which no other one has at that time.
        """
        ...

    def prepare_joining(
        self, part: Any, item: Any, count: tuple[Any, int, int], sums: Any,
        arguments: Sequence[Any], stream: Any,
    ) -> Callable[[], None]:  # fmt: skip
        """Return a function that calls part(i, k, lane, *arguments) for k < per, at most 32, and
        then item(i, lane, sums, *arguments), for i < n, as `prepare_adding` does.

        What parts leave for their item in an array at position `lane` stays until then.
        """
        ...

    def prepare_choice(
        self, item: Any, count: int, chosen: Any, lengths: Any, arguments: Sequence[Any],
        stream: Any,
    ) -> Callable[[], None]:  # fmt: skip
        """Return a function that makes two lists of what item(i, *arguments) returns for i < count.

        An item returns 4 n + bits: n joins chosen[k], in any order, if bit k is set. The lists
        have lengths[k] elements then.
        """
        ...


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._kernels.items import cpu

        return cpu
    from lbm._kernels.items import cuda

    return cuda
