"""The state of an ascent: an array of floats, and what its parameters may do. For both targets.

Parameters: alpha, beta, location over the unit, logarithm of scale over the unit. The location is
that of S0, which is smooth at alpha = 1; for small alpha it is that of S1, where the density has a
spike that other parameters must not move away from the data.
"""

import math

import numpy as np

from hetero.jit import inner

SMALLEST_LOG_SCALE = math.log(1e-8)  # over the unit, McCulloch's scale: no spike on equal data
MARGIN = 1e-9  # from a bound of a parameter that may move: there derivatives are those beside it
TO_S1, TO_S0 = 0.45, 0.85  # alpha below or above which the location becomes that of the other
TOLERANCE = 1e-9  # gain of log-likelihood that is not worth a step, and relative to it: rounding
RELATIVE = 3e-12
# One outlier far away makes log-likelihoods of -1e12, where steps promise gains of 1/2 at first.
MOST_WORTH = 0.01
MOST = 250  # evaluations
# Log-likelihood, gradient, outer products of the scores (lower triangle), 15 in all; or the
# log-likelihoods at all places of a scan.
PLACES = SUMS = 25

# What is wanted of a fit comes first.
EVALUATIONS, WIDTHS, INFORMATION, STATUS, X, VALUE, IN_S1 = 0, 1, 5, 21, 22, 26, 27
RESULT = 28
GRADIENT, MATRIX = 28, 32
POINT, POINT_SIZE = STATUS, MATRIX + 16 - STATUS  # all that belongs to X
TRIAL, PREDICTED, DAMPING, PHASE, COLUMN = 48, 52, 53, 54, 55
FREE, SPARE, DIRECTION, SIZE = 56, 60, 76, 80
SCANS, TRIES = 81, 82  # scans, other starts
CANDIDATES, FOUND = 83, 83 + PLACES  # locations and their log-likelihoods
KEPT = FOUND + PLACES  # the best point so far, in the order of `POINT`
KEPT_X, KEPT_VALUE = KEPT + X - POINT, KEPT + VALUE - POINT
LOWEST_ALPHA = KEPT + POINT_SIZE  # the least alpha of the set, if it may move
STATE = LOWEST_ALPHA + 1

LOC_IN_S1 = 16  # among the bits of what may move: a fixed location is that of S1
FIRST, SEARCH, INFORM, POLISH, SCANNING, DONE = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
CONVERGED, STUCK, EXHAUSTED, IMPOSSIBLE = 0.0, 1.0, 2.0, 3.0
# What is to be done next.
EVALUATE, PROPOSE, SETTLED, ANOTHER, DIFFERENCES, COLUMNS, LAST, RESTART = range(8)


@inner
def size_of(m):
    """The number of parameters, 4, unknown to compilers: they would unroll every loop."""
    return int(m[SIZE])


@inner
def lower_bound(m, k):
    if k == 3:
        return SMALLEST_LOG_SCALE
    return m[LOWEST_ALPHA] if k == 0 else (MARGIN - 1.0 if k == 1 else -np.inf)


@inner
def upper_bound(k):
    return 2.0 - MARGIN if k == 0 else (1.0 - MARGIN if k == 1 else np.inf)


@inner
def worth(m):
    """The gain from which on a step is worth while."""
    return min(TOLERANCE + RELATIVE * abs(m[VALUE]), MOST_WORTH)


@inner
def moves_location(m):
    """Whether the location is that of S1 and may move."""
    return m[IN_S1] > 0.0 and m[FREE + 2] > 0.0


@inner
def try_point(m):
    """The trial point is the current one."""
    for k in range(size_of(m)):
        m[TRIAL + k] = m[X + k]
