"""Loops over the triangles that links from cells may meet."""

import numpy as np
from numba import prange

from hetero.jit import parallel, scalar_internal

SLACK = 1e-9
"""Share of a triangle's edge by which a link may miss it, so that none passes between two of
them."""


@scalar_internal
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@scalar_internal
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@scalar_internal
def _row(values, i):
    return values[i, 0], values[i, 1], values[i, 2]


@scalar_internal
def _minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@scalar_internal
def meet_triangle(triangle, point, direction):
    """Return where a link meets a triangle, as a share of the link, or infinity.

    (Moeller and Trumbore 1997.) Crossings just before the begin of a link count as 0.
    """
    corner = _row(triangle, 0)
    first, second = _minus(_row(triangle, 1), corner), _minus(_row(triangle, 2), corner)
    across = _cross(direction, second)
    volume = _dot(first, across)
    if volume == 0.0:
        return np.inf
    offset = _minus(point, corner)
    u = _dot(offset, across) / volume
    turned = _cross(offset, first)
    v = _dot(direction, turned) / volume
    if not (u >= -SLACK and v >= -SLACK and u + v <= 1.0 + SLACK):
        return np.inf
    t = _dot(second, turned) / volume
    return max(t, 0.0) if t >= -SLACK else np.inf


@parallel
def meet_triangles(triangles, points, directions, low, shape, order, first, nearest, blocks):
    """Lower `nearest` [link] to where links meet triangles.

    Links are sorted by the cells of their points: those of cell number c, counted along x, y and z
    from the cell `low` in a box of this shape, are order[first[c]] to order[first[c + 1] - 1]. A
    triangle is compared with those of the cells around its bounding box.
    """
    for block in prange(blocks):
        begin = np.int64(block) * shape[2] // blocks
        end = (np.int64(block) + 1) * shape[2] // blocks
        least, most = np.empty(3, np.int64), np.empty(3, np.int64)
        for t in range(triangles.shape[0]):
            for a in range(3):
                c0, c1, c2 = triangles[t, 0, a], triangles[t, 1, a], triangles[t, 2, a]
                least[a] = np.int64(np.floor(min(c0, c1, c2))) - 1 - low[a]
                least[a] = min(max(least[a], 0), shape[a])
                most[a] = min(np.int64(np.floor(max(c0, c1, c2))) + 2 - low[a], shape[a])
            for k in range(max(least[2], begin), min(most[2], end)):
                for j in range(least[1], most[1]):
                    row = (k * shape[1] + j) * shape[0]
                    for m in range(first[row + least[0]], first[max(row + most[0], row)]):
                        i = order[m]
                        t_link = meet_triangle(triangles[t], _row(points, i), _row(directions, i))
                        nearest[i] = min(nearest[i], t_link)
