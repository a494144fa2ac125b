"""Winding numbers of open surfaces: a tree of triangles, and the cells inside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lbm.geometry.triangles.inside import cross_lines
from lbm.geometry.triangles.winding_loops import BLOCK, COARSE, decide_cells

LEAF = 2
"""Triangles in a leaf of the tree, at most; no leaf is empty then. Larger ones overlap so
many cells that holes all over a body take several times as long (66 s with 8 instead of 19)."""

SHIFT = 3e-7, 2e-7, 1e-7
"""Cells by which centres are moved, so that none lies on a cap: on the surface, solid angles are
not defined. Upwards, so that centres on a surface belong to the body on its lower sides."""


class Tree(NamedTuple):
    """A binary tree of triangles; node k has the children 2 k + 1 and 2 k + 2.

    Attributes
    ----------
    triangles : float64 [triangle, corner, xyz], sorted, so that those of a node are in a row
    first : int64 [leaf + 1], where the triangles of leaves begin
    centre, radius : float64 [node, xyz] and [node], spheres around the triangles
    area : float64 [node], the sum of their areas
    dipole : float64 [node, xyz], the sum of their vectors of area
    quadrupole : float64 [node, 6], its symmetric first moments xx, yy, zz, xy, yz, zx
    """

    triangles: np.ndarray
    first: np.ndarray
    centre: np.ndarray
    radius: np.ndarray
    area: np.ndarray
    dipole: np.ndarray
    quadrupole: np.ndarray


def build_tree(triangles: np.ndarray) -> Tree:
    """Return the tree of Barill et al. (2018), in the order of a space-filling curve."""
    triangles = triangles[np.argsort(_morton_codes(triangles.mean(axis=1)), kind="stable")]
    count, depth = len(triangles), 0
    while count > LEAF << depth:
        depth += 1
    vectors = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]) / 2.0
    areas, middles = np.linalg.norm(vectors, axis=1), triangles.mean(axis=1)
    levels = []
    for level in range(depth + 1):
        first = np.arange((1 << level) + 1) * count >> level
        starts, sizes = first[:-1], np.diff(first)
        area = np.add.reduceat(areas, starts)
        weights = areas + 1e-300  # degenerate triangles have no area
        centre = (np.add.reduceat(weights[:, None] * middles, starts)
                  / np.add.reduceat(weights, starts)[:, None])  # fmt: skip
        offset = middles - centre.repeat(sizes, axis=0)
        to_corner = np.linalg.norm(triangles - centre.repeat(sizes, axis=0)[:, None], axis=2)
        radius = np.maximum.reduceat(to_corner.max(axis=1), starts)
        i, j = np.array([0, 1, 2, 0, 1, 2]), np.array([0, 1, 2, 1, 2, 0])
        moments = (offset[:, i] * vectors[:, j] + offset[:, j] * vectors[:, i]) / 2.0
        levels.append((centre, radius, area, np.add.reduceat(vectors, starts),
                       np.add.reduceat(moments, starts)))  # fmt: skip
    centre, radius, area, dipole, quadrupole = (
        np.concatenate(rows) for rows in zip(*levels, strict=True)
    )
    return Tree(np.ascontiguousarray(triangles), first, centre, radius, area, dipole, quadrupole)


def _morton_codes(points: np.ndarray) -> np.ndarray:
    """Return the positions of points along a Z curve through a grid of 2^20 cells a side."""
    low = points.min(axis=0)
    side = max(float(np.ptp(points, axis=0).max()), 1e-300)
    cells = ((points - low) * ((1 << 20) - 1) / side).astype(np.uint64)
    for step, mask in (
        (32, 0x001F00000000FFFF), (16, 0x001F0000FF0000FF), (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3), (2, 0x1249249249249249),
    ):  # fmt: skip
        cells = (cells | cells << np.uint64(step)) & np.uint64(mask)
    return cells[:, 0] | cells[:, 1] << np.uint64(1) | cells[:, 2] << np.uint64(2)


def mark_wound_cells(
    triangles: np.ndarray, caps: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray
) -> np.ndarray:
    """Return the cells around which an open surface winds by more than one half.

    Parameters
    ----------
    triangles : float64 [triangle, corner, (x, y, z)], the surface with its caps
    caps : those among them that are not part of the surface
    x, y, z : increasing float64, coordinates of centres

    Returns
    -------
    bool [x, y, z] ; its memory is ordered as [z, y, x]
    """
    axes = [centres + shift for centres, shift in zip((x, y, z), SHIFT, strict=True)]
    inside, parts = cross_lines(triangles, *axes)
    windings = inside[parts[::-1]]
    if windings.size:
        np.cumsum(windings, axis=2, dtype=np.int8, out=windings)
        coordinates = [centres[part] for centres, part in zip(axes, parts, strict=True)]
        groups = [_group(centres, BLOCK, BLOCK) for centres in coordinates]
        blocks = [
            _group(centres[first[:-1]], COARSE, COARSE)
            for centres, first in zip(coordinates, groups, strict=True)
        ]
        decide_cells(*build_tree(caps), *coordinates, *groups, *blocks, windings)
    return inside.view(bool).T


def _group(centres: np.ndarray, side: int, most: int) -> np.ndarray:
    """Return where groups of centres begin that lie in the same cube of a side, and their number.

    Cubes are those of the whole domain, so that each rank finds the same numbers in its part.
    """
    cube, count = np.floor(centres / side), np.arange(centres.size)
    first = np.flatnonzero(np.diff(cube, prepend=cube[0] - 1.0))
    within = count - first[np.searchsorted(first, count, side="right") - 1]
    return np.append(np.flatnonzero(within % most == 0), centres.size)
