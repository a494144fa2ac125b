"""Standard normal numbers from random words, for both targets.

Box and Muller (1958), and the inverse of the distribution function: by Wichura's rational
functions (AS 241, 1988; the paper's section 8.2), in float32 also by polynomials of the logarithm
(as Giles 2010, with coefficients of our own). No words make inf or NaN.

A block of four Philox words makes four numbers of float32 or two of float64. `box_muller` is the
default everywhere. Its radius has 31 bits in float32, 53 in float64, so |x| < 6.56 or 8.58.
"""

import math

import numpy as np
from numba import uint32
from scipy import special

from hetero._floats import constant, fma, polynomial, rough_reciprocal
from hetero.jit import scalar
from rode._bits import (
    either,
    flipped,
    reduced,
    root,
    rough_log2,
    signed,
    to_float32,
    unit,
)
from rode._fits import economized, economized_even, interpolated

# ---- Box and Muller ----------------------------------------------------------------------------

_QUARTER = math.pi / 2.0  # of a turn: the unit of angles
_SIN = [(-1.0) ** k * _QUARTER ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(15)]
_COS = [(-1.0) ** k * _QUARTER ** (2 * k) / math.factorial(2 * k) for k in range(15)]
# -2 log(1 + f)/f; with s = f/(2 + f) also (-2 log(1 + f)/s + 4)/s^2.
_LOG = [-2.0 * (-1.0) ** k / (k + 1) for k in range(60)]
_ATANH = [-4.0 / (2 * k + 3) for k in range(25)]

_sin = polynomial(economized_even(_SIN, 0.5, 4), economized_even(_SIN, 0.5, 8))
_cos = polynomial(economized_even(_COS, 0.5, 4), economized_even(_COS, 0.5, 9))
_log = polynomial(economized(_LOG, 1.0 / 3.0, 8), (0.0,))
_atanh = polynomial((0.0,), economized_even(_ATANH, 0.2, 9))
_minus_log_4 = constant(-2.0 * math.log(2.0))
_below_one = 1.0 - 2.0**-53
_MOST = np.uint32(0x7FFFFF80)  # the largest integer whose float32 is less than 2^31


@scalar(forceinline=True)
def _angle(t, swap, sign, r):
    """r sin and r cos of t quarter turns, |t| <= 1/2, moved to any of the octants.

    The highest bit of `swap` and the lowest bit of `sign` say which.
    """
    w = t * t
    s, c = r * (t * _sin(w)), flipped(r * _cos(w), sign)
    return either(swap, s, c), either(swap, c, s)


@scalar(forceinline=True)
def pair_float32(a, b, sigma):
    """Two independent N(0, sigma^2) numbers of float32 from two words."""
    u = to_float32(signed(min(uint32((a >> uint32(1)) | uint32(1)), _MOST)))
    f, e = reduced(u)
    # Exact where u is near 1 and the logarithm small.
    k = fma(e, np.float32(2.0**-23), np.float32(-31.0))
    t = to_float32(signed(uint32((b << uint32(1)) | uint32(1)))) * np.float32(2.0**-32)
    return _angle(t, b, b, sigma * root(fma(k, _minus_log_4(k), f * _log(f))))


@scalar(forceinline=True)
def pair_float64(a, b, c, d, sigma):
    """Two independent N(0, sigma^2) numbers of float64 from four words; 53 bits each."""
    f, k = reduced(unit(a, b, sigma) - _below_one)
    y = 2.0 + f
    v = rough_reciprocal(y)
    e = fma(-y, v, 1.0)
    v = fma(v, fma(e, e, e), v)
    s = f * v
    s = fma(fma(-y, s, f), v, s)
    w = s * s
    t = (unit(c, d, sigma) - _below_one) - 0.5
    return _angle(t, uint32(d << uint32(24)), d, sigma * root(fma(k, _minus_log_4(k), fma(s * w, _atanh(w), -4.0 * s))))


@scalar(forceinline=True)
def box_muller_float32(a, b, c, d, sigma):
    """Four N(0, sigma^2) numbers from a block of words."""
    w, x = pair_float32(a, b, sigma)
    y, z = pair_float32(c, d, sigma)
    return w, x, y, z


@scalar(forceinline=True)
def box_muller_float64(a, b, c, d, sigma):
    """Two N(0, sigma^2) numbers from a block of words."""
    return pair_float64(a, b, c, d, sigma)


# ---- the inverse of the distribution function in float32 ---------------------------------------
# x = y p(log2(1 - y^2)), y in (-1, 1) uniform. Where 1 - y^2 < 2^_CUT the distance of the word
# from the nearer end takes the place of 1 - |y|, which has lost its digits.

_CUT = -7.2
_REACH = math.sqrt(31.1)


def _ratio(level):
    """x/y where log2(1 - y^2) = level."""
    y = np.sqrt(-np.expm1(level * math.log(2.0)))
    tail = np.exp2(level) / (2.0 * (1.0 + y))
    return -special.ndtri(tail) / y


_CENTRE = interpolated(_ratio, _CUT, 0.0, 10)
_TAIL = interpolated(lambda s: _ratio(-s * s), math.sqrt(-_CUT), _REACH, 11)
_centre, _tail = polynomial(_CENTRE, _CENTRE), polynomial(_TAIL, _TAIL)
_centre_middle = np.float32(-0.5 * _CUT)
_tail_middle = np.float32(-0.5 * (math.sqrt(-_CUT) + _REACH))


@scalar
def inverse_float32(word):
    """A standard normal float32 from a word, increasing in it as a signed number."""
    i = signed(uint32(word | uint32(1)))
    y = to_float32(i) * np.float32(2.0**-31)
    level = rough_log2(fma(-y, y, np.float32(1.0)))
    if level > np.float32(_CUT):
        return y * _centre(level + _centre_middle)
    near = np.float32(2.0**-31) * to_float32(np.uint32(0x80000000) - np.uint32(abs(i)))
    near *= np.float32(2.0) - near
    return y * _tail(root(-rough_log2(near)) + _tail_middle)
