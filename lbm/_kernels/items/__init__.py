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
    """Sums among which those of `Store.prepare_adding` are spread."""

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
        self, kind: str, item: Any, most: int, numbers: Sequence[Any], arguments: Sequence[Any],
        stream: Any, part: Any,
    ) -> Callable[[], None]:  # fmt: skip
        """Return a function that runs the loop of a kind: "each", "sum", "add", "join", "choose".

        `Store` has a method for each, which says what it does with the item, and with its part.
        `numbers` are arguments of the loop itself, and `most` is the number of items, rarely more.
        """
        ...


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._kernels.items import cpu

        return cpu
    from lbm._kernels.items import cuda

    return cuda
