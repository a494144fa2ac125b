"""Stable variables from a uniform angle and an exponential variable, for both targets.

Chambers, Mallows, Stuck (1976) in Weron's form (1996), in two versions without cancellation. There
are no branches and no library calls, so that a CPU computes several draws in one instruction;
float32 and float64 have the same formulas. Angles are counted in half turns.

A uniform number is held as its distance from the nearer end of (0, 1), which keeps its digits down
to 2^-64: tails are those of the distribution as far as a draw can get.
"""

import math
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.chebyshev import economized_even_series, economized_series
from hetero.intrinsics.bits import select
from hetero.intrinsics.floats import (
    constant,
    fma,
    polynomial,
    scale_by_power_of_two,
    split_exponent,
)
from hetero.jit import scalar
from hetero.philox.formulas import words

ROUNDS = 10  # of Philox; a constant, so that compilers unroll them


class SamplerHalf(NamedTuple):
    """Constants of one half of the angle range; the left half is mirrored."""

    length: float  # 1/2 + theta0
    tail_gap: float  # 1 - alpha length
    start: float  # eta is start + slope times the distance from the end
    slope: float
    beta: float


class Sampler(NamedTuple):
    """Constants that both halves share; all float64 or all float32, as in `SamplerHalf`."""

    alpha: float
    ratio: float  # (1 - alpha)/alpha
    front: float  # cos(alpha theta0)^(-1/alpha); near: 1/cos(alpha theta0)
    tangent: float  # tan(pi alpha/2)
    offset: float  # added to the S1 variable (near = False) or to the S0 variable
    near: bool  # alpha near 1: the S0 variable is drawn


class RandomStream(NamedTuple):
    """Words that say which numbers Philox gives besides the number of a draw; all uint32."""

    path: int
    number: int
    k0: int  # key
    k1: int


# ---- elementary functions --------------------------------------------------------------------


def _constant(number: float):
    return constant(number, number)


# sin(pi x)/x - pi and log2((1 + s)/(1 - s))/s - 2/log(2), over the square; (2^r - 1)/r.
_SINE = [(-1.0) ** k * math.pi ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(1, 15)]
_LOG2 = [2.0 / math.log(2.0) / (2 * k + 1) for k in range(1, 20)]
_EXP2 = [math.log(2.0) ** k / math.factorial(k) for k in range(1, 20)]

_sine = polynomial(economized_even_series(_SINE, 0.5, 4), economized_even_series(_SINE, 0.5, 9))
_log2 = polynomial(economized_even_series(_LOG2, 0.18, 3), economized_even_series(_LOG2, 0.18, 8))
_exp2 = polynomial(economized_series(_EXP2, 0.51, 6), economized_series(_EXP2, 0.51, 12))
# Two numbers in two parts each.
_pi, _pi_rest = _constant(math.pi), _constant(1.2246467991473532e-16)
_log2_first, _log2_rest = _constant(2.0 / math.log(2.0)), _constant(4.0710547481862066e-17)
_minus_log_2 = _constant(-math.log(2.0))
_whole = constant(1.5 * 2.0**23, 1.5 * 2.0**52)  # adding it rounds to an integer
_most = constant(252.0, 2044.0)  # largest exponent that is the sum of two normal ones


@intrinsic
def quotient(typing, x, y):
    """Return x/y; float32 on a GPU to 2 ulp, and 0 for y > 2^126."""

    def emit(context, builder, signature, values):
        if x == types.float64 or "cuda" not in type(context).__module__:
            return builder.fdiv(*values)
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType()])
        inverse = ir.InlineAsm(kind, "rcp.approx.ftz.f32 $0, $1;", "=f,f")
        return builder.fmul(values[0], builder.call(inverse, values[1:]))

    return x(x, x), emit


@scalar(forceinline=True)
def select_half(condition, x, y):
    """Apply `select` to two halves, number by number."""
    return SamplerHalf(
        select(condition, x.length, y.length),
        select(condition, x.tail_gap, y.tail_gap),
        select(condition, x.start, y.start),
        select(condition, x.slope, y.slope),
        select(condition, x.beta, y.beta),
    )


@scalar(forceinline=True)
def lesser(x, y):
    """Return the smaller one of two numbers, without a branch."""
    return select(x < y, x, y)


@scalar(forceinline=True)
def sinpi(x):
    """Return sin(pi x) for |x| <= 1/2."""
    w = x * x
    return fma(x, fma(w, _sine(w), _pi_rest(x)), x * _pi(x))


@scalar(forceinline=True)
def log2_near_one(z):
    """Return log2(1 + z) for sqrt(1/2) <= 1 + z <= sqrt(2)."""
    T = type(z)
    s = quotient(z, z + T(2.0))
    w = s * s
    return fma(s, fma(w, _log2(w), _log2_rest(s)), s * _log2_first(s))


