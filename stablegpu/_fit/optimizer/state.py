"""The state of an ascent: an array of floats, and what its parameters may do. For both targets.

Parameters: alpha, beta, location over the unit, logarithm of scale over the unit. The location is
that of S0, which is smooth at alpha = 1; for small alpha it is that of S1, where the density has a
spike that other parameters must not move away from the data.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._fit.limits import ALPHA_RANGE, BETA_RANGE

SMALLEST_LOG_SCALE = math.log(1e-8)  # over the unit, McCulloch's scale: no spike on equal data
MARGIN = 1e-9  # free parameters stay this far from their bounds, where derivatives are one-sided
TO_S1, TO_S0 = 0.45, 0.85  # alpha below or above which the location becomes that of the other
GAIN_TOLERANCE = 1e-9  # stop when a step promises less log-likelihood than this,
RELATIVE = 3e-12  # plus this multiple of the log-likelihood, for its rounding
# One outlier far away makes log-likelihoods of -1e12, where steps promise gains of 1/2 at first.
MAX_GAIN_TOLERANCE = 0.01
MAX_EVALUATIONS = 250  # evaluations
# Log-likelihood, gradient, outer products of the scores (lower triangle), 15 in all; or the
# log-likelihoods of all candidates of a scan.
CANDIDATE_COUNT = SUMS = 25

# The numbers that a fit returns come first.
EVALUATIONS, WIDTHS, INFORMATION, STATUS, X, VALUE, IN_S1 = 0, 1, 5, 21, 22, 26, 27
RESULT = 28
GRADIENT, MATRIX = 28, 32
POINT, POINT_SIZE = STATUS, MATRIX + 16 - STATUS  # all that belongs to X
TRIAL, PREDICTED, DAMPING, PHASE, COLUMN = 48, 52, 53, 54, 55
FREE, SPARE, DIRECTION, SIZE = 56, 60, 76, 80
SCANS, TRIES = 81, 82  # scans, other starts
CANDIDATES, CANDIDATE_VALUES = 83, 83 + CANDIDATE_COUNT  # locations and their log-likelihoods
BEST = CANDIDATE_VALUES + CANDIDATE_COUNT  # the best point so far, in the order of `POINT`
BEST_X, BEST_VALUE = BEST + X - POINT, BEST + VALUE - POINT
LOWEST_ALPHA = BEST + POINT_SIZE  # the least alpha of the set, if it may move
STATE = LOWEST_ALPHA + 1

LOC_IN_S1 = 16  # among the bits of what may move: a fixed location is that of S1
FIRST, SEARCH, INFORM, POLISH, SCANNING, DONE = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
CONVERGED, STUCK, EXHAUSTED, IMPOSSIBLE = 0.0, 1.0, 2.0, 3.0
# Actions of the optimizer.
EVALUATE, PROPOSE, AFTER_CONVERGENCE, NEXT_RESTART, DIFFERENCES, COLUMNS, LAST, RESTART = range(8)


@scalar_internal
def size_of(state):
    """Number of parameters (4), read from memory so that the compiler does not unroll the loops."""
    return int(state[SIZE])


@scalar_internal
def lower_bound(state, k):
    """Lower bound of parameter k of the fit."""
    if k == 3:
        return SMALLEST_LOG_SCALE
    return state[LOWEST_ALPHA] if k == 0 else (BETA_RANGE[0] + MARGIN if k == 1 else -np.inf)


@scalar_internal
def upper_bound(k):
    """Upper bound of parameter k of the fit."""
    if k == 0:
        return ALPHA_RANGE[1] - MARGIN
    return BETA_RANGE[1] - MARGIN if k == 1 else np.inf


@scalar_internal
def gain_tolerance(state):
    """Smallest gain in log-likelihood that justifies another step."""
    return min(GAIN_TOLERANCE + RELATIVE * abs(state[VALUE]), MAX_GAIN_TOLERANCE)


@scalar_internal
def moves_location(state):
    """Return whether the location is that of S1 and free."""
    return state[IN_S1] > 0.0 and state[FREE + 2] > 0.0


@scalar_internal
def try_point(state):
    """Set the trial point to the current point."""
    for k in range(size_of(state)):
        state[TRIAL + k] = state[X + k]
