"""Normal numbers from random words by the method of Box and Muller (1958), for both targets.

A block of four Philox words makes four numbers of float32 or two of float64. `box_muller` is the
default everywhere. Its radius has 31 bits in float32, 53 in float64, so |x| < 6.77 or 8.58. No
words make inf or NaN.
"""

import math

import numpy as np
from numba import uint32

from hetero.intrinsics.bits import (
    approx_cosine,
    approx_log2,
    approx_sine,
    approx_sqrt,
    as_int32,
    flip_sign,
    float_in_1_2,
    select,
    select_by_bit,
    split_for_log,
    to_float32,
)
from hetero.intrinsics.chebyshev import economized_even_series, economized_series
from hetero.intrinsics.floats import approx_reciprocal, constant, fma, polynomial
from hetero.jit import scalar

_QUARTER = math.pi / 2.0  # of a turn: the unit of angles
_SIN = [(-1.0) ** k * _QUARTER ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(15)]
_COS = [(-1.0) ** k * _QUARTER ** (2 * k) / math.factorial(2 * k) for k in range(15)]
# -2 log(1 + f)/f; with s = f/(2 + f) also -2 log(1 + f)/s.
_LOG = [-2.0 * (-1.0) ** k / (k + 1) for k in range(60)]
_ATANH = [-4.0 / (2 * k + 1) for k in range(25)]

_sin = polynomial(economized_even_series(_SIN, 0.5, 4), economized_even_series(_SIN, 0.5, 7))
_cos = polynomial(economized_even_series(_COS, 0.5, 4), economized_even_series(_COS, 0.5, 7))
_log = polynomial(economized_series(_LOG, 1.0 / 3.0, 8), (0.0,))
_atanh = polynomial((0.0,), economized_even_series(_ATANH, 0.1716, 8))
_minus_log_4 = constant(-2.0 * math.log(2.0) * 2.0**-23, -2.0 * math.log(2.0))
_below_one = 1.0 - 2.0**-53
_WORD_SCALE = np.float32((1.0 - 2.0**-24) * 2.0**-31)  # takes 31 bits to below 1


@scalar(forceinline=True)
def _angle(t, word, r):
    """Return r sin and r cos of t quarter turns, |t| <= 1/2, in the octant of 2 bits of `word`."""
    w = t * t
    s, c = r * (t * _sin(w)), flip_sign(r * _cos(w), word)
    return select_by_bit(word, s, c), select_by_bit(word, c, s)


@scalar(forceinline=True)
def pair_float32(a, b, sigma):
    """Return two independent N(0, sigma^2) numbers of float32 from two words."""
    # In [2^-33, 1 - 2^-24]: no word gives 0 or 1, and small numbers keep their digits.
    u = fma(to_float32(as_int32(a >> uint32(1))), _WORD_SCALE, np.float32(2.0**-33))
    f, e = split_for_log(u)
    t = fma(to_float32(as_int32(b)), np.float32(2.0**-32), np.float32(2.0**-33))
    # Where u is near 1, e is 0 and the small logarithm is exact.
    return _angle(t, b, sigma * approx_sqrt(fma(e, _minus_log_4(e), f * _log(f))))


@scalar(forceinline=True)
def pair_float64(a, b, c, d, sigma):
    """Return two independent N(0, sigma^2) numbers of float64 from four words; 53 bits each."""
    f, k = split_for_log(float_in_1_2(a, b, sigma) - _below_one)
    # s = f/(2 + f), from 19 digits of the reciprocal by a series to the third order.
    y = 2.0 + f
    v = approx_reciprocal(y)
    e = fma(-y, v, 1.0)
    s = f * v
    s = fma(s, fma(e, e, e), s)
    # An odd multiple of 2^-52, so never 0; two more digits choose the octant.
    t = float_in_1_2(c, uint32(d | uint32(0x1000)), sigma) - 1.5
    return _angle(t, d, sigma * approx_sqrt(fma(k, _minus_log_4(k), s * _atanh(s * s))))


@scalar(forceinline=True)
def box_muller_float32(a, b, c, d, sigma):
    """Return four N(0, sigma^2) numbers from a block of words."""
    w, x = pair_float32(a, b, sigma)
    y, z = pair_float32(c, d, sigma)
    return w, x, y, z


@scalar(forceinline=True)
def box_muller_float64(a, b, c, d, sigma):
    """Return two N(0, sigma^2) numbers from a block of words."""
    return pair_float64(a, b, c, d, sigma)


@scalar(forceinline=True)
def _fast_pair(a, b):
    """Return two standard normal numbers of float32, of reduced accuracy."""
    u = fma(to_float32(as_int32(a >> uint32(1))), _WORD_SCALE, np.float32(2.0**-33))
    e = approx_log2(u) * np.float32(-1.3862943611198906)
    r = approx_sqrt(select(e > np.float32(1e-7), e, np.float32(1e-7)))
    t = fma(to_float32(as_int32(b)), np.float32(math.pi * 2.0**-31), np.float32(math.pi * 2.0**-32))
    return r * approx_sine(t), r * approx_cosine(t)


@scalar(forceinline=True)
def box_muller_fast(a, b, c, d, sigma):
    """Return what `box_muller_float32` does, by the GPU's own logarithm, sine and cosine.

    r^2/2 has an absolute error of 2e-7, as a uniform number of 23 bits would give it; x one of
    1e-6 and, where r < 0.1, of 2e-7/r.
    """
    w, x = _fast_pair(a, b)
    y, z = _fast_pair(c, d)
    return sigma * w, sigma * x, sigma * y, sigma * z
