"""Outlets of channels with walls on the parts of a domain: the shear stress in their plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lbm._coupled.companion import Companion
from lbm._coupled.open_faces.formulas import make_bend_cell
from lbm._coupled.open_faces.tables import ShearedTable, make_sheared_table
from lbm._domain.domain import Domain
from lbm._kernels.items.store import Store
from lbm._parallel.parts import Part
from lbm._parallel.ranks.communication import Ranks
from lbm.boundaries import FACES, Condition
from lbm.collisions.operator import Collision
from lbm.geometry.wall_links import SOLID_CLASS
from lbm.lattices.extent import Extent, Triple

STEADY_MAGIC = 3 / 16
"""Magic parameter below which the term of the curvature is reduced: at small viscosities it would
amplify what changes from step to step (BGK at tau = 0.55 and 0.08 cells/step blew up)."""

VISCOUS = 5.0
"""Speed of a cell, times its width over the viscosity, from which on the stress is left out by and
by. It matters little there, and flows with eddies that leave a channel blew up earlier with it."""


class ShearedOutlets(Companion):
    """All outlets at faces that walls with friction touch, in the parts of this rank.

    Parameters
    ----------
    shape : cells of the whole domain
    faces : conditions at the faces
    domain : the parts

    Attributes
    ----------
    faces : numbers of the faces of sheared outlets, the same on all ranks
    """

    def __init__(self, shape: Triple, faces: Sequence[Condition], domain: Domain):
        super().__init__(domain)
        self.faces = find_sheared(
            faces, shape, domain.region, domain.problem.links.classes, domain.ranks
        )
        self._corrections = [
            _prepare(part, face, table)
            for face in self.faces
            for part in domain.parts
            if (table := make_sheared_table(part, face, shape, faces)) is not None
        ]

    def after_step(self, t: int) -> None:
        """Correct what the outlets have returned in step t."""
        with self.domain.between_streams():
            for corrections in self._corrections:
                corrections[t % 2]()

    def describe(self) -> str:
        """Return the names of the faces."""
        return f"sheared outlets: {', '.join(FACES[k] for k in self.faces)}"


def _prepare(part: Part, face: int, table: ShearedTable) -> list[Callable[[], None]]:
    """Return the corrections of a part after even and after odd steps."""
    problem, store = part.engine.problem, Store(part.engine)
    bend = make_bend_cell(problem.precision.name, problem.lattice, face)
    links, times = store.put(table.links), tuple(map(store.T, _times_of(problem.collision)))
    return [
        store.prepare(
            bend, len(table.links), store.flat_target(t), store.put(table.loads[1 - t]), links,
            times,
        )
        for t in (0, 1)
    ]  # fmt: skip


def find_sheared(
    faces: Sequence[Condition], shape: Triple, region: Extent, classes: np.ndarray, ranks: Ranks
) -> list[int]:
    """Return the numbers of the outlets that walls with friction touch, the same on all ranks.

    `classes` are those of the cells of this rank's region.
    """

    def is_touched(k: int) -> bool:
        beside = _has_walls_beside(k, faces)
        return beside or ranks.any(_has_solids_before(k, shape, region, classes))

    return [k for k, face in enumerate(faces) if face.is_outlet and is_touched(k)]


def _has_walls_beside(face: int, faces: Sequence[Condition]) -> bool:
    """Return whether one of the four faces beside a face is a wall with friction."""
    beside = (end for k, end in enumerate(faces) if k // 2 != face // 2)
    return any(end.has_friction for end in beside)


def _has_solids_before(face: int, shape: Triple, region: Extent, classes: np.ndarray) -> bool:
    """Return whether cells of this rank in the layer before a face are solid."""
    axis, at_end = divmod(face, 2)
    if (region.stop[axis] < shape[axis]) if at_end else (region.start[axis] > 0):
        return False
    layer = np.moveaxis(classes, 2 - axis, 0)[-1 if at_end else 0]
    return bool((layer == SOLID_CLASS).any())


def _times_of(collision: Collision) -> tuple[float, float, float, float]:
    """Return the arguments `times` of `formulas.sheared_excess`, without eddies.

    Operators without a magic parameter relax what is odd at once.
    """
    tau, magic = collision.tau, collision.magic
    odd = 1.0 if magic is None else 0.5 + magic / (tau - 0.5)
    viscosity = (tau - 0.5) / 3.0
    return tau, odd, max(odd, STEADY_MAGIC / (tau - 0.5)), 1.0 / (VISCOUS * viscosity)
