"""Stable variables from a uniform angle and an exponential variable, for both targets.

Chambers, Mallows, Stuck (1976) in Weron's form (1996), in two versions without cancellation. There
are no branches and no library calls, so that a CPU computes several draws in one instruction;
float32 and float64 have the same formulas. Angles are counted in half turns.

A uniform number is held as its distance from the nearer end of (0, 1), which keeps its digits down
to 2^-64: tails are those of the distribution as far as a draw can get.
"""

from typing import NamedTuple

import numpy as np

from hetero.intrinsics.bits import select
from hetero.jit import scalar
from hetero.philox.formulas import words
from stablegpu._numerics.branchless_formulas import exponential, lesser, power, quotient, sinpi

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

    path: np.uint32
    number: np.uint32
    k0: np.uint32  # key
    k1: np.uint32


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
def signed_distance(low, high, like):
    """Return the uniform number (high, low) 2^-64 as its distance from 0, or minus that from 1.

    In the type of `like`. At least 2^-64, at most 1/2.
    """
    real = type(like)
    flip = np.uint32(np.int32(high) >> np.int32(31))
    upper, lower = np.uint32(high ^ flip), np.uint32(np.uint32(low ^ flip) | np.uint32(1))
    distance = real(upper) * real(2.0**-32) + real(lower) * real(2.0**-64)
    return select(flip != np.uint32(0), -distance, distance)


@scalar(forceinline=True)
def transform_to_s1(x, w, right, left, sampler):
    """Return the S1 variable of the angle at `x` (`signed_distance`) and the exponential one, w.

    alpha p and 1 - alpha p, eta and 1 - eta: the smaller one is a sum of positive terms.
    """
    real = type(x)
    d, side = abs(x), select_half(x > real(0.0), left, right)
    p = lesser(sampler.alpha * (side.length - d), side.tail_gap + sampler.alpha * d)
    eta = side.start + side.slope * d
    secant = quotient(real(1.0), sinpi(d))
    g, p2, q2 = power(quotient(sinpi(lesser(eta, real(1.0) - eta)) * secant, w), sampler.ratio)
    result = sampler.front * sinpi(p) * secant * (real(1.0) + g) * p2 * q2
    return select(x > real(0.0), -result, result) + sampler.offset


@scalar(forceinline=True)
def transform_to_s0(x, w, right, left, sampler):
    """Return the S0 variable for alpha near 1, where large terms of S1 and of zeta cancel.

    With epsilon = 1 - alpha, T = tan(pi alpha/2), G = cos(epsilon U) + beta T sin(epsilon U) =
    sin(eta)/cos(alpha theta0) and B = (G/(W cos U))^(epsilon/alpha), the S1 variable is
    B (beta T cos(alpha U) + sin(alpha U))/cos U. Less beta T, and with alpha U = U - epsilon U,
    T multiplies small numbers only.
    """
    real = type(x)
    d, side = abs(x), select_half(x > real(0.0), left, right)
    angle = real(0.5) - d
    small = sampler.ratio * sampler.alpha * angle  # 1 - alpha has no digits in float32
    half = sinpi(real(0.5) * small)
    secant = quotient(real(1.0), sinpi(d))
    eta = side.start + side.slope * d
    bent = sampler.front * sinpi(lesser(eta, real(1.0) - eta))
    g, p, q = power(quotient(bent * secant, w), sampler.ratio)
    power_of_2 = p * q
    change = power_of_2 * g + (power_of_2 - real(1.0))
    skew = side.beta * sampler.tangent
    result = (real(1.0) + change) * (
        sinpi(angle) * secant * bent - sinpi(small) - real(2.0) * skew * half * half
    ) + skew * change
    return select(x > real(0.0), -result, result) + sampler.offset


@scalar(forceinline=True)
def draw_variables(index, stream, like):
    """Return the angle and exponential variable of draw number `index` (uint64).

    Each draw takes a Philox block.
    """
    a, b, c, d = words(index, stream.path, stream.number, stream.k0, stream.k1, ROUNDS)
    return signed_distance(a, b, like), exponential(signed_distance(c, d, like))
