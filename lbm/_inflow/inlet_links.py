"""The mass that the velocity of an inlet brings in, point by point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lbm._model.boundary_cells import BoundaryCells, label_solids
from lbm._model.extent import Extent, Triple
from lbm._model.wall_links import mirror_images
from lbm.boundaries import FACES, Condition, Periodic, Solid, WallCondition
from lbm.lattices import Lattice


def plane_axes(face: int) -> tuple[int, int]:
    """Return the two axes in the plane of a face."""
    first, second = (axis for axis in range(3) if axis != face // 2)
    return first, second


def points_across(axis: int, shape: Triple, faces: Sequence[Condition]) -> int:
    """Return the number of points at which links along an axis may meet a wall.

    They are half a cell apart, from one edge of the domain to the other, which is the same point if
    the domain is periodic.
    """
    return 2 * shape[axis] + (not isinstance(faces[2 * axis], Periodic))


def weigh_points(
    lattice: Lattice,
    shape: Triple,
    faces: Sequence[Condition],
    solids: Mapping[str, Solid],
    face: int,
) -> np.ndarray:
    """Return the mass per step that a velocity of 1 at each point of an inlet brings in.

    Walls bring in -6 w_q (c_q . u) on each link. The points are those of `points_across`.

    Parameters
    ----------
    faces : conditions, of which that of `face` is not equal to any other

    Returns
    -------
    float64 [component, point along the first axis, point along the second axis]
    """
    across = face // 2
    start, stop = [0, 0, 0], list(shape)
    start[across], stop[across] = (shape[across] - 1, shape[across]) if face % 2 else (0, 1)
    extent = Extent((start[0], start[1], start[2]), (stop[0], stop[1], stop[2]))
    labels = label_solids(shape, faces, solids, extent)
    cells = BoundaryCells(lattice, shape, faces, list(solids.values()), labels, extent)
    condition = faces[face]
    assert isinstance(condition, WallCondition), FACES[face]
    cell, q = cells.links_of(condition)
    partner = mirror_images(lattice, cells.slip, cells.owner, cells.row)
    bounces = partner[cell, q] == q
    cell, q = cell[bounces], q[bounces]
    c = np.array(lattice.velocities)[q]
    halves = 2 * np.stack([cells.x, cells.y, cells.z], axis=1)[cell] + 1 + c
    first, second = plane_axes(face)
    rows, columns = (points_across(axis, shape, faces) for axis in (first, second))
    weights = np.zeros((3, rows, columns))
    brought = -6.0 * np.array(lattice.weights)[q] * c.T
    for k in range(3):
        np.add.at(weights[k], (halves[:, first] % rows, halves[:, second] % columns), brought[k])
    return weights
