"""Interpolated walls after each step: what they return along the links that they cut."""

from typing import Any, Protocol

import numpy as np

from hetero.devices import Device
from lbm._engines.engine import Engine
from lbm._links.tables import LinkTable


class LinkStore(Protocol):
    """The links of a block in the memory of its device.

    A step leaves what a wall half-way would return. `interpolate` reads it and computes what the
    walls return instead, and `store` writes that. Nothing else of the populations is written.
    """

    def set_wall_terms(self, terms: np.ndarray) -> None:
        """Set `LinkTable.wall_terms` for the steps that follow."""

    def interpolate(self, t: int) -> None:
        """Compute what walls return after step t, and add the mass that this brings to the sum."""

    def read_excess(self) -> int:
        """Return the mass that walls bring in after this step, in units of `tables.MASS_UNIT`."""
        ...

    def write_excess(self, total: int) -> None:
        """Set the mass that walls bring in after this step in the whole domain."""

    def store(self, t: int) -> None:
        """Write what walls return after step t, less each link's share of the mass brought in."""

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Return f_q - w_q that ran into walls in the last step, and what returned, [link]."""
        ...


class Loops(Protocol):
    """The function that `cpu.py` and `cuda.py` of this folder both have."""

    def create_store(self, engine: Engine, table: LinkTable, stream: Any = None) -> LinkStore:
        """Create the store of a block's links, which works in a stream of its device."""
        ...


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._links import cpu

        return cpu
    from lbm._links import cuda

    return cuda
