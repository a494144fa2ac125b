"""Standard normal numbers from random words, for both targets.

Box and Muller (1958), and the inverse of the distribution function: by Wichura's rational
functions (AS 241, 1988; the paper's section 8.2), in float32 also by polynomials of the logarithm
(as Giles 2010, with coefficients of our own). No words make inf or NaN.

A block of four Philox words makes four numbers of float32 or two of float64. `box_muller` is the
default everywhere. Its radius has 31 bits in float32, 53 in float64, so |x| < 6.77 or 8.58.
"""

import math

import numpy as np
from numba import uint32
from scipy import special

from hetero.chebyshev import economized_even_series, economized_series, interpolating_polynomial
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
from hetero.intrinsics.floats import approx_reciprocal, constant, fma, polynomial
from hetero.jit import scalar

# ---- Box and Muller ----------------------------------------------------------------------------

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
_MOST = np.float32((1.0 - 2.0**-24) * 2.0**-31)


@scalar(forceinline=True)
def _angle(t, word, r):
    """r sin and r cos of t quarter turns, |t| <= 1/2, moved to the octant of two bits of `word`."""
    w = t * t
    s, c = r * (t * _sin(w)), flip_sign(r * _cos(w), word)
    return select_by_bit(word, s, c), select_by_bit(word, c, s)


@scalar(forceinline=True)
def pair_float32(a, b, sigma):
    """Two independent N(0, sigma^2) numbers of float32 from two words."""
    # In [2^-33, 1 - 2^-24]: no word gives 0 or 1, and small numbers keep their digits.
    u = fma(to_float32(as_int32(a >> uint32(1))), _MOST, np.float32(2.0**-33))
    f, e = split_for_log(u)
    t = fma(to_float32(as_int32(b)), np.float32(2.0**-32), np.float32(2.0**-33))
    # Where u is near 1, e is 0 and the small logarithm is exact.
    return _angle(t, b, sigma * approx_sqrt(fma(e, _minus_log_4(e), f * _log(f))))


@scalar(forceinline=True)
def pair_float64(a, b, c, d, sigma):
    """Two independent N(0, sigma^2) numbers of float64 from four words; 53 bits each."""
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
    """Four N(0, sigma^2) numbers from a block of words."""
    w, x = pair_float32(a, b, sigma)
    y, z = pair_float32(c, d, sigma)
    return w, x, y, z


@scalar(forceinline=True)
def box_muller_float64(a, b, c, d, sigma):
    """Two N(0, sigma^2) numbers from a block of words."""
    return pair_float64(a, b, c, d, sigma)


@scalar(forceinline=True)
def _fast_pair(a, b):
    u = fma(to_float32(as_int32(a >> uint32(1))), _MOST, np.float32(2.0**-33))
    e = approx_log2(u) * np.float32(-1.3862943611198906)
    r = approx_sqrt(select(e > np.float32(1e-7), e, np.float32(1e-7)))
    t = fma(to_float32(as_int32(b)), np.float32(math.pi * 2.0**-31), np.float32(math.pi * 2.0**-32))
    return r * approx_sine(t), r * approx_cosine(t)


@scalar(forceinline=True)
def box_muller_fast(a, b, c, d, sigma):
    """`box_muller_float32` by the GPU's own logarithm, sine and cosine.

    r^2/2 has an absolute error of 2e-7, as a uniform number of 23 bits would give it; x one of
    1e-6 and, where r < 0.1, of 2e-7/r.
    """
    w, x = _fast_pair(a, b)
    y, z = _fast_pair(c, d)
    return sigma * w, sigma * x, sigma * y, sigma * z


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


_CENTRE = interpolating_polynomial(_ratio, _CUT, 0.0, 10)
_TAIL = interpolating_polynomial(lambda s: _ratio(-s * s), math.sqrt(-_CUT), _REACH, 11)
_centre, _tail = polynomial(_CENTRE, _CENTRE), polynomial(_TAIL, _TAIL)
_centre_middle = np.float32(-0.5 * _CUT)
_tail_middle = np.float32(-0.5 * (math.sqrt(-_CUT) + _REACH))


@scalar
def inverse_float32(word):
    """A standard normal float32 from a word, increasing in it as a signed number."""
    i = as_int32(uint32(word | uint32(1)))
    y = to_float32(i) * np.float32(2.0**-31)
    level = approx_log2(fma(-y, y, np.float32(1.0)))
    if level > np.float32(_CUT):
        return y * _centre(level + _centre_middle)
    near = np.float32(2.0**-31) * to_float32(np.uint32(0x80000000) - np.uint32(abs(i)))
    near *= np.float32(2.0) - near
    return y * _tail(approx_sqrt(-approx_log2(near)) + _tail_middle)


