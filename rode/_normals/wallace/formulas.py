"""Wallace's generator (1996): normal numbers from normal numbers by rotations, for both targets.

Groups of four from a pool of 4 x 256 numbers are rotated by one of four orthogonal matrices
(Riesinger 2017, section 8.3; the third matrix is singular there, and its last row is corrected
here). Element e of thread t is at ((256 e + t) stride + offset) mod 1024, with a random odd stride
and offset in every pass. Its rotated value goes to 4 t + e, so that the next pass combines other
numbers. Rotations preserve the sum of squares, which for independent normal numbers has a
chi-square distribution: numbers leave the pool times sqrt(V/1024), where V is drawn for each pass.
Pools of other shapes (`pool_shape.py`) have other numbers in place of 256 and 1024.
"""

import math

import numpy as np
from numba import uint32

from hetero.jit import scalar
from rode._normals.box_muller_formulas import pair_float32

FIRST = np.uint32(0x80000000)
"""Number of the first block of words that fills a pool; the passes count from 0."""


@scalar
def pool_index(e, t, stride, offset, threads):
    """Return the index in the pool of element e of thread t."""
    place = uint32(uint32(uint32(e) * uint32(threads) + t) * stride + offset)
    return np.int64(place & uint32(4 * threads - 1))


@scalar
def rotation_of(word, bits):
    """Return (stride, offset, matrix) of the rotation that a random word names.

    An index in the pool has so many bits, at most 15.
    """
    mask = uint32((1 << bits) - 1)
    return (
        uint32((word & mask) | uint32(1)),
        uint32((word >> uint32(bits)) & mask),
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
def pool_scale(squares, pool):
    """Return the factor that makes the sum of squares of a pool equal to its size."""
    T = type(squares)
    return T(math.sqrt(T(pool) / squares))


@scalar
def spread(a, b, constants, like):
    """Return sqrt(V/POOL) for a new chi-square number V with POOL degrees of freedom.

    sqrt(2 V) is nearly normal (Fisher): V = (C + B n)^2/2 has the mean of the
    distribution and nearly its variance. `constants` are those of the shape of the pool.
    """
    T = type(like)
    mean, deviation, unit = constants
    n = pair_float32(a, b, np.float32(1.0))[0]
    return (T(mean) + T(deviation) * T(n)) * T(unit)
