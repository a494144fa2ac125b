"""Normals of surfaces where links of cells meet them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lbm.lattices import Lattice

NEARBY = 1e-4
"""Cells between points at which the surface of a shape and the velocity of a wall are compared to
find their derivatives: rounding errors of 1e-12 of a distance are 1e-8 of them."""


def number_cells(cells: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each link's cell, and the first link of each cell, in order of z."""
    x, y, z = cells.T
    position = (z * shape[1] + y) * shape[0] + x
    _, first, number = np.unique(position, return_index=True, return_inverse=True)
    return number.ravel(), first


def complete_frame(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two unit vectors that are orthogonal to each unit vector and to each other."""
    other = np.eye(3)[np.abs(normal).argmin(axis=1)]
    first = np.cross(normal, other)
    first /= np.linalg.norm(first, axis=1)[:, None]
    return first, np.cross(normal, first)


def normals_of_cells(
    lattice: Lattice, cells: np.ndarray, q: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """Return normals [link] of a staircase: the mean direction of all links of a cell into it."""
    number, first = number_cells(cells, shape)
    weights, velocities = np.array(lattice.weights)[q], np.array(lattice.velocities, float)[q]
    sums = [np.bincount(number, weights * c, len(first)) for c in velocities.T]
    return _normalized(-np.stack(sums, axis=1))[number]


def normals_of_shape(
    lattice: Lattice,
    domain: tuple[int, ...],
    shape_of_solid: Any,
    cells: np.ndarray,
    q: np.ndarray,
    distance: np.ndarray,
) -> np.ndarray:
    """Return the normals [link] of a shape where links from cells of the domain meet it.

    Two links beside each one, parallel to it, meet the surface a little earlier or later. Where
    they miss it, at an edge, the normal is that of the cells.
    """
    c = np.array(lattice.velocities, float)[q]
    foot = (cells + c.astype(np.int64)) % np.array(domain) + 0.5 - c
    tangents = []
    for side in complete_frame(c / np.linalg.norm(c, axis=1)[:, None]):
        ahead, back = (
            np.asarray(shape_of_solid.distances(foot + sign * NEARBY * side, c))
            for sign in (1.0, -1.0)
        )
        slope = (ahead - back) / (2.0 * NEARBY)
        slope = np.where(np.isnan(ahead), (distance - back) / NEARBY, slope)
        slope = np.where(np.isnan(back), (ahead - distance) / NEARBY, slope)
        tangents.append(side + slope[:, None] * c)
    normal = _normalized(np.cross(*tangents))
    normal *= -np.sign((normal * c).sum(axis=1))[:, None]
    of_cells = normals_of_cells(lattice, cells, q, domain)
    return np.where(np.isfinite(normal).all(axis=1)[:, None], normal, of_cells)


def _normalized(vectors: np.ndarray) -> np.ndarray:
    """Return unit vectors; NaN or vectors of length 0 become NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        result: np.ndarray = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    return result
