"""Outlets of channels with walls on the parts of a domain: the shear stress in their plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lbm._coupled.companion import Companion
from lbm._coupled.cut_walls.walls import InterpolatedWalls
from lbm._coupled.open_faces.formulas import make_add_changes, make_arrive, make_bend_cell
from lbm._coupled.open_faces.tables import ShearedTable, make_sheared_table
from lbm._kernels.items.store import Store
from lbm._kernels.moments.arrivals import StepArguments, find_arrivals, number_cells
from lbm._kernels.problem import Problem
from lbm._parallel.domain.domain import Domain
from lbm._parallel.parts import Part
from lbm.boundaries import FACES, Condition, Enclosure
from lbm.collisions.operator import Collision
from lbm.geometry.cut_links import find_keys
from lbm.geometry.wall_links import SOLID_CLASS

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
    enclosure : the whole domain and its walls
    domain : the parts
    interpolated : its interpolated walls, if there are any

    Attributes
    ----------
    faces : numbers of the faces of sheared outlets, the same on all ranks
    """

    def __init__(
        self, enclosure: Enclosure, domain: Domain, interpolated: InterpolatedWalls | None
    ):
        super().__init__(domain)
        faces = enclosure.faces
        self.faces = [
            k
            for k, face in enumerate(faces)
            if face.is_outlet
            and (_has_walls_beside(k, faces) or domain.ranks.any(_has_solids_before(k, domain)))
        ]
        self._outlets: list[Any] = []
        for part in domain.parts:
            tables = {
                face: table
                for face in self.faces
                if (table := make_sheared_table(part, face, enclosure)) is not None
            }
            if domain.problem.precision.moments and tables:
                returned = None if interpolated is None else interpolated.returned_in(part)
                self._outlets.append(_MomentsOutlets(part, tables, returned))
            else:
                self._outlets += [_Outlet(part, face, table) for face, table in tables.items()]

    def after_step(self, t: int) -> None:
        """Correct what the outlets have returned in step t."""
        with self.domain.between_streams():
            for outlet in self._outlets:
                outlet.correct(t)

    def describe(self, t: int) -> str:
        """Return the names of the faces."""
        return f"sheared outlets: {', '.join(FACES[k] for k in self.faces)}"


class _Outlet:
    """The cells of a part before an outlet whose populations are stored."""

    def __init__(self, part: Part, face: int, table: ShearedTable):
        problem, store = part.engine.problem, Store(part.engine)
        bend = make_bend_cell(problem.precision.name, problem.lattice, face)
        links, times = store.put(table.links), tuple(map(store.T, _times_of(problem.collision)))
        self._corrections = [
            store.prepare(
                bend, len(table.links), store.flat_target(t), store.put(table.loads[1 - t]), links,
                times,
            )
            for t in (0, 1)
        ]  # fmt: skip

    def correct(self, t: int) -> None:
        """Correct what the outlet has returned in step t."""
        self._corrections[t % 2]()


class _MomentsOutlets:
    """The cells of a part before outlets, if moments are stored.

    Their populations after a step are computed once more and corrected, and what they have gained
    is added to the moments. `returned` is what interpolated walls of the part have returned.
    """

    def __init__(self, part: Part, tables: Mapping[int, ShearedTable], returned: Any):
        problem, store = part.engine.problem, Store(part.engine)
        lattice, form = problem.lattice, problem.precision
        numbers = [number_cells(problem, table.cells) for table in tables.values()]
        changed = np.unique(np.concatenate(numbers))
        cells = np.stack(np.unravel_index(changed, problem.shape[::-1]), axis=1)
        q = np.repeat(np.arange(lattice.size), len(changed))
        arrivals = find_arrivals(problem, np.tile(cells, (lattice.size, 1)), q)
        links = _find_cut_links(problem, np.tile(changed, lattice.size), q)
        step = self._step = StepArguments(store)
        before, after = store.zeros(len(q)), store.zeros(len(q))
        of_links = store.put(links), before if returned is None else returned
        sources = *map(store.put, arrivals), *of_links, before, after
        arrive = make_arrive(lattice, form.name, type(problem.collision), problem.forced)
        add, on_device = make_add_changes(form.name), store.put(changed)
        times = tuple(map(store.T, _times_of(problem.collision)))
        first_of_q = len(changed) * np.arange(lattice.size)[:, None]
        bend = [
            store.prepare(
                make_bend_cell(form.dtype_name, lattice, face), len(table.links), after,
                store.put(first_of_q + np.searchsorted(changed, of_face)), store.put(table.links),
                times,
            )
            for of_face, (face, table) in zip(numbers, tables.items(), strict=True)
        ]  # fmt: skip
        self._corrections = [
            [
                store.prepare(arrive, len(q), *step.before(t), *step.rest, *sources),
                *bend,
                store.prepare(
                    add, len(changed), store.flat_moments(t)[1], on_device, step.directions, before,
                    after,
                ),
            ]
            for t in (0, 1)
        ]  # fmt: skip

    def correct(self, t: int) -> None:
        """Correct what the outlets have returned in step t."""
        self._step.set_force(t)
        for run in self._corrections[t % 2]:
            run()


def _find_cut_links(problem: Problem, numbers: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the numbers of the links whose interpolated walls return populations q, or -1."""
    cut, opposite = problem.links.cut, np.array(problem.lattice.opposite)
    if not cut:
        return np.full(len(q), -1)
    keys = number_cells(problem, cut.cells) * len(opposite) + opposite[cut.q]
    return find_keys(keys, numbers * len(opposite) + q)


def _has_walls_beside(face: int, faces: Sequence[Condition]) -> bool:
    """Return whether one of the four faces beside a face is a wall with friction."""
    beside = (end for k, end in enumerate(faces) if k // 2 != face // 2)
    return any(end.has_friction for end in beside)


def _has_solids_before(face: int, domain: Domain) -> bool:
    """Return whether cells of this rank in the layer before a face are solid."""
    axis, at_end = divmod(face, 2)
    n, region = domain.partition.shape[axis], domain.region
    if (region.stop[axis] < n) if at_end else (region.start[axis] > 0):
        return False
    layer = np.moveaxis(domain.problem.links.classes, 2 - axis, 0)[-1 if at_end else 0]
    return bool((layer == SOLID_CLASS).any())


def _times_of(collision: Collision) -> tuple[float, float, float, float]:
    """Return the arguments `times` of `formulas.sheared_excess`, without eddies.

    Operators without a magic parameter relax what is odd at once.
    """
    tau, magic = collision.tau, collision.magic
    odd = 1.0 if magic is None else 0.5 + magic / (tau - 0.5)
    viscosity = (tau - 0.5) / 3.0
    return tau, odd, max(odd, STEADY_MAGIC / (tau - 0.5)), 1.0 / (VISCOUS * viscosity)
