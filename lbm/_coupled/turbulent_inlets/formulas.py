"""Synthetic eddies, for both targets: their shape, and where they are at a time."""

import math

import numpy as np

from hetero import philox
from hetero.jit import scalar
from hetero.philox.formulas import unit_float64, words10

STREAM = np.uint32(philox.STREAMS["lbm.SyntheticEddies"])
STREAM_OF_PHASES = np.uint32(philox.STREAMS["lbm.SyntheticEddies, phases"])

_WORD = 2.0**-32
_FACES = 6


@scalar
def tent(r):
    """Shape of an eddy along an axis: from 1 in its middle to 0 at a distance |r| of 1."""
    return max(0.0, 1.0 - abs(r))


@scalar
def unit(word):
    """Return a word as a float64 in (0, 1): an odd multiple of 2^-33."""
    return (np.float64(word) + 0.5) * _WORD


@scalar
def sign_of(word, bit):
    """Return 1.0 or -1.0 by a bit of a word."""
    return 1.0 - 2.0 * np.float64((np.uint64(word) >> np.uint64(bit)) & np.uint64(1))


@scalar
def tile_number(k, tiles, wraps):
    """Number of tile k - 1 along an axis: beyond the end of a periodic plane is its other end."""
    return (k - 1 + tiles) % tiles if wraps else k


@scalar
def place_eddy(e, passages, sizes, lengths):
    """Return eddy number e at a time: `passages` says how often each has passed by then.

    `sizes` and `lengths` are those of an `EddyGrid`. Returned are the coordinates in the plane,
    over the reach of eddies along each axis, and the height of the eddy in three independent fields
    with variance 1.
    """
    face, rows, columns, row_wraps, column_wraps, per_tile, k0, k1 = sizes
    row_width, column_width, row_reach, column_reach, amplitude = lengths
    tile, k = e // per_tile, e % per_tile
    row, column = tile // (columns + 2), tile % (columns + 2)
    number = tile_number(row, rows, row_wraps) * (columns + 2)
    number += tile_number(column, columns, column_wraps)
    path = np.uint32((number * per_tile + k) * _FACES + face)
    k0, k1 = np.uint32(k0), np.uint32(k1)
    low, high, _, _ = words10(np.uint64(0), path, STREAM_OF_PHASES, k0, k1)
    age = passages + unit_float64(low, high)
    passage = math.floor(age)
    # Each passage has a place of its own: the eddy has no height at its beginning and end.
    height = amplitude * tent(2.0 * (age - passage) - 1.0)
    u, v, signs, _ = words10(np.uint64(np.int64(passage)), path, STREAM, k0, k1)
    y = (row - 1 + unit(u)) * row_width / row_reach
    z = (column - 1 + unit(v)) * column_width / column_reach
    return y, z, height * sign_of(signs, 0), height * sign_of(signs, 1), height * sign_of(signs, 2)
