"""Populations of some cells after a step, from the moments that it has read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lbm._kernels.items.store import Store
from lbm._kernels.problem import Problem
from lbm.geometry.wall_links import INTO


class Arrivals(NamedTuple):
    """Origins of populations that arrive in cells; see `formulas.make_arriving_population`.

    Attributes
    ----------
    numbers, sent : int64 [population], the cell that has sent it, and its number there
    rows : int64 [population], row of the wall that has returned it, or -1
    """

    numbers: np.ndarray
    sent: np.ndarray
    rows: np.ndarray


def find_arrivals(problem: Problem, cells: np.ndarray, q: np.ndarray) -> Arrivals:
    """Return where the populations q of cells [i, (z, y, x)] of a block come from."""
    lattice, links = problem.lattice, problem.links
    classes, opposite = links.classes[tuple(cells.T)], np.array(lattice.opposite)[q]
    at_wall = links.bits(INTO)[classes, opposite] & (q > 0)
    row, partner = np.moveaxis(links.wall_rows[classes, opposite].astype(np.int64), 1, 0)
    senders = cells - ~at_wall[:, None] * np.array(lattice.velocities)[q][:, ::-1]
    return Arrivals(
        number_cells(problem, senders), np.where(at_wall, partner, q), np.where(at_wall, row, -1)
    )


def number_cells(problem: Problem, cells: np.ndarray) -> np.ndarray:
    """Return the numbers of cells [i, (z, y, x)] in a block, across its ends if need be."""
    size = problem.shape[::-1]
    numbers: np.ndarray = np.ravel_multi_index(tuple((cells % size).T), size)
    return numbers


class StepArguments:
    """Arguments of `arriving_population` that belong to a block, on its device.

    Parameters
    ----------
    store : of the loops that take them
    """

    def __init__(self, store: Store):
        self._store, self._problem = store, store.engine.problem
        lattice = self._problem.lattice
        c, w = np.array(lattice.velocities, float), np.array(lattice.weights)
        self.directions, self._force = store.put(np.vstack([c.T, w])), store.put(np.zeros(3))
        self.set_force(0)

    def before(self, t: int) -> tuple[Any, Any]:
        """Return the moments that step t reads, and the eddy viscosity."""
        engine, moments = self._store.engine, self._store.flat_moments(t)[0]
        # No operator without an eddy viscosity reads it.
        reads = self._problem.collision.reads_viscosity
        return moments, engine.viscosity if reads else self._force

    @property
    def rest(self) -> tuple[Any, ...]:
        """The types of walls, the directions, the rates and the force."""
        engine = self._store.engine
        return engine.wall_types, self.directions, engine.rates, self._force

    def set_force(self, t: int) -> None:
        """Set the force to that of step t, if it changes with time."""
        if t == 0 or self._problem.force_in_time is not None:
            self._store.set(self._force, np.array(self._problem.force_in(t)))
