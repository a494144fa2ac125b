"""Wallace's generator (1996): normal numbers from normal numbers by rotations, for both targets.

Groups of four from a pool of 4 x 256 numbers are rotated by one of four orthogonal matrices
(Riesinger 2017, section 8.3; the third matrix is singular there, and its last row is corrected
here). Element e of thread t is at ((256 e + t) stride + offset) mod 1024, with a random odd stride
and offset in every pass. Its rotated value goes to 4 t + e, so that the next pass combines other
numbers. Rotations preserve the sum of squares, which for independent normal numbers has a
chi-square distribution: numbers leave the pool times sqrt(V/1024), where V is drawn for each pass.
"""

import math

import numpy as np
from numba import uint32

from hetero.jit import scalar
from rode._normals.box_muller_formulas import pair_float32

THREADS = 256
"""Number of threads in a block."""

POOL = 4 * THREADS
"""Number of elements of a pool."""

PASSES = 64
"""Number of times that a pool yields POOL numbers before a new one is filled."""

TURNS = 2
"""Rotations of the pool between two outputs: one leaves a visible correlation of the squares."""

FIRST = np.uint32(0x80000000)
"""Number of the first block of words that fills a pool; the passes count from 0."""

_B = 1.0 + 1.0 / (8.0 * POOL)
_C = math.sqrt(2.0 * POOL - _B * _B)
_SHARE = 1.0 / math.sqrt(2.0 * POOL)
_MASK = np.uint32(POOL - 1)


@scalar
def pool_index(e, t, stride, offset):
    """Return the index in the pool of element e of thread t."""
    return np.int64(uint32(uint32(uint32(e) * uint32(THREADS) + t) * stride + offset) & _MASK)


@scalar
def rotation_of(word):
    """Return (stride, offset, matrix) of the rotation that a random word names."""
    return (
        uint32((word & _MASK) | uint32(1)),
        uint32((word >> uint32(10)) & _MASK),
        np.int64(word >> uint32(30)),
    )


@scalar
def rotate(matrix, a, b, c, d):
    """Multiply (a, b, c, d) by one of four orthogonal matrices: seven additions and a product."""
    s = type(a)(0.5) * ((a + b) + (c + d))
    if matrix == 0:
        return s - c, s - b, a - s, d - s
    if matrix == 1:
        return a - s, s - b, s - c, d - s
    if matrix == 2:
        return s - b, c - s, a - s, d - s
    return b - s, c - s, s - a, s - d


@scalar
def pool_scale(squares):
    """Return the factor that makes the sum of squares of a pool equal to POOL."""
    T = type(squares)
    return T(math.sqrt(T(POOL) / squares))


@scalar
def spread(a, b, like):
    """Return sqrt(V/POOL) for a new chi-square number V with POOL degrees of freedom.

    sqrt(2 V) is nearly normal (Fisher): V = (C + B n)^2/2 has the mean of the
    distribution and nearly its variance.
    """
    T = type(like)
    n = pair_float32(a, b, np.float32(1.0))[0]
    return (T(_C) + T(_B) * T(n)) * T(_SHARE)
