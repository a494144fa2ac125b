"""Parameters and covariances from the outcomes of ascents.

The host runs this, whichever the device is. Loops are compiled because a fit alone has a hundred
operations on a few numbers there, of which NumPy takes 1 to 5 us for each, and many at once wait
for them: LAPACK takes 2 us to invert a matrix of order 4. Exponentials, logarithms and tangents
stay with NumPy, which computes those of many sets with vector instructions.
"""

from __future__ import annotations

import math

import numpy as np

from hetero.jit import serial
from stablegpu._fit.likelihood.optimizer.state import SMALLEST_LOG_SCALE, TO_S1
from stablegpu._fit.limits import ALPHA_RANGE

LEAST_GAIN, RELATIVE_GAIN = 1e-8, 1e-11
"""Gain of log-likelihood for which an ascent begins again; the second number, times the
log-likelihood, is added for rounding."""

SMALLEST_CURVATURE = 1e-300

EPSILON = 2.0**-52

WIDE, NARROW = 1, 2
"""Kinds of spikes."""

MOST_SPACINGS = 1e5
"""Spacings of floating-point numbers in a narrow spike, at most: one spacing beside the best
location loses up to 1e-10 of log-likelihood then."""

FEW = 40
"""Observations up to which wide spikes are tried at others, too."""

SNAP = 1e-8
"""Distance from the end of a range within which a parameter is at that end."""


@serial
def write_parameters(outcomes, units, scale, log_scale, cotangent, to_s1, parameters, slope):
    """Write (sets, 4) parameters in S0 or S1, and their derivatives by those of the optimizer.

    `units` are those of location and scale, `scale` is that at the end of the ascents, and
    `cotangent` that of pi alpha/2.
    """
    for s in range(outcomes.size):
        outcome = outcomes[s]
        alpha, beta = outcome.parameters[0], outcome.parameters[1]
        if alpha > 2.0 - SNAP:
            alpha = 2.0
        if abs(beta) > 1.0 - SNAP:
            beta = np.sign(beta)
        for i in range(4):
            for j in range(4):
                slope[s, i, j] = 0.0
        slope[s, 0, 0] = slope[s, 1, 1] = 1.0
        slope[s, 2, 2], slope[s, 3, 3] = units[s, 1], scale[s]
        loc = units[s, 0] + units[s, 1] * outcome.parameters[2] + 0.0  # no negative zero
        if outcome.in_s1 != to_s1:
            # loc_S0 = loc_S1 + beta scale tan(pi alpha/2); log(scale) in its place at alpha = 1.
            sign = 1.0 if outcome.in_s1 else -1.0
            tangent = 0.0 if alpha == 2.0 else 1.0 / cotangent[s]
            shift = 2.0 / np.pi * log_scale[s] if alpha == 1.0 else tangent
            loc += sign * beta * scale[s] * shift
            slope[s, 2, 0] += sign * (beta * scale[s] * (0.5 * np.pi * (1.0 + tangent**2)))
            slope[s, 2, 1] += sign * (scale[s] * tangent)
            slope[s, 2, 3] += sign * (beta * scale[s] * tangent)
        parameters[s, 0], parameters[s, 1] = alpha, beta
        parameters[s, 2], parameters[s, 3] = loc, scale[s]


@serial
def invert_positive_definite(matrix, inverse):
    """Write the inverse of a symmetric matrix if all its pivots are positive; return if they are.

    The elimination by Gauss and Jordan overwrites the matrix.
    """
    size = matrix.shape[0]
    for i in range(size):
        for j in range(size):
            inverse[i, j] = 1.0 if i == j else 0.0
    for k in range(size):
        pivot = matrix[k, k]
        if not pivot > 0.0:
            return False
        reciprocal = 1.0 / pivot
        for i in range(size):
            if i != k:
                factor = reciprocal * matrix[i, k]
                for j in range(k + 1, size):
                    matrix[i, j] -= factor * matrix[k, j]
                for j in range(k + 1):
                    inverse[i, j] -= factor * inverse[k, j]
        for j in range(k + 1):
            inverse[k, j] *= reciprocal
        for j in range(k + 1, size):
            matrix[k, j] *= reciprocal
    return True


@serial
def _root_of_diagonal(matrix, i):
    """Return the square root of the size of a diagonal element, 1 if it is 0."""
    size = np.sqrt(abs(matrix[i, i]))
    return size if size > 0.0 else 1.0


@serial
def write_covariances(outcomes, slope, free, parameters, covariance, errors):
    """Write covariances (sets, 4, 4) and standard errors (sets, 4).

    They are NaN where the information is not positive definite or was not measured, 0 for
    parameters that are not `free`.
    """
    scaled, inverse, relative, half = (
        np.empty((4, 4)), np.empty((4, 4)), np.empty((4, 4)), np.empty((4, 4))
    )  # fmt: skip
    roots, unit = np.empty(4), np.ones(4)
    for s in range(outcomes.size):
        information, widths = outcomes[s].information, outcomes[s].widths
        scale, definite = parameters[s, 3], False
        unit[2], unit[3] = scale, scale
        for i in range(4):
            roots[i] = _root_of_diagonal(information, i)
            definite = definite or widths[i] != 0.0
        for i in range(4):
            for j in range(4):
                # With a diagonal of ones the matrix is as definite; its pivots do not overflow.
                scaled[i, j] = information[i, j] / (roots[i] * roots[j])
                definite = definite and np.isfinite(information[i, j])
                # Covariances with location and scale in units of the scale.
                relative[i, j] = slope[s, i, j] / unit[i]
        definite = definite and invert_positive_definite(scaled, inverse)
        if definite:
            for i in range(4):
                for j in range(4):
                    is_measured = widths[i] != 0.0 and widths[j] != 0.0
                    inverse[i, j] = inverse[i, j] / (roots[i] * roots[j]) if is_measured else 0.0
            _multiply(relative, inverse, half, False)
            _multiply(half, relative, inverse, True)
        for i in range(4):
            row_is_free = (free >> i) & 1
            for j in range(4):
                value = inverse[i, j] if definite else np.nan
                if not (row_is_free and (free >> j) & 1):
                    value = 0.0
                if (widths[i] == 0.0 and row_is_free) or (widths[j] == 0.0 and (free >> j) & 1):
                    value = np.nan
                if i == j:
                    errors[s, i] = unit[i] * np.sqrt(value)
                covariance[s, i, j] = unit[i] * value * unit[j]


