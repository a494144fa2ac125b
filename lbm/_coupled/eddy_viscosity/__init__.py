"""Eddy viscosities: a field that follows from the gradient of the velocity in each cell."""

from collections.abc import Callable
from typing import Any, Protocol

from hetero.devices import Device
from lbm._kernels.engine import Engine
from lbm._kernels.problem import Box


class Loops(Protocol):
    """The function that `cpu.py` and `cuda.py` of this folder both have."""

    def prepare_update(
        self, engine: Engine, moments: Any, sides: Any, box: Box
    ) -> Callable[[], None]:
        """Return a function that computes `Engine.viscosity` of a box, on the current device.

        Parameters
        ----------
        engine : the block, whose operator is an `EddyViscosityModel`
        moments : [4, z, y, x], rho - 1 and the velocity of the block's cells, the halo included
        sides : uint8 [z, y, x], bits of the sides at which a cell has no fluid beside it: bit 2 a
            for that towards smaller coordinates along axis a, bit 2 a + 1 for the other one
        box : cells of the block
        """
        ...


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._coupled.eddy_viscosity import cpu

        return cpu
    from lbm._coupled.eddy_viscosity import cuda

    return cuda
