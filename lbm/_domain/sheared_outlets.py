"""Outlets of channels with walls on the parts of a domain: the shear stress in their plane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lbm import _open_ends
from lbm._domain.domain import Domain
from lbm._model.extent import Triple
from lbm._model.wall_links import SOLID_CLASS
from lbm._open_ends.tables import make_sheared_table
from lbm.boundaries import FACES, Condition, MovingWall, NoSlip, PressureOutlet, VelocityInlet
from lbm.collisions.operator import Collision

STEADY_MAGIC = 3 / 16
"""Magic parameter below which the term of the curvature is reduced: at small viscosities it would
amplify what changes from step to step (BGK at tau = 0.55 and 0.08 cells/step blew up)."""

VISCOUS = 5.0
"""Speed of a cell, times its width over the viscosity, from which on the stress is left out by and
by. It matters little there, and flows with eddies that leave a channel blew up earlier with it."""


class ShearedOutlets:
    """All outlets at faces that walls with friction touch, in the parts of this rank.

    Parameters
    ----------
    shape : cells of the whole domain
    faces : conditions at the faces
    domain : the parts

    Attributes
    ----------
    faces : numbers of the faces of sheared outlets, the same on all ranks
    rows : 0, as checkpoints keep nothing of them
    """

    rows = 0

    def __init__(self, shape: Triple, faces: Sequence[Condition], domain: Domain):
        self._domain, collision = domain, domain.problem.collision
        self.faces = [
            k
            for k, face in enumerate(faces)
            if isinstance(face, PressureOutlet)
            and (_has_walls_beside(k, faces) or domain.ranks.any(_has_solids_before(k, domain)))
        ]
        self._stores = [
            _open_ends.loops(part.engine.device).create_sheared_store(
                part.engine, table, _times_of(collision)
            )
            for face in self.faces
            for part in domain.parts
            if (table := make_sheared_table(part, face, shape, faces)) is not None
        ]

    def before_step(self, t: int) -> None:
        """Do nothing: outlets act after a step."""

    def after_step(self, t: int) -> None:
        """Correct what the outlets have returned in step t."""
        with self._domain.between_streams():
            for store in self._stores:
                store.correct(t)

    # ---- state: there is none ----------------------------------------------------------------

    def describe(self) -> str:
        """Return the names of the faces."""
        return f"sheared outlets: {', '.join(FACES[k] for k in self.faces)}"

    def read_rows(self, t: int, z0: int, z1: int) -> np.ndarray:
        """Return no rows."""
        nx, ny, _ = self._domain.problem.shape
        empty: np.ndarray = np.zeros((0, z1 - z0, ny, nx), self._domain.problem.precision.compute)
        return empty

    def write_rows(self, t: int, z0: int, values: np.ndarray) -> None:
        """Do nothing."""

    def require_finite(self, t: int) -> None:
        """Do nothing."""

    def copy_state(self, t: int) -> None:
        """Copy nothing."""

    def return_to_state(self, t: int, state: None) -> None:
        """Do nothing."""


def _has_walls_beside(face: int, faces: Sequence[Condition]) -> bool:
    """Return whether one of the four faces beside a face is a wall with friction."""
    beside = (end for k, end in enumerate(faces) if k // 2 != face // 2)
    return any(
        isinstance(end, NoSlip | MovingWall) and not isinstance(end, VelocityInlet)
        for end in beside
    )


def _has_solids_before(face: int, domain: Domain) -> bool:
    """Return whether cells of this rank in the layer before a face are solid."""
    axis, at_end = divmod(face, 2)
    n, region = domain.partition.shape[axis], domain.region
    if (region.stop[axis] < n) if at_end else (region.start[axis] > 0):
        return False
    layer = np.moveaxis(domain.problem.links.classes, 2 - axis, 0)[-1 if at_end else 0]
    return bool((layer == SOLID_CLASS).any())


def _times_of(collision: Collision) -> tuple[float, float, float, float]:
    """Return the arguments `times` of `_open_ends.formulas.sheared_excess`, without eddies.

    Operators without a magic parameter relax what is odd at once.
    """
    tau, magic = collision.tau, collision.magic
    odd = 1.0 if magic is None else 0.5 + magic / (tau - 0.5)
    viscosity = (tau - 0.5) / 3.0
    return tau, odd, max(odd, STEADY_MAGIC / (tau - 0.5)), 1.0 / (VISCOUS * viscosity)
