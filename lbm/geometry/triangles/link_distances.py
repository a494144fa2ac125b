"""Distances along links to the triangles of a mesh."""

from __future__ import annotations

import numpy as np

from lbm.geometry.triangles.link_loops import SLACK, meet_triangles

_BLOCKS = 64
"""Blocks of layers that are shared out to the threads: each looks at every triangle once. Not
tuned."""


def find_distances(triangles: np.ndarray, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return where links first meet a surface, as a share of each link from 0 to 1, or NaN.

    Parameters
    ----------
    triangles : float64 [triangle, corner, (x, y, z)]
    points, directions : float64 [link, (x, y, z)]: links run from `points` to
        `points + directions`, at most a cell along each axis
    """
    nearest = np.full(len(points), np.inf)
    if len(points):
        cells = np.floor(points).astype(np.int64)
        low = cells.min(axis=0)
        shape = cells.max(axis=0) - low + 1
        x, y, z = (cells - low).T
        number = (z * shape[1] + y) * shape[0] + x
        order = np.argsort(number, kind="stable")
        first = np.zeros(int(np.prod(shape)) + 1, np.int64)
        first[1:] = np.cumsum(np.bincount(number, minlength=len(first) - 1))
        meet_triangles(triangles, points, directions, low, shape, order, first, nearest, _BLOCKS)
    return np.where(nearest <= 1.0 + SLACK, np.clip(nearest, 0.0, 1.0), np.nan)
