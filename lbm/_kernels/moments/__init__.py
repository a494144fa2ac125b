"""Blocks of cells whose state is ten moments instead of their populations.

A regularized operator keeps nothing of a cell but its density, momentum and second moments. They
are stored before the collision, [group of cells, number, cell of the group]: see `formulas`. There
are two copies: a step reads one and writes the other.
"""

from __future__ import annotations

from typing import Any, Protocol

from hetero.devices import Device
from lbm._kernels.engine import Engine
from lbm._kernels.problem import Problem


class Loops(Protocol):
    """The function that `cpu.py` and `cuda.py` of this folder both have."""

    def create_engine(self, problem: Problem, device: Device, allocate: Any = None) -> Engine:
        """Create the block `problem` on `device`."""


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._kernels.moments import cpu

        return cpu
    from lbm._kernels.moments import cuda

    return cuda
