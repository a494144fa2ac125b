"""Companions of a flow: what belongs to its state besides its populations."""

from __future__ import annotations

from typing import Any

import numpy as np

from lbm._parallel.domain.domain import Domain


class Companion:
    """State of a flow on its parts that changes from step to step, such as targets of sponges.

    The base class does nothing and has no state.

    Attributes
    ----------
    domain : the parts
    rows : numbers of a cell that checkpoints keep
    """

    rows = 0

    def __init__(self, domain: Domain):
        self.domain = domain

    def describe(self, t: int) -> str:
        """Return a text that is the same for equal settings, for the header of checkpoints.

        What moves by a function of time must be in the same place after t steps. The text is empty
        where the walls of a flow, which checkpoints have, say enough.
        """
        return ""

    def start(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Start with a flow whose moments are those of the cells of this rank.

        rho is an array [x, y, z] or a number, u an array [c, x, y, z] or three numbers.
        """

    def before_step(self, t: int) -> None:
        """Do what precedes step number t of the flow.

        All cells are in step t on their devices; the host may be ahead of these. Kernels of GPUs
        run in the default stream, within `Domain.between_streams`; what reads on the host
        synchronizes first.
        """

    def after_step(self, t: int) -> None:
        """Do what follows step number t of the flow."""

    def read_rows(self, t: int, z0: int, z1: int) -> np.ndarray:
        """Return what checkpoints keep of the layers z0 to z1 of this rank, [row, z, y, x]."""
        nx, ny, _ = self.domain.problem.shape
        shape = self.rows, z1 - z0, ny, nx
        return np.zeros(shape, self.domain.problem.precision.compute)

    def write_rows(self, t: int, z0: int, values: np.ndarray) -> None:
        """Set the layers from z0 on to what a checkpoint has kept, [row, z, y, x]."""

    def require_finite(self, t: int) -> None:
        """Raise UnstableError on all ranks if what the flow does not check is not finite."""

    def copy_state(self, t: int) -> Any:
        """Return a copy of the state, for `return_to_state`."""

    def return_to_state(self, t: int, state: Any) -> None:
        """Restore a copy that was made after t steps."""