@scalar(forceinline=True)
def exponential(x):
    """Return -log(v) for v = x (x > 0) or v = 1 + x (x < 0), |x| <= 1/2."""
    T = type(x)
    m, k = split_exponent(select(x > T(0.0), x, x + T(1.0)))
    # 1 + x loses digits of x. They matter near v = 1, where v is its own mantissa.
    whole = (x > T(-0.29)) & (x < T(0.0))
    return (k + log2_near_one(select(whole, x, m - T(1.0)))) * _minus_log_2(x)


@scalar(forceinline=True)
def power(base, ratio):
    """Return (g, p, q) with base^ratio = (1 + g) p q; p and q are powers of 2.

    The exponent of the base is multiplied without rounding, so only the error of `ratio` grows
    with it.
    """
    T = type(base)
    whole, most = _whole(base), _most(base)
    m, k = split_exponent(base)
    f = log2_near_one(m - T(1.0)) * ratio
    t = fma(k, ratio, f)
    n = (select(t > most, most, select(t < -most, -most, t)) + whole) - whole
    r = fma(k, ratio, -n) + f
    r = select(abs(t) > most, T(0.0), r)
    half = fma(n, T(0.5), whole)
    other_half = (n + whole) - (half - whole)
    return (
        r * _exp2(r),
        scale_by_power_of_two(T(1.0), half),
        scale_by_power_of_two(T(1.0), other_half),
    )


# ---- draws -----------------------------------------------------------------------------------


@scalar(forceinline=True)
def signed_distance(low, high, like):
    """Return the uniform number (high, low) 2^-64 as its distance from 0, or minus that from 1.

    In the type of `like`. At least 2^-64, at most 1/2.
    """
    T = type(like)
    flip = np.uint32(np.int32(high) >> np.int32(31))
    upper, lower = np.uint32(high ^ flip), np.uint32(np.uint32(low ^ flip) | np.uint32(1))
    distance = T(upper) * T(2.0**-32) + T(lower) * T(2.0**-64)
    return select(flip != np.uint32(0), -distance, distance)


@scalar(forceinline=True)
def weron(x, w, right, left, sampler):
    """Return the S1 variable of the angle at `x` (`signed_distance`) and the exponential one, w.

    alpha p and 1 - alpha p, eta and 1 - eta: the smaller one is a sum of positive terms.
    """
    T = type(x)
    d, side = abs(x), select_half(x > T(0.0), left, right)
    p = lesser(sampler.alpha * (side.length - d), side.tail_gap + sampler.alpha * d)
    eta = side.start + side.slope * d
    secant = quotient(T(1.0), sinpi(d))
    g, p2, q2 = power(quotient(sinpi(lesser(eta, T(1.0) - eta)) * secant, w), sampler.ratio)
    result = sampler.front * sinpi(p) * secant * (T(1.0) + g) * p2 * q2
    return select(x > T(0.0), -result, result) + sampler.offset


@scalar(forceinline=True)
def centred(x, w, right, left, sampler):
    """Return the S0 variable for alpha near 1, where large terms of S1 and of zeta cancel.

    With epsilon = 1 - alpha, T = tan(pi alpha/2), G = cos(epsilon U) + beta T sin(epsilon U) =
    sin(eta)/cos(alpha theta0) and B = (G/(W cos U))^(epsilon/alpha), the S1 variable is
    B (beta T cos(alpha U) + sin(alpha U))/cos U. Less beta T, and with alpha U = U - epsilon U,
    T multiplies small numbers only.
    """
    T = type(x)
    d, side = abs(x), select_half(x > T(0.0), left, right)
    angle = T(0.5) - d
    small = sampler.ratio * sampler.alpha * angle  # 1 - alpha has no digits in float32
    half = sinpi(T(0.5) * small)
    secant = quotient(T(1.0), sinpi(d))
    eta = side.start + side.slope * d
    bent = sampler.front * sinpi(lesser(eta, T(1.0) - eta))
    g, p, q = power(quotient(bent * secant, w), sampler.ratio)
    power_of_2 = p * q
    change = power_of_2 * g + (power_of_2 - T(1.0))
    skew = side.beta * sampler.tangent
    result = (T(1.0) + change) * (
        sinpi(angle) * secant * bent - sinpi(small) - T(2.0) * skew * half * half
    ) + skew * change
    return select(x > T(0.0), -result, result) + sampler.offset


@scalar(forceinline=True)
def variables(index, stream, like):
    """Return the angle and exponential variable of draw number `index` (uint64).

    Each draw takes a Philox block.
    """
    a, b, c, d = words(index, stream.path, stream.number, stream.k0, stream.k1, ROUNDS)
    return signed_distance(a, b, like), exponential(signed_distance(c, d, like))
