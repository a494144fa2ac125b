"""The state of an ascent, the bounds of its parameters, and the tolerance. For both targets.

The state is a record, so that a block of threads can share it. Its parameters are alpha, beta, the
location over the unit, and the logarithm of the scale over the unit. The location is that of S0,
which is smooth at alpha = 1; for small alpha it is that of S1, where the density has a spike that
other parameters must not move away from the data.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._fit.limits import ALPHA_RANGE, BETA_RANGE

CANDIDATE_COUNT = 25
"""Candidates for the location in a scan."""

SUMS = 25
"""Numbers that an evaluation returns: log-likelihood, gradient, and products of the scores (lower
triangle), 15 in all; or the log-likelihoods of all candidates of a scan."""

POINT = np.dtype(
    [
        ("parameters", np.float64, 4),
        ("loglik", np.float64),
        ("in_s1", np.bool_),  # whether the location is that of S1, not S0
        ("status", np.int64),
        ("gradient", np.float64, 4),  # of the log-likelihood
        ("matrix", np.float64, (4, 4)),  # approximation of the information in quasi-Newton steps
    ],
    align=True,
)
"""A point of the ascent and what is known there."""

STATE = np.dtype(
    [
        ("phase", np.int64),
        ("size", np.int64),  # 4, the number of parameters
        ("free", np.int64),  # a bit for each parameter that may move
        ("lowest_alpha", np.float64),  # of the data set, if alpha may move
        ("edge", np.float64),  # the datum nearest to the end that beta = 1 or -1 gives, in units
        ("evaluations", np.int64),  # of the likelihood so far
        ("scans", np.int64),  # so far
        ("tries", np.int64),  # restarts since the last improvement
        ("current", POINT),
        ("best", POINT),  # of the ascents so far
        ("trial", np.float64, 4),  # parameters at which the likelihood is evaluated next
        ("direction", np.float64, 4),  # the step
        ("predicted", np.float64),  # gain that the step to `trial` promises
        ("damping", np.float64),  # Levenberg's
        ("column", np.int64),  # column of the information that is measured now
        ("widths", np.float64, 4),  # steps of the differences; 0: at a bound, or fixed
        ("information", np.float64, (4, 4)),  # observed
        ("spare", np.float64, (4, 4)),  # a Cholesky factor, or vectors of an update
        ("candidates", np.float64, CANDIDATE_COUNT),  # locations of a scan
        ("candidate_logliks", np.float64, CANDIDATE_COUNT),
    ],
    align=True,
)

SMALLEST_LOG_SCALE = math.log(1e-8)
"""Least scale over the unit, which is McCulloch's scale: it keeps fits from spikes on data that are
nearly equal."""

MARGIN = 1e-9
"""Free parameters stay this far from their bounds, where derivatives are one-sided."""

TO_S1, TO_S0 = 0.45, 0.85
"""The location becomes that of S1 below the first alpha, and that of S0 above the second."""

TO_DISTANCE, FROM_DISTANCE = 0.8, 0.9
"""The same where the location of S1 is the end of the support: see `is_bounded`."""

NEAREST = 1e-12
"""Least distance of data from the end of the support at a start, in scales (rounding: 1e-13)."""

GAIN_TOLERANCE, RELATIVE = 1e-9, 3e-12
"""An ascent stops when a step promises a smaller gain of log-likelihood than the first number. The
second, times the log-likelihood, is added for rounding."""

MAX_GAIN_TOLERANCE = 0.01
"""Upper bound of that tolerance. One outlier far away makes log-likelihoods of -1e12, where steps
promise gains of 1/2 at first."""

MAX_EVALUATIONS = 250
"""Evaluations of the likelihood after which an ascent is given up."""


@scalar_internal
def size_of(state):
    """Return the number of parameters (4).

    It is read from memory so that the compiler does not unroll loops.
    """
    return state.size


@scalar_internal
def is_free(state, k):
    """Return whether parameter k may move."""
    return (state.free >> k) & 1 != 0


@scalar_internal
def lower_bound(state, k):
    """Return the lower bound of parameter k of the fit."""
    if k == 3:
        return SMALLEST_LOG_SCALE
    return state.lowest_alpha if k == 0 else (BETA_RANGE[0] + MARGIN if k == 1 else -np.inf)


@scalar_internal
def upper_bound(k):
    """Return the upper bound of parameter k of the fit."""
    if k == 0:
        return ALPHA_RANGE[1] - MARGIN
    return BETA_RANGE[1] - MARGIN if k == 1 else np.inf


@scalar_internal
def gain_tolerance(state):
    """Return the smallest gain in log-likelihood that justifies another step."""
    return min(GAIN_TOLERANCE + RELATIVE * abs(state.current.loglik), MAX_GAIN_TOLERANCE)


@scalar_internal
def moves_location(state):
    """Return whether the location is that of S1 and free."""
    return state.current.in_s1 and is_free(state, 2)


@scalar_internal
def has_wrong_location(state):
    """Return whether the location is free and that of S0 for a small alpha, or that of S1 else."""
    alpha = state.current.parameters[0]
    is_half_line = abs(state.current.parameters[1]) == 1.0
    if state.current.in_s1:
        wrong = alpha > (FROM_DISTANCE if is_half_line else TO_S0)
    else:
        wrong = alpha < (TO_DISTANCE if is_half_line else TO_S1)
    return wrong and is_free(state, 2)


@scalar_internal
def is_bounded(state):
    """Return whether the location is free and the end of the support, with beta fixed at 1 or -1.

    All data lie beyond it, so the likelihood has no maxima between them. Instead of the location
    the third parameter is then the logarithm of its distance from the outermost datum.
    """
    return moves_location(state) and abs(state.current.parameters[1]) == 1.0


@scalar_internal
def location_of(state, parameters):
    """Return the location of the current or the trial parameters, in units."""
    if is_bounded(state):
        return state.edge - parameters[1] * math.exp(parameters[2])
    return parameters[2]


@scalar_internal
def location_rate(state, parameters):
    """Return the derivative of the location by the third parameter."""
    return -parameters[1] * math.exp(parameters[2]) if is_bounded(state) else 1.0


@scalar_internal
def set_location(state, location):
    """Set the third of the current parameters to a location, in units."""
    parameters = state.current.parameters
    if is_bounded(state):
        distance = parameters[1] * (state.edge - location)
        parameters[2] = math.log(max(distance, NEAREST * math.exp(parameters[3])))
    else:
        parameters[2] = location


@scalar_internal
def try_point(state):
    """Set the trial point to the current point."""
    for k in range(size_of(state)):
        state.trial[k] = state.current.parameters[k]


@scalar_internal
def copy_point(state, source, target):
    """Copy a point to another; `state` has the number of parameters."""
    target.loglik, target.in_s1, target.status = source.loglik, source.in_s1, source.status
    for i in range(size_of(state)):
        target.parameters[i], target.gradient[i] = source.parameters[i], source.gradient[i]
        for j in range(size_of(state)):
            target.matrix[i, j] = source.matrix[i, j]


@scalar_internal
def write_outcome(state, outcome):
    """Write what a fit returns."""
    current = state.current
    outcome.evaluations, outcome.status = state.evaluations, current.status
    outcome.in_s1, outcome.loglik = current.in_s1, current.loglik
    rate = location_rate(state, current.parameters)
    for i in range(size_of(state)):
        outcome.parameters[i], outcome.widths[i] = current.parameters[i], state.widths[i]
        outcome.gradient[i] = current.gradient[i]
        for j in range(size_of(state)):
            by_location = (rate if i == 2 else 1.0) * (rate if j == 2 else 1.0)
            outcome.information[i, j] = state.information[i, j] / by_location
    outcome.parameters[2] = location_of(state, current.parameters)
