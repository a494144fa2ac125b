"""Density and probabilities from the integrals, and in cases without an integral. For both targets.

y is the distance from zeta on one side, and z the standardized argument. low and high are the
probabilities below and above the point.
"""

import math

import numpy as np

from hetero.jit import scalar

FAR_FOR_ONE_TERM = 92.0  # log of y^alpha: the next term of the tail's series is e^-92 of the first
FAR_AT_ONE = 1e40  # there the next term is smaller by log(x)/x
BELOW_SUPPORT_AT_ONE = -1e6  # alpha = beta = 1: below -460 even the logarithms overflow
AT_ZETA = 1e-100  # closer to zeta the density and the distribution function do not change,
SMALL_ALPHA, AT_ZETA_OF_SMALL = 0.03, 1e-300  # but for small alpha, whose spike is narrower


@scalar
def compute_values(y, g_min, density, below, above, side):
    """Return pdf, low and high on this side from the three integrals."""
    decay = math.exp(-g_min) if g_min > 0.0 else 1.0
    front = side.front if side.alpha == 1.0 else side.front / y
    pdf = front * density * decay
    # The sum of two parts may round upwards.
    if side.g_increases_with_theta:
        return pdf, min((side.left_angle + below * decay) / math.pi, 1.0), min(above / math.pi, 1.0)
    return pdf, min((side.left_angle + above) / math.pi, 1.0), min(below * decay / math.pi, 1.0)


@scalar
def compute_logarithms(y, g_min, density, below, above, prob_below, prob_above, side):
    """Return log pdf, log low and log high, also where the values underflow."""
    front = side.front if side.alpha == 1.0 else side.front / y
    log_pdf = math.log(front) + math.log(density) - g_min
    log_below = math.log(below / math.pi) - g_min
    if side.g_increases_with_theta:
        log_prob_below, log_prob_above = (
            math.log(prob_below) if side.left_angle > 0.0 else log_below,
            math.log(prob_above),
        )
    else:
        log_prob_below, log_prob_above = math.log(prob_below), log_below
    # The logarithm of nearly one comes from its rest.
    if prob_below > 0.5:
        log_prob_below = math.log1p(-min(prob_above, 0.5))
    if prob_above > 0.5:
        log_prob_above = math.log1p(-min(prob_below, 0.5))
    return log_pdf, log_prob_below, log_prob_above


@scalar
def assemble(y, g_min, density, below, above, side):
    """Return pdf, low, high and their logarithms on this side from the three integrals."""
    pdf, prob_below, prob_above = compute_values(y, g_min, density, below, above, side)
    log_pdf, log_prob_below, log_prob_above = compute_logarithms(
        y, g_min, density, below, above, prob_below, prob_above, side
    )
    return pdf, prob_below, prob_above, log_pdf, log_prob_below, log_prob_above


@scalar
def evaluate_light_tail(y, log_g, side):
    """Return the values of `assemble` in a light tail so far out that only e^-g matters."""
    g = math.exp(log_g)
    front = side.front if side.alpha == 1.0 else side.front / y
    if side.g_increases_with_theta:
        prob_below = side.left_angle / math.pi
        log_prob_below = math.log(prob_below) if prob_below > 0.0 else -g
        return (
            0.0,
            prob_below,
            side.length / math.pi,
            math.log(front) - g,
            log_prob_below,
            math.log1p(-prob_below),
        )
    return 0.0, 1.0, 0.0, math.log(front) - g, 0.0, -g


@scalar
def add_logarithms(pdf, prob_below, prob_above):
    """Return the values and their logarithms, where nothing underflows."""
    return pdf, prob_below, prob_above, math.log(pdf), math.log(prob_below), math.log(prob_above)


@scalar
def standardize(x, frame, alpha):
    """Return y and z of the side that x is on, and whether it is the left one.

    Of y = z - zeta and z one is known to the last digit: that of the frame's parameterisation.
    """
    y = (x - frame.loc) / frame.scale
    z = y
    if frame.in_s0:
        y = (y - frame.offset) - frame.offset_low
    else:
        z += frame.offset
    mirrored = frame.flip if alpha == 1.0 else y < 0.0
    return (-y, -z, True) if mirrored else (y, z, False)


