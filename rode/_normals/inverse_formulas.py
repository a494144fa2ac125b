"""Normal numbers from random words by the inverse of the distribution function, for both targets.

The inverse is computed by the rational functions of Wichura (1988, algorithm AS 241), and in
float32 also by polynomials of the logarithm (as Giles 2011, with coefficients of our own). A block
of four Philox words makes four numbers of float32 or two of float64. No words make inf or NaN.
"""

import math
from importlib.metadata import version

import numpy as np
from numba import uint32

from hetero.compile_cache.tables import cached_table
from hetero.intrinsics.bits import (
    approx_log2,
    approx_sqrt,
    as_int32,
    float_in_1_2,
    select,
    to_float32,
)
from hetero.intrinsics.chebyshev import interpolating_polynomial
from hetero.intrinsics.floats import fma, polynomial
from hetero.jit import scalar

BELOW_ONE = 1.0 - 2.0**-53
"""Largest float64 below 1."""

# ---- the inverse of the distribution function in float32 ---------------------------------------
# x = y p(log2(1 - y^2)) for a uniform y in (-1, 1). If 1 - y^2 < 2^_CUT, the distance of the word
# from the nearer end replaces 1 - |y|, which has lost its digits.

_CUT = -7.2  # log2(1 - y^2) at which the tails begin
_REACH = math.sqrt(31.1)  # sqrt(-log2(1 - y^2)) at the end of the tails, above that of any word
_COUNTS = 10, 11  # numbers of coefficients of the polynomials in the centre and in the tails


def _fit_polynomials() -> np.ndarray:
    """Return the coefficients of both polynomials; SciPy's special functions take 0.2 s to load."""
    from scipy import special

    def ratio(level):
        """Return x/y where log2(1 - y^2) = level."""
        y = np.sqrt(-np.expm1(level * math.log(2.0)))
        tail = np.exp2(level) / (2.0 * (1.0 + y))
        return -special.ndtri(tail) / y

    centre = interpolating_polynomial(ratio, _CUT, 0.0, _COUNTS[0])
    tail = interpolating_polynomial(lambda s: ratio(-s * s), math.sqrt(-_CUT), _REACH, _COUNTS[1])
    return np.array([*centre, *tail])


_COEFFICIENTS = tuple(
    cached_table("rode", f"inverse-normal-{version('scipy')}", _fit_polynomials).tolist()
)
_CENTRE, _TAIL = _COEFFICIENTS[: _COUNTS[0]], _COEFFICIENTS[_COUNTS[0] :]
_centre, _tail = polynomial(_CENTRE, _CENTRE), polynomial(_TAIL, _TAIL)
_centre_middle = np.float32(-0.5 * _CUT)
_tail_middle = np.float32(-0.5 * (math.sqrt(-_CUT) + _REACH))


@scalar
def inverse_float32(word):
    """Return a standard normal float32 from a word, increasing in it as a signed number."""
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
    """Return four N(0, sigma^2) numbers from a block of words, each a function of one word."""
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
    """Return numerator and denominator of a rational function as polynomials."""
    pairs = zip(single, double, strict=True)
    return [polynomial(tuple(reversed(s)), tuple(reversed(d))) for s, d in pairs]


_centre_p, _centre_q = _fraction(_CENTRE_7, _CENTRE_16)
_middle_p, _middle_q = _fraction(_MIDDLE_7, _MIDDLE_16)
_far_p, _far_q = _fraction(_FAR_7, _FAR_16)


@scalar
def rational(q, tail, blend):
    """Return the normal quantile of q + 1/2, where `tail` is the smaller of u and 1 - u.

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
    """Return a standard normal float32 from a word."""
    i = as_int32(uint32(word | uint32(1)))
    tail = to_float32(np.uint32(0x80000000) - np.uint32(abs(i))) * np.float32(2.0**-32)
    return rational(to_float32(i) * np.float32(2.0**-32), tail, blend)


@scalar
def rational_float64(high, low, blend):
    """Return a standard normal float64 from two words."""
    u = float_in_1_2(high, low, 1.0) - BELOW_ONE
    q = u - 0.5
    return rational(q, 0.5 - abs(q), blend)


def _rational_blocks(blend):
    """Make the functions that turn a block of words into numbers: four float32, two float64."""

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
