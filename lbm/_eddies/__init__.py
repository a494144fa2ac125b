"""Eddy viscosities: a field that follows from the gradient of the velocity in each cell."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from hetero.devices import Device
from lbm._engines.engine import Engine
from lbm._model.problem import Box


class EddyStore(Protocol):
    """The velocity in a block and what follows from it, in the memory of the block's device.

    The eddy viscosity itself is an array of the engine, `Engine.viscosity`.

    Attributes
    ----------
    moments : [4, z, y, x], rho - 1 and the velocity of the block's cells, the halo included
    """

    moments: Any

    def read_velocity(self, t: int) -> None:
        """Read the moments of all cells before step t; those in the halo have no meaning."""

    def update_interior(self) -> None:
        """Compute the eddy viscosity of the part's cells that need no halo, from the velocities in
        `moments`."""

    def update_edges(self) -> None:
        """Compute that of the cells beside the halo, once this has arrived."""

    def read_layers(self, z0: int, z1: int) -> np.ndarray:
        """Return the stored numbers of the block's layers z0 to z1, flat, in host memory."""
        ...

    def write_layers(self, z0: int, values: np.ndarray) -> None:
        """Set the stored numbers of layers from z0 on."""


class Loops(Protocol):
    """The function that `cpu.py` and `cuda.py` of this folder both have."""

    def create_store(
        self, engine: Engine, sides: np.ndarray, interior: Sequence[Box], edges: Sequence[Box]
    ) -> EddyStore:
        """Create the store of a block whose operator is an `EddyViscosityModel`.

        Parameters
        ----------
        engine : the block
        sides : uint8 [z, y, x], bits of the sides at which a cell has no fluid beside it: bit 2 a
            for that towards smaller coordinates along axis a, bit 2 a + 1 for the other one
        interior, edges : the cells of the part that need no halo, and the others
        """
        ...


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._eddies import cpu

        return cpu
    from lbm._eddies import cuda

    return cuda
