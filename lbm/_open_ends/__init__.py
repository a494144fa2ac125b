"""Ends of channels: what is added to the populations that they have returned."""

from typing import Protocol

import numpy as np

from hetero.devices import Device
from lbm._engines.engine import Engine
from lbm._open_ends.tables import EndTable, ShearedTable


class EndStore(Protocol):
    """The cells before an end in a block, in the memory of its device.

    A step leaves what an outlet with a fixed density or an inlet with a fixed velocity returns.
    `correct` adds what a wave that leaves changes, and lets the means follow the flow: those of an
    outlet are velocities out of the domain, those of an inlet densities less 1. Nothing else is
    written.
    """

    def correct(self, t: int) -> None:
        """Correct what the end has returned in step t."""

    def read_means(self) -> np.ndarray:
        """Return the means, [cell] in host memory."""
        ...

    def write_means(self, means: np.ndarray) -> None:
        """Set the means."""


class ShearedStore(Protocol):
    """The cells before a sheared outlet in a block, in the memory of its device."""

    def correct(self, t: int) -> None:
        """Correct what the outlet has returned in step t."""


class Loops(Protocol):
    """The functions that `cpu.py` and `cuda.py` of this folder both have."""

    def create_store(self, engine: Engine, table: EndTable, rate: float) -> EndStore:
        """Create the store of a block's end, whose means follow the flow by a share `rate`."""
        ...

    def create_sheared_store(
        self, engine: Engine, table: ShearedTable, times: tuple[float, float, float, float]
    ) -> ShearedStore:
        """Create the store of a block's sheared outlet, with the operator's relaxation times
        (`formulas.sheared_excess`)."""
        ...


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._open_ends import cpu

        return cpu
    from lbm._open_ends import cuda

    return cuda