@scalar(forceinline=True)
def inverse_block_float32(a, b, c, d, sigma):
    """Four N(0, sigma^2) numbers from a block of words, each a function of one word."""
    return (
        sigma * inverse_float32(a),
        sigma * inverse_float32(b),
        sigma * inverse_float32(c),
        sigma * inverse_float32(d),
    )


# ---- Wichura's rational functions, AS 241: PPND7 in float32, PPND16 in float64 -----------------
# Lowest power first, as published; q = u - 1/2, r = 0.425^2 - q^2 or sqrt(-log min(u, 1 - u)).

_CENTRE_7 = (
    (3.3871327179, 50.434271938, 159.29113202, 59.109374720),
    (1.0, 17.895169469, 78.757757664, 67.187563600),
)
_MIDDLE_7 = (
    (1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103),
    (1.0, 0.73700164250, 0.12021132975),
)
_FAR_7 = (
    (6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997),
    (1.0, 0.24197894225, 0.012258202635),
)
_CENTRE_16 = (
    (
        *(3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3),
        *(1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4),
        *(3.3430575583588128105e4, 2.5090809287301226727e3),
    ),
    (
        *(1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3),
        *(2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4),
        5.2264952788528545610e3,
    ),
)
_MIDDLE_16 = (
    (
        *(1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0),
        *(3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1),
        *(2.27238449892691845833e-2, 7.74545014278341407640e-4),
    ),
    (
        *(1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1),
        *(1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4),
        1.05075007164441684324e-9,
    ),
)
_FAR_16 = (
    (
        *(6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0),
        *(2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3),
        *(2.71155556874348757815e-5, 2.01033439929228813265e-7),
    ),
    (
        *(1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2),
        *(7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7),
        2.04426310338993978564e-15,
    ),
)


def _fraction(single, double):
    """Numerator and denominator of a rational function as polynomials."""
    pairs = zip(single, double, strict=True)
    return [polynomial(tuple(reversed(s)), tuple(reversed(d))) for s, d in pairs]


_centre_p, _centre_q = _fraction(_CENTRE_7, _CENTRE_16)
_middle_p, _middle_q = _fraction(_MIDDLE_7, _MIDDLE_16)
_far_p, _far_q = _fraction(_FAR_7, _FAR_16)


@scalar
def rational(q, tail, blend):
    """The normal quantile of q + 1/2, where `tail` is the smaller of u and 1 - u.

    With `blend` all three fractions are computed and one is chosen, without a branch. The relative
    error is 1e-16 (float64) or 1e-7 (float32) and that of the arithmetic.
    """
    T = type(q)
    if blend:
        r = T(0.180625) - q * q
        near = q * _centre_p(r) / _centre_q(r)
        far = T(math.sqrt(-math.log(tail)))
        s, t = far - T(1.6), far - T(5.0)
        out = select(far <= T(5.0), _middle_p(s) / _middle_q(s), _far_p(t) / _far_q(t))
        return select(abs(q) <= T(0.425), near, select(q < T(0.0), -out, out))
    if abs(q) <= T(0.425):
        r = T(0.180625) - q * q
        return q * _centre_p(r) / _centre_q(r)
    r = T(math.sqrt(-math.log(tail)))
    if r <= T(5.0):
        r -= T(1.6)
        x = _middle_p(r) / _middle_q(r)
    else:
        r -= T(5.0)
        x = _far_p(r) / _far_q(r)
    return -x if q < T(0.0) else x


@scalar
def rational_float32(word, blend):
    """A standard normal float32 from a word."""
    i = as_int32(uint32(word | uint32(1)))
    tail = to_float32(np.uint32(0x80000000) - np.uint32(abs(i))) * np.float32(2.0**-32)
    return rational(to_float32(i) * np.float32(2.0**-32), tail, blend)


@scalar
def rational_float64(high, low, blend):
    """A standard normal float64 from two words."""
    u = float_in_1_2(high, low, 1.0) - _below_one
    q = u - 0.5
    return rational(q, 0.5 - abs(q), blend)


def _rational_blocks(blend):
    @scalar
    def four(a, b, c, d, sigma):
        return (
            sigma * rational_float32(a, blend),
            sigma * rational_float32(b, blend),
            sigma * rational_float32(c, blend),
            sigma * rational_float32(d, blend),
        )

    @scalar
    def two(a, b, c, d, sigma):
        return sigma * rational_float64(a, b, blend), sigma * rational_float64(c, d, blend)

    return four, two


branching_float32, branching_float64 = _rational_blocks(False)
blending_float32, blending_float64 = _rational_blocks(True)
