"""Stable variables from a uniform angle and an exponential variable, for both targets.

Chambers, Mallows, Stuck (1976) in Weron's form (1996), in two versions without cancellation.
"""

import math
from typing import NamedTuple

from hetero._philox_math import unit_float64, words
from hetero.jit import scalar


class Sampler(NamedTuple):
    """What a draw needs of the parameters."""

    alpha: float
    beta: float
    length: float  # pi/2 + theta0
    gap: float  # pi - alpha length
    rest: float  # pi/2 - theta0
    cosine: float  # cos(alpha theta0)
    tangent: float  # tan(pi alpha/2); 0 at alpha = 1
    offset: float  # what is added to the S1 variable (near = False) or to the S0 variable
    near: bool  # alpha near 1: the S0 variable is drawn


@scalar
def draw(u, v, sampler):
    """A standard variable from u, v uniform in (0, 1)."""
    w = -math.log(v)
    left, right = math.pi * u, math.pi * (1.0 - u)  # distances of the angle from -pi/2, pi/2
    angle = math.pi * (u - 0.5)
    cosine = math.sin(min(left, right))
    ratio = (1.0 - sampler.alpha) / sampler.alpha
    if not sampler.near:
        return _weron(left, right, cosine, w, ratio, sampler) + sampler.offset
    return _centred(angle, cosine, w, ratio, sampler) + sampler.offset


@scalar
def _weron(left, right, cosine, w, ratio, sampler):
    """The S1 variable. p = angle + theta0 and eta come from the nearer end of the interval."""
    p = left - sampler.rest
    if sampler.alpha < 1.0:
        eta = sampler.rest + (1.0 - sampler.alpha) * p
    else:
        eta = sampler.gap + (sampler.alpha - 1.0) * right
    # Near the right end alpha p is near pi - gap.
    sine = math.sin(sampler.alpha * p)
    if sampler.alpha * p > 1.5:
        sine = math.sin(sampler.gap + sampler.alpha * right)
    power = math.sin(eta) / (sampler.cosine * w * cosine)
    return sine / (sampler.cosine * cosine) * power**ratio


@scalar
def _centred(angle, cosine, w, ratio, sampler):
    """The S0 variable: large terms of the S1 variable and of zeta are taken together.

    With epsilon = 1 - alpha, T = tan(pi alpha/2) and A = (cos(epsilon U) + beta T sin(epsilon U))
    / (W cos U), the S1 variable is (beta T cos(alpha U) + sin(alpha U)) / cos U A^(epsilon/alpha);
    beta T is subtracted under the differences, where T times a small number is of order one.
    """
    epsilon = 1.0 - sampler.alpha
    small = epsilon * angle
    tangent = sampler.tangent
    skew = tangent * math.sin(small) if epsilon != 0.0 else 2.0 * angle / math.pi
    log_a = math.log((math.cos(small) + sampler.beta * skew) / (w * cosine))
    d = math.expm1(ratio * log_a)
    stretched = tangent * d if epsilon != 0.0 else 2.0 / math.pi * log_a
    half = math.sin(0.5 * small)
    bend = math.tan(angle) * skew - 2.0 * tangent * half * half
    return math.sin(sampler.alpha * angle) / cosine * (1.0 + d) + sampler.beta * (
        stretched + (1.0 + d) * bend
    )


@scalar
def sample(index, path, stream, k0, k1, rounds, sampler):
    """Draw number `index` (uint64) of a path and stream: a Philox block each."""
    a, b, c, d = words(index, path, stream, k0, k1, rounds)
    return draw(unit_float64(a, b), unit_float64(c, d), sampler)
