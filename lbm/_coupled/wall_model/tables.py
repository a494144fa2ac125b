"""Tables of the cells of a block beside modelled walls: their links and their geometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lbm._coupled.wall_model.formulas import AREA, DISTANCE, FRAME, INVERSE, ROWS
from lbm._kernels.problem import load_indices, row_position
from lbm._parallel.parts import Part
from lbm.boundaries import Solid
from lbm.geometry.sharp_edges import find_free_directions
from lbm.geometry.surface_normals import complete_frame, normals_of_shape
from lbm.lattices.extent import Triple

NEAREST = 0.5
"""Smallest distance in cells for which the law of the wall is taken: the velocity of a cell is the
mean over it, also where the wall passes near its centre."""

SINGULAR = 1e-3
"""Eigenvalue of 6 sum w c c along the wall, over the other one, in whose direction a cell does not
slip."""


class SlipTable(NamedTuple):
    """The cells of a block beside modelled walls; see `formulas.make_slip`.

    Attributes
    ----------
    loads : int64 [parity of the step, q, cell]
    links : int64 [link], numbers of their links in the table of interpolated walls
    first : int64 [cell + 1], first of these links of each cell
    q : int64 [link]
    cells : float64 [ROWS, cell]
    position : int64 [2, cell], positions of the cells in arrays of the block, and of what is stored
        like populations
    """

    loads: np.ndarray
    links: np.ndarray
    first: np.ndarray
    q: np.ndarray
    cells: np.ndarray
    position: np.ndarray


def make_slip_table(part: Part, solids: Mapping[str, Solid], shape: Triple) -> SlipTable | None:
    """Return the cells of a part beside the modelled walls of `solids`; None without any."""
    problem = part.engine.problem
    cut, lattice = problem.links.cut, problem.lattice
    assert cut is not None
    modelled = [k for k, name in enumerate(cut.names) if solids[name].is_modelled]
    modelled_links = np.flatnonzero(np.isin(cut.body, modelled))
    if not len(modelled_links):
        return None
    cells, q, distance = (
        cut.cells[modelled_links],
        cut.q[modelled_links],
        cut.distance[modelled_links],
    )
    position = cells[:, ::-1] + np.array(part.extent.start) - np.array(part.halo)
    normal = np.empty((len(modelled_links), 3))
    for k in modelled:
        of_body = np.flatnonzero(cut.body[modelled_links] == k)
        if len(of_body):
            normal[of_body] = normals_of_shape(
                lattice, shape, solids[cut.names[k]].cells, position[of_body], q[of_body],
                distance[of_body],
            )  # fmt: skip
    starts = np.flatnonzero(np.any(np.diff(cells, axis=0, prepend=-1) != 0, axis=1))
    first = np.append(starts, len(modelled_links))
    shapes = [solid.cells for solid in solids.values() if solid.is_interpolated]
    geometry = _describe_cells(
        np.array(lattice.velocities, float)[q], np.array(lattice.weights)[q], distance, normal,
        starts, position[starts] + 0.5, shapes,
    )  # fmt: skip
    loads = load_indices(problem, cells[starts])[::-1]  # the next step loads by the other table
    (z, y, x), (nx, ny, _) = cells[starts].T, problem.shape
    stored = row_position(x, nx, problem.precision.lanes)
    index = (z * ny + y) * nx + np.stack([x, stored])
    return SlipTable(loads, modelled_links, first, q, geometry, index)


def _describe_cells(
    c: np.ndarray, w: np.ndarray, distance: np.ndarray, normal: np.ndarray, starts: np.ndarray,
    centres: np.ndarray, shapes: Sequence[Any],
) -> np.ndarray:  # fmt: skip
    """Return the geometry of cells [ROWS, cell] from their links, centres, and all shapes."""
    weight = np.add.reduceat(w, starts)
    mean = np.add.reduceat(w[:, None] * normal, starts)
    size = np.linalg.norm(mean, axis=1)
    # Where the links of a cell meet opposite sides of a thin body, the first one has the normal.
    mean = np.where((size > 0.1 * weight)[:, None], mean, normal[starts])
    mean /= np.linalg.norm(mean, axis=1)[:, None]
    frame = complete_frame(mean)
    height = np.add.reduceat(w * distance * -(c * normal).sum(axis=1), starts) / weight
    into = np.add.reduceat(w[:, None] * c, starts)
    rows = np.empty((ROWS, len(mean)))
    rows[FRAME : FRAME + 3], rows[FRAME + 3 : FRAME + 6] = frame[0].T, frame[1].T
    rows[DISTANCE] = np.maximum(height, NEAREST)
    rows[AREA] = np.abs(6.0 * (into * mean).sum(axis=1))
    counts = np.diff(np.append(starts, len(c)))
    a, b = ((c * np.repeat(f, counts, axis=0)).sum(axis=1) for f in frame)
    xx, xy, yy = (np.add.reduceat(6.0 * w * p, starts) for p in (a * a, a * b, b * b))
    # Beside a sharp edge cells slip along it alone: a stream without the vorticity of a boundary
    # layer turns around the edge.
    free = find_free_directions(shapes, centres - height[:, None] * mean, frame)
    # Links of one direction, in the hollows of a staircase, slip in this direction alone.
    matrix = free @ np.stack([xx, xy, xy, yy], axis=1).reshape(-1, 2, 2) @ free
    matrix[np.abs(matrix) < SINGULAR**2] = 0.0
    inverse = np.linalg.pinv(matrix, rcond=SINGULAR, hermitian=True).reshape(-1, 4).T
    rows[INVERSE : INVERSE + 3] = inverse[[0, 1, 3]]
    return rows
