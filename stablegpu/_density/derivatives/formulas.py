"""Difference quotients of log pdf, and the derivatives that follow from them. For both targets.

log pdf = L(z; alpha, beta) - log scale with z = (x - loc)/scale in S0 leaves three functions: L_z,
L_alpha and L_beta. Each is a difference quotient of exact values, extrapolated to step 0 from steps
that halve (Richardson); of the extrapolations the one that agrees best with its neighbours is taken
(Ridders 1982). loc, scale and S1 follow by the chain rule.

At alpha = 2 and |beta| = 1 a tail is light, and one step inside it is a power law: log pdf rises
steeply there and then as a logarithm, so one-sided quotients are those of the density over its
value at the point. Far out these derivatives are as large as the ratio of both tails, and infinite
where that ratio is beyond the range of floats.
"""

import math
from typing import NamedTuple

import numpy as np

from hetero.jit import scalar
from stablegpu._density.pointwise.points import value_for_point
from stablegpu._density.zeta_formulas import NEXT_TO_ZETA, zeta_in_parts
from stablegpu._numerics.trigonometry_formulas import tan_half_pi

LEVELS = 9  # steps of each quotient
QUOTIENTS = 5  # by z; by alpha and beta, to both sides and inward
VALUES = 2 * LEVELS * QUOTIENTS  # of the density for a point
BY_Z, BY_ALPHA, BY_ALPHA_INWARD, BY_BETA, BY_BETA_INWARD = range(QUOTIENTS)
ROUNDING = 4e-16  # absolute error of a difference of two logarithms of order 1
NEAR_END = 1e-2  # distance from the end of a range under which quotients may be one-sided


class Design(NamedTuple):
    """Arguments of log pdf from which the derivatives at a point are computed."""

    point: float  # standardized: in S0 near alpha = 1, where S1 is not smooth, else in S1
    in_s0: bool
    step: float  # largest, in the point
    step_alpha: float
    step_beta: float
    inward_alpha: float  # direction of one-sided steps; 0: none
    inward_beta: float
    alpha: float
    beta: float
    scale: float
    by_alpha: float  # change of the S0 point with alpha while the S1 point stays
    by_beta: float
    moved: float  # - scale times the change of the S1 (S0) point with scale


@scalar
def design_steps(x, alpha, beta, loc, scale, s1):
    """Return the `Design` of a point whose arguments are in S1 or not."""
    fine = 0.0 < alpha <= 2.0 and abs(beta) <= 1.0 and 0.0 < scale < np.inf and abs(loc) < np.inf
    if not fine:
        x, alpha, beta, loc, scale = np.nan, 1.5, 0.0, 0.0, 1.0
    unit = (x - loc) / scale
    smooth = abs(alpha - 1.0) < 0.25
    moved = unit
    if alpha == 1.0:
        by_beta = -(2.0 / math.pi) * math.log(scale)
        by_alpha = 0.0 if beta == 0.0 else np.nan
        zeta = 0.0
        y = z = unit + (beta * by_beta if s1 else 0.0)
        if s1:
            moved += beta * (2.0 / math.pi)
    else:
        by_beta = -tan_half_pi(alpha)
        by_alpha = -beta * 0.5 * math.pi * (1.0 + by_beta * by_beta)
        zeta = beta * by_beta
        y = unit
        z = unit + zeta
        if not s1:
            y, z = unit - zeta, unit
            if abs(y) < NEXT_TO_ZETA * abs(zeta):
                high, low = zeta_in_parts(alpha, beta)
                y = (unit - high) - low
    light = alpha < 1.0 and abs(beta) == 1.0
    step = 1.0 + abs(z)
    if light or not smooth:
        step = min(step, _width(y, alpha, zeta, light))
    return Design(
        z if smooth else y,
        smooth,
        0.2 * step,
        0.1 * alpha,
        0.25,
        _inward(alpha, 0.0, 2.0),
        _inward(beta, -1.0, 1.0),
        alpha,
        beta,
        scale,
        by_alpha,
        by_beta,
        moved,
    )


@scalar
def _width(y, alpha, zeta, light):
    """Return the distance from zeta, or that over which the density hardly changes there."""
    if light:
        return abs(y)
    log_width = math.lgamma(1.0 + 1.0 / alpha) - math.lgamma(1.0 + 2.0 / alpha)
    return max(abs(y), math.exp(log_width + 0.5 * math.log1p(zeta * zeta) / alpha))


@scalar
def _inward(value, low, high):
    """Return the direction away from an end that is near, or 0.

    There both kinds of quotients are tried: steps to both sides are short, which is right where the
    density changes much on the way to the end, and rough where it does not.
    """
    if min(value - low, high - value) >= NEAR_END:
        return 0.0
    return 1.0 if value - low < high - value else -1.0


@scalar
def largest_step(quotient, plan):
    """Return the first of the steps that halve, and their direction or 0."""
    if quotient == BY_Z:
        return plan.step, 0.0
    if quotient == BY_ALPHA:
        return min(0.9 * min(plan.alpha, 2.0 - plan.alpha), plan.step_alpha), 0.0
    if quotient == BY_BETA:
        return min(0.9 * min(plan.beta + 1.0, 1.0 - plan.beta), plan.step_beta), 0.0
    if quotient == BY_ALPHA_INWARD:
        return plan.step_alpha, plan.inward_alpha
    return plan.step_beta, plan.inward_beta


