"""Blocks of cells in the memory of a device, and the kernels that step them."""

from collections.abc import Callable
from typing import Any, Protocol

from hetero.devices import Device
from lbm._kernels.engine import Engine
from lbm._kernels.problem import Problem

Allocate = Callable[[tuple[int, ...], type], Any]
"""allocate(shape, dtype) returns an array of zeros in host memory."""


class Loops(Protocol):
    """The function that `cpu.py` and `cuda.py` of this folder both have."""

    def create_engine(
        self, problem: Problem, device: Device, allocate: Allocate | None = None
    ) -> Engine:
        """Create the block `problem` on `device`; the CPU's populations may be allocated
        otherwise."""


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._kernels import cpu

        return cpu
    from lbm._kernels import cuda

    return cuda
