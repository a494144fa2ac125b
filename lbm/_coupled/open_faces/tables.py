"""Tables of the cells before an inlet or an outlet: addresses, links and weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lbm._kernels.problem import Problem, load_indices
from lbm._parallel.parts import Part
from lbm.boundaries import Condition, Enclosure
from lbm.collisions.moments import SECOND
from lbm.geometry.wall_links import INTO, SOLID_CLASS


class FaceTable(NamedTuple):
    """The cells of a block before a face that responds to the flow.

    Attributes
    ----------
    cells : int64 [cell, (z, y, x)], in the block
    loads : int64 [parity of the step, q, cell], where a step loads the populations in the flat
        array of the block
    links : uint32 [cell], bit q is set if link q leaves through the face
    share : float64 [cell], sum of 2 w_q of these links
    directions : float64 [2, q], component of c_q out of the domain, and 2 w_q
    """

    cells: np.ndarray
    loads: np.ndarray
    links: np.ndarray
    share: np.ndarray
    directions: np.ndarray


class ShearedTable(NamedTuple):
    """The cells of a block before a sheared outlet.

    Attributes
    ----------
    cells, loads, links : as in `FaceTable`, with the diagonals through the outlet
    """

    cells: np.ndarray
    loads: np.ndarray
    links: np.ndarray


class _Cells(NamedTuple):
    """Fluid cells of a block before a face, and their links through it.

    Attributes
    ----------
    cells : int64 [cell, (z, y, x)], in the block
    position : int64 [cell, (x, y, z)], in the domain
    leaves : bool [cell, q], links that end at an inlet or an outlet of this face
    """

    cells: np.ndarray
    position: np.ndarray
    leaves: np.ndarray


def make_table(part: Part, face: int, enclosure: Enclosure) -> FaceTable | None:
    """Return the cells of a part before a face; None if it has none.

    Links through an edge of two inlets or of two outlets belong to the face across the first axis,
    as in the step itself.
    """
    shape, faces, _ = enclosure
    condition, face_cells = faces[face], _find_cells(part, face, enclosure)
    if face_cells is None:
        return None
    (axis, at_end), (cells, position, leaves) = divmod(face, 2), face_cells
    problem = part.engine.problem
    lattice, c = problem.lattice, np.array(problem.lattice.velocities)
    for earlier in range(axis):
        end = position[:, earlier, None] + c[None, :, earlier]
        for side, beyond in enumerate((end < 0, end >= shape[earlier])):
            other = faces[2 * earlier + side]
            if other.is_open and other.prescribes == condition.prescribes:
                leaves &= ~beyond
    double = 2.0 * np.array(lattice.weights)
    directions = np.stack([(1 if at_end else -1) * c[:, axis], double])
    share = (leaves * double).sum(axis=1)
    return FaceTable(cells, load_indices(problem, cells), _pack_bits(leaves), share, directions)


def find_returned_moments(problem: Problem, table: FaceTable) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of cells, and the moments [10, cell] of what their face returns if each of
    its populations is 2 w_q."""
    leaves = table.links[:, None] >> np.arange(problem.lattice.size, dtype=np.uint32) & 1
    f, c = leaves * table.directions[1], -np.array(problem.lattice.velocities, float)
    drho = f.sum(axis=1)
    # Products of matrices would round the last cells of a part in another way.
    first = [(f * c[:, a]).sum(axis=1) for a in range(3)]
    second = [(f * c[:, a] * c[:, b]).sum(axis=1) - (a == b) * drho / 3 for a, b in SECOND]
    numbers = np.ravel_multi_index(tuple(table.cells.T), problem.shape[::-1])
    return numbers, np.array([drho, *first, *second])


def make_sheared_table(part: Part, face: int, enclosure: Enclosure) -> ShearedTable | None:
    """Return the diagonals through the outlet of a face from the cells of a part; None if there are
    none. Those that also leave through another face are not among them."""
    shape, faces, _ = enclosure
    face_cells = _find_cells(part, face, enclosure)
    if face_cells is None:
        return None
    axis, (cells, position, leaves) = face // 2, face_cells
    c = np.array(part.engine.problem.lattice.velocities)
    others = [a for a in range(3) if a != axis]
    leaves &= c[:, others].any(axis=1)
    for other in others:
        if not faces[2 * other].is_periodic:
            end = position[:, other, None] + c[None, :, other]
            leaves &= (end >= 0) & (end < shape[other])
    leaving = np.flatnonzero(leaves.any(axis=1))
    if not len(leaving):
        return None
    cells = cells[leaving]
    return ShearedTable(
        cells, load_indices(part.engine.problem, cells), _pack_bits(leaves[leaving])
    )


def _find_cells(part: Part, face: int, enclosure: Enclosure) -> _Cells | None:
    """Return the fluid cells of a part before a face with an inlet or an outlet, or None."""
    axis, at_end = divmod(face, 2)
    last = enclosure.shape[axis] - 1 if at_end else 0
    if not part.extent.start[axis] <= last < part.extent.stop[axis]:
        return None
    problem = part.engine.problem
    c, low = np.array(problem.lattice.velocities), np.array(part.extent.start)
    size = [1 if a == axis else n for a, n in enumerate(part.extent.shape)]
    cells = np.stack([g.ravel() for g in np.indices(size[::-1])], axis=1)
    cells[:, 2 - axis] += last - low[axis]
    position = cells[:, ::-1] + low
    cells = part.block_cells(cells)
    fluid = problem.links.classes[tuple(cells.T)] != SOLID_CLASS
    cells, position = cells[fluid], position[fluid]
    if not len(cells):
        return None
    outwards = c[:, axis] == (1 if at_end else -1)
    return _Cells(cells, position, _links_to(problem, cells, enclosure.faces[face]) & outwards)


def _pack_bits(leaves: np.ndarray) -> np.ndarray:
    """Return links [cell, q] as bits, uint32 [cell]."""
    bits = np.arange(leaves.shape[1], dtype=np.uint32)
    return (leaves.astype(np.uint32) << bits).sum(axis=1, dtype=np.uint32)


def _links_to(problem: Problem, cells: np.ndarray, condition: Condition) -> np.ndarray:
    """Return the links of cells [cell, (z, y, x)] that may end at an inlet or an outlet, [cell, q].

    Of those that leave through the face of an inlet, all do that are not mirrored: where it meets
    other walls, it wins.
    """
    links = problem.links
    classes = links.classes[tuple(cells.T)]
    into = links.bits(INTO)[classes]
    row, partner = links.wall_rows[classes, :, 0], links.wall_rows[classes, :, 1]
    if condition.is_outlet:
        return into & (links.wall_types[row, 0] != 0.0) & ~links.into_streams()[classes]
    return into & (partner == np.arange(problem.lattice.size))
