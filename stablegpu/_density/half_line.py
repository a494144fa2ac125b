"""Constants of Nolan's integrals on each side of zeta, for one alpha and beta.

Plain Python, because one call is cheaper than the compilation of these functions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from stablegpu._parameters import zeta


class HalfLine(NamedTuple):
    """Constants of the integrand on one side of zeta; beta is mirrored for the left half-line."""

    alpha: float
    beta: float
    kappa: float
    zeta: float
    length: float  # P = pi/2 + theta0
    tail_gap: float  # pi - alpha P: 0 where the tail is light (alpha > 1)
    left_angle: float  # pi/2 - theta0
    log_scale: float  # log of the factor of V that is free of theta
    half_log: float  # log(1 + zeta^-2) / 2
    front: float  # pdf = front / y int g e^-g, for alpha = 1 without y
    peak: float  # the density at y = 0
    log_cos: float  # log of cos(alpha theta0)
    log_right: float  # log of y^alpha sf for y -> inf; -inf: light tail
    log_left: float  # alpha = 1: log of |x| cdf for x -> -inf
    near: bool  # alpha near 1 and zeta < -1: log g is taken relative to |zeta|
    g_increases_with_theta: bool  # whether g grows with theta


def half_lines(alpha: float, beta: float) -> tuple[HalfLine, HalfLine]:
    """Return the right and the left half-line; for alpha = 1 both are that of |beta|."""
    if alpha == 1.0:
        side = half_line_at_one(abs(beta))
        return side, side
    return _half_line(alpha, beta), _half_line(alpha, -beta)


def extent(alpha: float, beta: float) -> tuple[float, float]:
    """Return alpha (pi/2 + theta0) and pi minus it, each to full relative accuracy.

    With tan of half of pi alpha or pi (2 - alpha), the smaller one is the angle of
    (1 - beta tan^2, (1 + beta) tan): no difference of nearly equal angles anywhere.
    """
    off = abs(1.0 - alpha)
    sine = math.sin(math.pi * min(off, alpha if alpha < 1.0 else 2.0 - alpha))
    cosine = math.sin(0.5 * math.pi * (1.0 - alpha))
    y, x = (1.0 + beta) * sine, 2.0 * ((1.0 + beta) * cosine**2 - beta)
    angle, other = math.atan2(y, x), math.atan2(y, -x)
    return (angle, other) if alpha < 1.0 else (other, angle)


def _half_line(alpha: float, beta: float) -> HalfLine:
    whole, tail_gap = extent(alpha, beta)
    other, _ = extent(alpha, -beta)
    return half_line_of(alpha, beta, zeta(alpha, beta), whole, tail_gap, other)


def half_line_of(
    alpha: float, beta: float, centre: float, whole: float, tail_gap: float, other: float
) -> HalfLine:
    """Return the half-line for alpha != 1 from zeta and the extents of both half-lines.

    This function and `extent` and `half_line_at_one` call no other functions of this module:
    `half_line_formulas.py` compiles them as they are, for parameters that differ from
    point to point.
    """
    length, left_angle = whole / alpha, other / alpha
    log_cos = -math.log(math.hypot(1.0, centre))  # of alpha theta0
    if abs(centre) < 1e8:
        log_cos = -0.5 * math.log1p(centre**2)
    gamma = math.gamma(1.0 + 1.0 / alpha) if alpha > 1.0 / 170.0 else math.inf
    peak = gamma * math.sin(min(length, left_angle)) / math.pi * math.exp(log_cos / alpha)
    tail = math.sin(min(whole, tail_gap)) if alpha < 2.0 else 0.0
    constant = math.log(math.gamma(alpha) / math.pi * tail) - log_cos if tail > 0.0 else -math.inf
    near = abs(alpha - 1.0) < 0.25 and centre < -1.0
    half_log = 0.5 * math.log1p(centre**-2) if near else 0.0
    return HalfLine(  # by position: Numba takes few keywords
        alpha,
        beta,
        alpha / (alpha - 1.0),
        centre,
        length,
        tail_gap,
        left_angle,
        log_cos / (alpha - 1.0),
        half_log,
        alpha / (math.pi * abs(alpha - 1.0)),
        peak,
        log_cos,
        constant,
        -math.inf,
        near,
        alpha < 1.0,
    )


def half_line_at_one(beta: float) -> HalfLine:
    """Return the half-line for alpha = 1 and beta >= 0."""
    front = 0.5 / beta if beta > 0.0 else math.inf
    log_right = math.log((1.0 + beta) / math.pi)
    log_left = math.log((1.0 - beta) / math.pi) if beta < 1.0 else -math.inf
    log_scale = math.log(2.0 / math.pi)
    return HalfLine(
        1.0,
        beta,
        math.inf,
        0.0,
        math.pi,
        0.0,
        0.0,
        log_scale,
        0.0,
        front,
        1.0 / math.pi,
        0.0,
        log_right,
        log_left,
        False,
        True,
    )