@serial
def _multiply(a, b, product, transposed):
    """Write the product of two matrices of order 4, of which b may be `transposed`."""
    for i in range(4):
        for j in range(4):
            total = 0.0
            for k in range(4):
                total += a[i, k] * (b[j, k] if transposed else b[k, j])
            product[i, j] = total


@serial
def keep_better(outcomes, which, others):
    """Overwrite the outcomes of the sets `which` by `others` of a larger likelihood.

    A set may occur several times. The evaluations of its ascents are added up.
    """
    for k in range(which.size):
        s = which[k]
        evaluations, best = outcomes[s].evaluations + others[k].evaluations, outcomes[s].loglik
        if others[k].loglik > best or not np.isfinite(best):
            outcomes[s] = others[k]
        outcomes[s].evaluations = evaluations


@serial
def find_spikes(ends, units, sizes, kinds, widths):
    """Write the kinds of spikes: 0, WIDE or NARROW, and their widths; return if there are any.

    The width is the standard error of the location by an observation in the spike for beta = 0:
    f''(0)/f(0) = -gamma(3/alpha)/gamma(1/alpha).
    """
    any_found = False
    for s in range(ends.size):
        alpha, loc, log_scale = ends[s].parameters[0], ends[s].parameters[2], ends[s].parameters[3]
        log_width = 0.5 * (math.lgamma(1.0 / alpha) - math.lgamma(3.0 / alpha)) + log_scale
        widths[s], kinds[s] = units[s, 1] * math.exp(log_width), 0
        spacing = EPSILON * max(abs(units[s, 0]), abs(units[s, 1] * loc))
        if ends[s].in_s1 and widths[s] < MOST_SPACINGS * spacing:
            kinds[s] = NARROW
        elif ends[s].in_s1 and alpha < TO_S1 and sizes[s] <= FEW:
            kinds[s] = WIDE
        any_found = any_found or kinds[s] > 0
    return any_found


@serial
def find_unfinished(outcomes, free, unfinished):
    """Write which outcomes promise a gain along a free parameter away from bounds; return if any.

    The gain is that of a step of Newton's method in this parameter alone.
    """
    any_unfinished = False
    for s in range(outcomes.size):
        outcome = outcomes[s]
        gain = 0.0
        for k in range(4):
            if (free >> k) & 1 and outcome.widths[k] != 0.0:
                slope, curvature = outcome.gradient[k], abs(outcome.information[k, k])
                gain = max(gain, 0.5 * slope**2 / max(curvature, SMALLEST_CURVATURE))
        unfinished[s] = gain > LEAST_GAIN + RELATIVE_GAIN * abs(outcome.loglik)
        any_unfinished = any_unfinished or unfinished[s]
    return any_unfinished


@serial
def find_boundaries(parameters, outcomes, lowest, is_at):
    """Write whether alpha is `lowest` or 2, |beta| is 1, and the scale the least: (sets, 3)."""
    for s in range(len(parameters)):
        alpha, beta = parameters[s, 0], parameters[s, 1]
        is_at[s, 0] = alpha <= lowest[s] * (1.0 + SNAP) or alpha == ALPHA_RANGE[1]
        is_at[s, 1] = abs(beta) == 1.0
        is_at[s, 2] = outcomes[s].parameters[3] <= SMALLEST_LOG_SCALE + SNAP


def parameters_of(
    outcomes: np.ndarray, units: np.ndarray, parameterization: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return (sets, 4) parameters in S0 or S1, and their derivatives by those of the optimizer.

    The derivatives have the shape (sets, 4, 4).
    """
    ends = outcomes["parameters"]
    scale = units[:, 1] * np.exp(ends[:, 3])
    with np.errstate(divide="ignore"):
        log_scale = np.log(scale)
    cotangent = np.tan(0.5 * np.pi * (1.0 - ends[:, 0]))
    parameters, slope = np.empty((len(units), 4)), np.empty((len(units), 4, 4))
    in_s1 = parameterization == "S1"
    write_parameters(outcomes, units, scale, log_scale, cotangent, in_s1, parameters, slope)
    return parameters, slope


def covariances_of(
    outcomes: np.ndarray, slope: np.ndarray, parameters: np.ndarray, free: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (sets, 4, 4) covariances and (sets, 4) standard errors.

    They are NaN at boundaries and where there is no maximum, 0 for fixed parameters. Standard
    errors are not roots of the covariances: squares of scales may leave the range of floats.
    """
    covariance, errors = np.empty_like(slope), np.empty((len(slope), 4))
    write_covariances(outcomes, slope, free, parameters, covariance, errors)
    return covariance, errors


def at_boundary(parameters: np.ndarray, outcomes: np.ndarray, lowest: np.ndarray) -> np.ndarray:
    """Return (sets, 3): whether alpha is `lowest` or 2, |beta| is 1, and the scale the least."""
    is_at = np.empty((len(lowest), 3), bool)
    find_boundaries(parameters, outcomes, lowest, is_at)
    return is_at