@scalar
def restore_side(result, mirrored, scale):
    """Return the six functions of x from those of the standard distribution on one side."""
    pdf, prob_below, prob_above, log_pdf, log_prob_below, log_prob_above = result
    pdf, log_pdf = pdf / scale, log_pdf - math.log(scale)
    if mirrored:
        return pdf, prob_above, prob_below, log_pdf, log_prob_above, log_prob_below
    return pdf, prob_below, prob_above, log_pdf, log_prob_below, log_prob_above


@scalar
def is_far(y, side):
    """Return whether the tail series may stop after one term."""
    if side.alpha == 1.0:
        if abs(y) < FAR_AT_ONE:
            return False
        return side.log_right > -np.inf if y > 0.0 else side.log_left > -np.inf
    return side.log_right > -np.inf and side.alpha * math.log(y) + side.log_cos > FAR_FOR_ONE_TERM


@scalar
def evaluate_far_tail(y, side):
    """Return the values of `assemble` where the tail is a power law."""
    log_y = math.log(abs(y))
    log_tail = (side.log_left if y < 0.0 else side.log_right) - side.alpha * log_y
    log_pdf = math.log(side.alpha) + log_tail - log_y
    tail = math.exp(log_tail)
    if y < 0.0:
        return math.exp(log_pdf), tail, 1.0, log_pdf, log_tail, -tail
    return math.exp(log_pdf), 1.0, tail, log_pdf, -tail, log_tail


@scalar
def is_at_zeta(y, side):
    """Return whether y is so small that the density and the probabilities are those at zeta."""
    return y < (AT_ZETA if side.alpha > SMALL_ALPHA else AT_ZETA_OF_SMALL)


@scalar
def is_trivial(z, y, side):
    """Return whether no integral is needed.

    That is at NaN, infinity and zeta itself, outside the support, where a light tail underflows,
    for Cauchy, and in far tails.

    y >= 0; for alpha = 1 the argument is z.
    """
    if side.alpha == 1.0:
        beyond = z < BELOW_SUPPORT_AT_ONE and side.log_left == -np.inf
        return side.beta == 0.0 or not abs(z) < np.inf or beyond or is_far(z, side)
    return is_at_zeta(y, side) or not y < np.inf or side.length <= 0.0 or is_far(y, side)


@scalar
def evaluate_trivial(z, y, side):
    """Return pdf, low and high with their logarithms where `is_trivial`."""
    if y != y:
        return add_logarithms(y, y, y)
    argument = z if side.alpha == 1.0 else y
    if abs(y) < np.inf:
        if side.alpha == 1.0 and side.beta == 0.0:
            return evaluate_cauchy(z)
        if side.alpha != 1.0 and is_at_zeta(y, side):
            prob_below, prob_above = side.left_angle / math.pi, side.length / math.pi
            return add_logarithms(side.peak, min(prob_below, 1.0), min(prob_above, 1.0))
        if side.length > 0.0 and is_far(argument, side):
            return evaluate_far_tail(argument, side)
    return add_logarithms(0.0, 1.0, 0.0) if argument > 0.0 else add_logarithms(0.0, 0.0, 1.0)


@scalar
def evaluate_cauchy(z):
    """Return the values of the distribution with alpha = 1, beta = 0, with their logarithms."""
    log_pdf = -math.log(math.pi) - 2.0 * math.log(math.hypot(1.0, z))
    prob_below, prob_above = math.atan2(1.0, -z) / math.pi, math.atan2(1.0, z) / math.pi
    log_prob_below = math.log(prob_below) if z < 0.0 else math.log1p(-prob_above)
    log_prob_above = math.log(prob_above) if z > 0.0 else math.log1p(-prob_below)
    return (
        math.exp(log_pdf) if abs(z) > 1e8 else 1.0 / (math.pi * (1.0 + z * z)),
        prob_below,
        prob_above,
        log_pdf,
        log_prob_below,
        log_prob_above,
    )
