"""Links between fluid cells that solids close on both sides, in flows that are stored by moments.

A diagonal link is a wall if no path of steps along the axes leads around the solids beside it:
solids that touch along an edge let nothing through. Both of its ends are fluid then, and a step of
moments takes what arrives from fluid. The moments of such cells are therefore summed once more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lbm._coupled.companion import Companion
from lbm._kernels.items.store import Store
from lbm._kernels.moments.arrivals import StepArguments, find_arrivals, number_cells
from lbm._kernels.moments.formulas import make_sum_of_arrivals
from lbm._parallel.domain.domain import Domain
from lbm._parallel.parts import Part
from lbm.geometry.wall_links import INTO, SOLID_CLASS


class ClosedLinks(Companion):
    """The cells at closed links in the parts of this rank.

    Attributes
    ----------
    sums : for each part with such cells, its arguments of a step, and what runs after the steps
    """

    def __init__(self, domain: Domain):
        super().__init__(domain)
        closed = ((part, find_closed_cells(part)) for part in domain.parts)
        self.sums = [_prepare_sums(part, cells) for part, cells in closed if len(cells)]

    def after_step(self, t: int) -> None:
        """Replace the moments of the cells by those of all that arrives in them."""
        with self.domain.between_streams():
            for step, runs in self.sums:
                step.set_force(t)
                runs[t % 2]()


def _prepare_sums(part: Part, cells: np.ndarray) -> tuple[StepArguments, list[Any]]:
    """Return the arguments of a step, and the loop over cells [cell, (z, y, x)] of each parity."""
    problem, store = part.engine.problem, Store(part.engine)
    size, form = problem.lattice.size, problem.precision.name
    q = np.repeat(np.arange(size), len(cells))
    arrivals = find_arrivals(problem, np.tile(cells, (size, 1)), q)
    tables = [store.put(table.reshape(size, -1)) for table in arrivals]
    item = make_sum_of_arrivals(problem.lattice, form, type(problem.collision), problem.forced)
    step, numbers = StepArguments(store), store.put(number_cells(problem, cells))
    return step, [
        store.prepare(
            item, len(cells), *step.before(t), *step.rest, *tables, numbers,
            store.flat_moments(t)[1],
        )
        for t in (0, 1)
    ]  # fmt: skip


def find_closed_cells(part: Part) -> np.ndarray:
    """Return the cells of a part, [cell, (z, y, x)] in its block, at links that solids close."""
    problem = part.engine.problem
    links, (_, _, hz), (_, _, nz) = problem.links, part.halo, part.extent.shape
    around = links.classes != SOLID_CLASS
    if around.all():
        return np.zeros((0, 3), np.int64)
    for axis, periodic in enumerate(reversed(problem.periodic)):
        widths = [(int(a == axis),) * 2 for a in range(3)]
        around = np.pad(around, widths, mode="wrap" if periodic else "constant")
    cells = np.argwhere(links.classes > SOLID_CLASS)
    cells = cells[(cells[:, 0] >= hz) & (cells[:, 0] < hz + nz)]
    into = links.bits(INTO)[links.classes[tuple(cells.T)]]
    ends = [tuple((cells + 1 + np.array(c[::-1])).T) for c in problem.lattice.velocities]
    return cells[np.any([into[:, q] & around[end] for q, end in enumerate(ends)], axis=0)]
