"""Cells of bodies whose surface is a mesh, open or closed, with or without a least thickness."""

from __future__ import annotations

import numpy as np

from lbm.geometry.triangles.inside import find_thin_cells, mark_cells
from lbm.geometry.triangles.surface import Surface
from lbm.geometry.triangles.winding import mark_wound_cells


def mark_inside(mesh: Surface, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the cells inside for increasing coordinates along each axis."""
    if len(mesh.caps):
        return mark_wound_cells(mesh.closed_triangles, mesh.vertices[mesh.caps], x, y, z)
    if len(mesh.faces) == mesh.sheets:
        return np.zeros((x.size, y.size, z.size), bool)
    return mark_cells(mesh.closed_triangles, not mesh.is_oriented, x, y, z)


def mark_thick(mesh: Surface, *axes: np.ndarray) -> np.ndarray:
    """Return the cells inside, and those of parts that are thinner than a cell."""
    if any((centres - np.floor(centres) != 0.5).any() for centres in axes):
        raise ValueError(
            "a mesh with minimum_thickness knows cells only: x, y and z must be centres, such "
            "as 0.5, 1.5, ..."
        )
    cells = np.zeros([centres.size for centres in axes], bool)
    # Cells around those that are wanted decide which of them are thin.
    low = np.maximum(np.floor(mesh.bounds[0]).astype(int), [int(c[0]) for c in axes]) - 1
    high = np.minimum(np.floor(mesh.bounds[1]).astype(int), [int(c[-1]) for c in axes]) + 2
    if (low >= high).any():
        return cells
    inside = mark_inside(mesh, *(np.arange(a, b) + 0.5 for a, b in zip(low, high, strict=True)))
    inside |= find_thin_cells(mesh.triangles, inside, low)
    numbers = [np.floor(centres).astype(int) - a for centres, a in zip(axes, low, strict=True)]
    inside_grid = [(k >= 0) & (k < n) for k, n in zip(numbers, inside.shape, strict=True)]
    cells[np.ix_(*inside_grid)] = inside[
        np.ix_(*(k[is_held] for k, is_held in zip(numbers, inside_grid, strict=True)))
    ]
    return cells
