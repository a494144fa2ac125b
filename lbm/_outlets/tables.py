"""Tables of the cells before an outlet that does not reflect: addresses, links and weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lbm._domain.parts import Part
from lbm._model.extent import Triple
from lbm._model.problem import Problem, population_indices
from lbm._model.wall_links import FROM, INTO, SOLID_CLASS
from lbm.boundaries import Condition, PressureOutlet


class OutletTable(NamedTuple):
    """The cells of a block before an outlet.

    Attributes
    ----------
    cells : int64 [cell, (z, y, x)], in the block
    loads : int64 [parity of the step, q, cell], where a step loads the populations in the flat
        array of the block
    links : uint32 [cell], bit q is set if link q leaves through the outlet
    share : float64 [cell], sum of 2 w_q of these links
    outwards : float64 [q], component of c_q out of the domain
    """

    cells: np.ndarray
    loads: np.ndarray
    links: np.ndarray
    share: np.ndarray
    outwards: np.ndarray


def make_table(
    part: Part, face: int, shape: Triple, faces: Sequence[Condition]
) -> OutletTable | None:
    """Return the cells of a part before a face; None if it has none.

    Links through an edge belong to the outlet of the first axis, as in the step itself.
    """
    axis, at_end = divmod(face, 2)
    last = shape[axis] - 1 if at_end else 0
    if not part.extent.start[axis] <= last < part.extent.stop[axis]:
        return None
    problem = part.engine.problem
    lattice, c = problem.lattice, np.array(problem.lattice.velocities)
    low = np.array(part.extent.start)
    size = [1 if a == axis else n for a, n in enumerate(part.extent.shape)]
    cells = np.stack([g.ravel() for g in np.indices(size[::-1])], axis=1)
    cells[:, 2 - axis] += last - low[axis]
    position = cells[:, ::-1] + low
    cells = part.block_cells(cells)
    fluid = problem.links.classes[tuple(cells.T)] != SOLID_CLASS
    cells, position = cells[fluid], position[fluid]
    if not len(cells):
        return None
    classes = problem.links.classes[tuple(cells.T)]
    into = _bits(problem.links.masks[classes, INTO], lattice.size)
    outlet = problem.links.wall_types[problem.links.wall_rows[classes, :, 0], 0] != 0.0
    sign = 1 if at_end else -1
    leaves = into & outlet & (sign * c[:, axis] > 0)
    for earlier in range(axis):
        end = position[:, earlier, None] + c[None, :, earlier]
        for side, beyond in enumerate((end < 0, end >= shape[earlier])):
            if isinstance(faces[2 * earlier + side], PressureOutlet):
                leaves &= ~beyond
    bits = np.arange(lattice.size, dtype=np.uint32)
    links = (leaves.astype(np.uint32) << bits).sum(axis=1, dtype=np.uint32)
    share = (2.0 * leaves * np.array(lattice.weights)).sum(axis=1)
    loads = np.stack([_loads(problem, cells, odd) for odd in (0, 1)])
    return OutletTable(cells, loads, links, share, sign * c[:, axis].astype(np.float64))


def _bits(masks: np.ndarray, size: int) -> np.ndarray:
    """Return bool [cell, q] from masks [cell]."""
    return (masks[:, None] >> np.arange(size, dtype=np.uint32) & np.uint32(1)).astype(bool)


def _loads(problem: Problem, cells: np.ndarray, odd: int) -> np.ndarray:
    """Return where steps of a parity load the populations of cells, int64 [q, cell]."""
    access, size = problem.pattern.steps[odd], problem.lattice.size
    comes_from_wall = _bits(problem.links.masks[problem.links.classes[tuple(cells.T)], FROM], size)
    loads = np.empty((size, len(cells)), np.int64)
    for q in range(size):
        population = np.full(len(cells), q)
        streamed = population_indices(problem, cells, population, access.load)
        returned = population_indices(problem, cells, population, access.wall)
        loads[q] = np.where(comes_from_wall[:, q], returned, streamed)
    return loads
