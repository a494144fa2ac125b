"""Loops over the eddies of an inlet, on the CPU: where they are, and the velocity that they cause.

Sums over eddies have the same order for any number of threads and parts.
"""

import math

import numpy as np
from numba import prange

from hetero import philox
from hetero.jit import parallel, scalar_internal
from hetero.philox.formulas import unit_float64, words10

STREAM = np.uint32(philox.STREAMS["lbm.SyntheticEddies"])
STREAM_OF_PHASES = np.uint32(philox.STREAMS["lbm.SyntheticEddies, phases"])

_WORD = 2.0**-32
_FACES = 6


@scalar_internal
def tent(r):
    """Shape of an eddy along an axis: from 1 in its middle to 0 at a distance |r| of 1."""
    return max(0.0, 1.0 - abs(r))


@scalar_internal
def unit(word):
    """Return a word as a float64 in (0, 1): an odd multiple of 2^-33."""
    return (np.float64(word) + 0.5) * _WORD


@scalar_internal
def sign_of(word, bit):
    """Return 1.0 or -1.0 by a bit of a word."""
    return 1.0 - 2.0 * np.float64((np.uint64(word) >> np.uint64(bit)) & np.uint64(1))


@scalar_internal
def tile_number(k, tiles, wraps):
    """Number of tile k - 1 along an axis: beyond the end of a periodic plane is its other end."""
    if wraps:
        return (k - 1 + tiles) % tiles
    return k


@parallel
def place_eddies(grid, passages, eddies):
    """Compute the eddies at a time: `passages` is the number of times that each has passed by then.

    eddies : float64 [eddy, 5], coordinates in the plane in cells, and heights of the eddy in each
        of three independent fields with variance 1
    """
    # Parallel loops take numbers from outside, but no tuples that hold tuples.
    face, (rows, columns), count, height = grid.face, grid.tiles, grid.per_tile, grid.amplitude
    row_wraps, column_wraps = grid.wraps
    row_width, column_width = grid.width
    k0, k1 = grid.key
    for e in prange(eddies.shape[0]):
        tile, k = e // count, e % count
        row, column = tile // (columns + 2), tile % (columns + 2)
        number = tile_number(row, rows, row_wraps) * (columns + 2)
        number += tile_number(column, columns, column_wraps)
        path = np.uint32((number * count + k) * _FACES + face)
        low, high, _, _ = words10(np.uint64(0), path, STREAM_OF_PHASES, k0, k1)
        age = passages + unit_float64(low, high)
        passage = math.floor(age)
        u, v, signs, _ = words10(np.uint64(np.int64(passage)), path, STREAM, k0, k1)
        eddies[e, 0] = (row - 1 + unit(u)) * row_width
        eddies[e, 1] = (column - 1 + unit(v)) * column_width
        # Each passage has a place of its own: the eddy has no height at its beginning and end.
        strength = height * tent(2.0 * (age - passage) - 1.0)
        for c in range(3):
            eddies[e, 2 + c] = strength * sign_of(signs, c)


@parallel
def sum_eddies(grid, eddies, root, weights, out, inflow):
    """Compute the fluctuations at the points of the half-cell grid, and the mass they bring in.

    root : float64 [3, 3, row or 1, column or 1], square roots of the Reynolds stresses
    weights : float64 [3, row, column], mass that a velocity of 1 at a point brings in
    out : float64 [3, row, column], velocities
    inflow : float64 [row], mass of a row of points
    """
    rows, columns = out.shape[1], out.shape[2]
    tiles, in_row, width = grid.tiles[0], (grid.tiles[1] + 2) * grid.per_tile, grid.width[0]
    row_reach, column_reach = grid.reach
    row_step, column_step = int(root.shape[2] > 1), int(root.shape[3] > 1)
    for r in prange(rows):
        row = np.int64(r)
        y = 0.5 * row
        for column in range(columns):
            for c in range(3):
                out[c, row, column] = 0.0
        tile = min(int(y / width), tiles - 1)
        for e in range(tile * in_row, (tile + 3) * in_row):
            share = tent((y - eddies[e, 0]) / row_reach)
            if share > 0.0:
                z = eddies[e, 1]
                first = max(0, math.ceil(2.0 * (z - column_reach)))
                last = min(columns - 1, math.floor(2.0 * (z + column_reach)))
                for column in range(first, last + 1):
                    height = share * tent((0.5 * column - z) / column_reach)
                    for c in range(3):
                        out[c, row, column] += height * eddies[e, 2 + c]
        total = 0.0
        for column in range(columns):
            a, b, c = out[0, row, column], out[1, row, column], out[2, row, column]
            i, j = row * row_step, column * column_step
            for k in range(3):
                u = root[k, 0, i, j] * a + root[k, 1, i, j] * b + root[k, 2, i, j] * c
                out[k, row, column] = u
                total += weights[k, row, column] * u
        inflow[row] = total
