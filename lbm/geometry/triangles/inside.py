"""Cells inside a closed surface, and measures of how well cells resolve it."""

from __future__ import annotations

import math

import numpy as np

from lbm.geometry.triangles.crossing_loops import (
    add_crossings,
    find_outermost,
    mark_gaps,
    sum_changes,
)

_BLOCKS = 64
"""Blocks of layers that are shared out to the threads: each looks at every triangle once. Not
tuned."""

_SLAB = 1 << 26
"""Cells that are examined at a time, at one byte each: this bounds the memory."""

_SAMPLED_LINES = 512
"""Lines along each side on which lost passages are counted, at most: this bounds the time."""

_SHADOW_LINES = 1024
"""Lines across the longer side of a silhouette: its area is then good to about 0.1 %."""


def mark_cells(
    triangles: np.ndarray, by_parity: bool, x: np.ndarray, y: np.ndarray, z: np.ndarray
) -> np.ndarray:
    """Return the cells inside a closed surface.

    Parameters
    ----------
    triangles : float64 [triangle, corner, (x, y, z)]
    by_parity : True if triangles are not oriented consistently: cells inside are then those from
        which a line leaves the surface an odd number of times, not those with a winding number
    x, y, z : increasing float64, coordinates of centres

    Returns
    -------
    bool [x, y, z] ; its memory is ordered as [z, y, x]
    """
    inside, parts = cross_lines(triangles, x, y, z)
    changes = inside[parts[::-1]]
    if changes.size:
        sum_changes(changes, by_parity)
    return inside.view(bool).T


def cross_lines(
    triangles: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, tuple[slice, ...]]:
    """Return the changes of the winding number along lines of centres, and where they are.

    Returns
    -------
    changes : int8 [z, y, x]
    parts : slices along x, y and z of the centres within the bounds of the triangles
    """
    changes = np.zeros((z.size, y.size, x.size), np.int8)
    parts = []
    for axis, centres in enumerate((x, y, z)):
        along = triangles[..., axis]
        parts.append(slice(*np.searchsorted(centres, (along.min(), along.max()))))
    i, j, k = parts
    if changes[k, j, i].size:
        counts = np.zeros(_BLOCKS, np.int64)
        add_crossings(triangles, y[j], z[k], _BLOCKS, (x[i], changes[k, j, i], counts))
    return changes, (i, j, k)


def find_thin_cells(triangles: np.ndarray, inside: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Return cells outside that hold what is thinner than cells, bool [x, y, z].

    Where a triangle crosses the line between the centres of two neighbours outside, the nearer one
    is such a cell: the first one, if triangles are near both.

    Parameters
    ----------
    triangles : float64 [triangle, corner, (x, y, z)]
    inside : bool [x, y, z]
    low : int [(x, y, z)], the first cell of `inside`
    """
    thin = np.zeros(inside.shape, bool)
    for axis in range(3):
        order = np.roll(range(3), -axis)
        x, y, z = (low[a] + 0.5 + np.arange(inside.shape[a]) for a in order)
        halves = np.zeros((z.size, y.size, x.size), np.uint8)
        turned = np.ascontiguousarray(triangles[..., order])
        mark_gaps(turned, y, z, _BLOCKS, (x, halves))
        solid, marks = (cells.transpose(order).T for cells in (inside, thin))
        is_empty = ~(solid[..., :-1] | solid[..., 1:])
        is_first = is_empty & (halves[..., :-1] & 1 != 0)
        marks[..., :-1] |= is_first
        marks[..., 1:] |= is_empty & ~is_first & (halves[..., :-1] != 0)
    return thin


def find_outermost_triangles(triangles: np.ndarray, spacing: float) -> np.ndarray:
    """Return the first and the last triangle on lines along x, int64 [first or last, line].

    Lines are spread evenly over the body; those that meet nothing are left out.
    """
    turned = np.ascontiguousarray(triangles)
    low, high = turned.min(axis=(0, 1)), turned.max(axis=(0, 1))
    y, z = (a + spacing * (np.arange(math.ceil((b - a) / spacing)) + 0.5)
            for a, b in zip(low[1:], high[1:], strict=True))  # fmt: skip
    outermost = np.full((2, z.size, y.size), -1)
    find_outermost(turned, y, z, _BLOCKS, (outermost, np.full(outermost.shape, np.inf)))
    return outermost[:, outermost[0] >= 0]


def find_lost_share(triangles: np.ndarray, by_parity: bool) -> tuple[float, int]:
    """Return the share of passages through the body, or through its gaps, that contain no cell.

    Lines of cell centres (at 0.5, 1.5, ...) along each axis pass through the body; a passage from
    one crossing to the next that contains no centre is lost. The axis with the largest share is
    returned with it. The share is 1 if no line along any axis meets the body.
    """
    shares, crossings = [0.0, 0.0, 0.0], 0
    for axis in range(3):
        count, changed = _count_crossings(np.roll(triangles, -axis, axis=2), by_parity)
        crossings += count
        if count:
            shares[axis] = 1.0 - changed / count
    axis = int(np.argmax(shares))
    return (shares[axis], axis) if crossings else (1.0, 0)


def _count_crossings(triangles: np.ndarray, by_parity: bool) -> tuple[int, int]:
    """Return the number of crossings along the first coordinate, and of those that cells notice."""
    triangles = np.ascontiguousarray(triangles)
    x, y, z = (_centres_between(triangles[..., a].min(), triangles[..., a].max()) for a in range(3))
    y, z = (centres[:: -(-centres.size // _SAMPLED_LINES)] for centres in (y, z))
    counts, changed = np.zeros(_BLOCKS, np.int64), 0
    layers = max(1, _SLAB // max(1, x.size * y.size))
    for first in range(0, z.size, layers):
        slab = z[first : first + layers]
        changes = np.zeros((slab.size, y.size, x.size), np.int8)
        add_crossings(triangles, y, slab, _BLOCKS, (x, changes, counts))
        changed += int(
            np.count_nonzero(changes & 1) if by_parity else np.abs(changes).sum(dtype=int)
        )
    return int(counts.sum()), changed


def _centres_between(low: float, high: float) -> np.ndarray:
    """Return the centres of cells from `low` to the first one that is not below `high`."""
    return np.arange(math.ceil(low - 0.5), math.ceil(high - 0.5) + 1) + 0.5


def measure_shadow(triangles: np.ndarray) -> float:
    """Return the area of the silhouette of a surface along the first coordinate."""
    spacing = float(np.ptp(triangles[..., 1:], axis=(0, 1)).max()) / _SHADOW_LINES
    return find_outermost_triangles(triangles, spacing).shape[1] * spacing**2