@scalar
def shifted(k, plan):
    """Return x, alpha, beta of the k-th of the `VALUES`; x = NaN where none is needed."""
    quotient, index = k // (2 * LEVELS), k % (2 * LEVELS)
    step, inward = largest_step(quotient, plan)
    level, before = index // 2, index % 2 == 1
    inner = quotient == BY_ALPHA_INWARD or quotient == BY_BETA_INWARD
    h = math.ldexp(step, -level)
    change = -h if before else h
    if inner:
        change = 0.0 if before else inward * h
    x, alpha, beta = plan.point, plan.alpha, plan.beta
    if step == 0.0 or (inner and inward == 0.0):
        return np.nan, alpha, beta
    if quotient == BY_Z:
        return x + change, alpha, beta
    if quotient == BY_ALPHA or quotient == BY_ALPHA_INWARD:
        return x, alpha + change, beta
    return x, alpha, beta + change


@scalar
def width_of(k, plan):
    """Return the distance between the arguments of values k and k + 1, as rounded; k is even."""
    x0, alpha0, beta0 = shifted(k + 1, plan)
    x1, alpha1, beta1 = shifted(k, plan)
    quotient = k // (2 * LEVELS)
    if quotient == BY_Z:
        return x1 - x0
    if quotient == BY_ALPHA or quotient == BY_ALPHA_INWARD:
        return alpha1 - alpha0
    return beta1 - beta0


@scalar
def chained(by_z, by_alpha, by_beta, plan, s1):
    """Return derivatives by x, alpha, beta, loc, scale from those of the standard distribution."""
    if plan.in_s0 == s1:  # from a fixed point of one parameterisation to one of the other
        sign = 1.0 if plan.in_s0 else -1.0
        by_alpha += sign * plan.by_alpha * by_z
        by_beta += sign * plan.by_beta * by_z
    by_x = by_z / plan.scale
    return by_x, by_alpha, by_beta, -by_x, -(1.0 + plan.moved * by_z) / plan.scale


@scalar
def _better(both, inward):
    """Return the first (slope, uncertainty) pair unless the second is more certain."""
    return both[0] if both[1] <= inward[1] else inward[0]


# These take arrays, so each target compiles them for its own.


def _slope(table, start, quotient, plan):
    """Return the derivative from the pairs of values for a quotient, and its estimated error.

    The values are overwritten.
    """
    start += 2 * LEVELS * quotient
    _, inward = largest_step(quotient, plan)
    # At an end of its range a light tail may turn into a power law: there the density is nearly
    # linear in the parameter and its logarithm is not. Both have the same derivative at the end.
    linear = inward != 0.0 and table[start] > table[start + 1] > -np.inf
    for level in range(LEVELS):
        entry = start + 2 * level
        difference = table[entry] - table[entry + 1]
        if linear:
            difference = math.expm1(difference)
        table[start + level] = difference / width_of(2 * (LEVELS * quotient + level), plan)
    smallest = table[start + LEVELS - 1]
    if linear and abs(smallest) == np.inf:  # beyond the range of floats
        return smallest, 0.0
    # Next to an end two-sided steps are so short that chance agreement is mere rounding.
    rounding = ROUNDING / abs(width_of(2 * LEVELS * quotient, plan))
    ratio = 4.0 if inward == 0.0 else 2.0  # of errors: even powers of h alone, or all
    factor = ratio
    best, least = np.nan, np.inf
    for m in range(1, LEVELS):
        for level in range(LEVELS - m):
            rough, fine = table[start + level], table[start + level + 1]
            better = fine + (fine - rough) / (factor - 1.0)
            doubt = max(abs(better - fine), abs(better - rough))
            doubt = max(doubt, math.ldexp(rounding, level + m))
            if doubt < least:
                best, least = better, doubt
            table[start + level] = better
        factor *= ratio
    return best, least


def design_from(decorate):
    """Make `design_of(i, points, s1)`: the `design_steps` of point i.

    `points` holds arrays of x, alpha, beta, loc and scale, of one element or as many as the points.
    """
    entry = decorate(value_for_point)

    def design_of(i, points, s1):
        x, alpha, beta, loc, scale = points
        return design_steps(
            entry(x, i), entry(alpha, i), entry(beta, i), entry(loc, i), entry(scale, i), s1
        )

    return decorate(design_of)


def gradient_from(decorate):
    """Make `gradient(table, start, plan, s1)`: all five derivatives from the values of log pdf."""
    slope = decorate(_slope)

    def gradient(table, start, plan, s1):
        by_z, _ = slope(table, start, BY_Z, plan)
        both = slope(table, start, BY_ALPHA, plan)
        by_alpha = _better(both, slope(table, start, BY_ALPHA_INWARD, plan))
        both = slope(table, start, BY_BETA, plan)
        by_beta = _better(both, slope(table, start, BY_BETA_INWARD, plan))
        return chained(by_z, by_alpha, by_beta, plan, s1)

    return decorate(gradient)
