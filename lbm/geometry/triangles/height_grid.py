"""A grid of heights above the surface of a mesh, for bodies that move through cells.

A body that moves looks its surface up in a grid that moves with it, so that triangles cost nothing
in a step. Between grid points heights are interpolated: exact beside flat sides, but for a cell
beside their edges, which are rounded by up to 0.22 cells; a sphere of radius R shrinks by 1/(24 R)
cells on average and by 1/(16 R) at most.
"""

from __future__ import annotations

import numpy as np

from lbm.geometry.meshes import TriangleMesh
from lbm.geometry.triangles.height_loops import lower_distances

POINTS_PER_CELL = 2
"""Points of the grid in a cell along each axis."""

BAND = 2.5
"""Largest height in cells that the grid holds: more than a link, sqrt(3), and what interpolation
may add at both of its ends, so that heights tell which cells no link reaches."""


def find_heights(mesh: TriangleMesh) -> tuple[np.ndarray, np.ndarray]:
    """Return the first corner of a grid around a mesh and heights [z, y, x], below 0 inside.

    The corner is in cells, as the mesh. Heights beyond BAND are cut off.
    """
    low, high = mesh.bounds
    # Points lie beside the planes of rounded coordinates: parity is not certain on a surface.
    corner = np.floor(low) - BAND - 0.4927
    count = np.ceil((high + BAND - corner) * POINTS_PER_CELL).astype(int) + 2
    x, y, z = (c + np.arange(n) / POINTS_PER_CELL for c, n in zip(corner, count, strict=True))
    inside = mesh(x[:, None, None], y[None, :, None], z[None, None, :]).T
    squares = np.full(inside.shape, BAND**2)
    lower_distances(np.ascontiguousarray(mesh.triangles), corner, POINTS_PER_CELL, BAND, squares)
    heights: np.ndarray = np.sqrt(squares)
    heights[inside] *= -1.0
    return corner, heights
