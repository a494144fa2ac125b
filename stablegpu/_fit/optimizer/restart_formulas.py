"""Multi-start of the ascent: initial point, location scans and restarts. For both targets.

For small alpha the likelihood has a maximum at many a datum, or between neighbouring data where
|beta| is next to 1. Data around the densest spot are tried first (a scan); those
around the optimum and the middles between them at the end. Then there are ascents from the gaps
beside it and from the best of the other candidates: what another alpha and beta make of a location
does not show at the present ones.

At alpha = 2 the likelihood does not depend on beta, so the gradient does not tell whether another
beta leads away from there: both signs are tried.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._density.pointwise.formulas import tan_half_pi
from stablegpu._fit.optimizer.state import (
    BEST,
    BEST_VALUE,
    CANDIDATE_COUNT,
    CANDIDATE_VALUES,
    CANDIDATES,
    DAMPING,
    DIFFERENCES,
    EVALUATE,
    EVALUATIONS,
    FIRST,
    FREE,
    IN_S1,
    MAX_EVALUATIONS,
    NEXT_RESTART,
    PHASE,
    POINT,
    POINT_SIZE,
    RESTART,
    SCANNING,
    SCANS,
    TO_S0,
    TO_S1,
    TRIES,
    VALUE,
    X,
    gain_tolerance,
    moves_location,
    try_point,
    upper_bound,
)

MOST_SCANS = 8
MOST_TRIES = 3
LATEST = 0.7 * MAX_EVALUATIONS  # no scan or restart begins after this many evaluations
NEXT_TO_TWO = 1.97  # alpha of the restarts that leave the normal distribution; not tuned
CENTRE = CANDIDATE_COUNT // 2  # the candidate that is the datum after the present location
BEFORE, AFTER = CENTRE - 3, CENTRE + 1  # the middles of the gaps beside that of the location
ASIDE = 3  # candidates around `HERE` that are as near


@scalar_internal
def restart(state):
    """Begin at X, in the parameterisation that suits its alpha."""
    alpha, beta = state[X], state[X + 1]
    to_s1 = state[FREE + 2] > 0.0 and state[IN_S1] == 0.0 and alpha < TO_S1
    if to_s1 or (moves_location(state) and alpha > TO_S0):
        shift = beta * tan_half_pi(alpha) * math.exp(state[X + 3])
        state[X + 2] += -shift if to_s1 else shift
        state[IN_S1] = 1.0 - state[IN_S1]
    state[VALUE] = -np.inf
    state[DAMPING] = 0.0
    state[PHASE] = FIRST
    try_point(state)
    if to_s1:
        _scan(state)


@scalar_internal
def _scan(state):
    """Try candidates for the location, all at once; the caller, who has the data, names them."""
    state[PHASE] = SCANNING
    state[SCANS] += 1.0
    try_point(state)


@scalar_internal
def after_scan(state, sums):
    """Restart from the best candidate of a scan if it improves on the optimum, or elsewhere."""
    for k in range(CANDIDATE_COUNT):
        state[CANDIDATE_VALUES + k] = sums[k] if sums[k] < np.inf else -np.inf  # NaN is none
    best = _best_apart(state, -CANDIDATE_COUNT)
    if (
        not state[CANDIDATE_VALUES + best] > state[VALUE] + gain_tolerance(state)
        and state[VALUE] > -np.inf
    ):
        return NEXT_RESTART
    state[X + 2] = state[CANDIDATES + best]
    return RESTART


@scalar_internal
def _best_apart(state, least):
    """Index of the best candidate of a scan more than `least` positions from the location."""
    best = 0
    for k in range(CANDIDATE_COUNT):
        if abs(k - CENTRE) > least and state[CANDIDATE_VALUES + k] > state[CANDIDATE_VALUES + best]:
            best = k
    return best


@scalar_internal
def after_convergence(state):
    """Scan for a better location if this optimum improved on the best; else restart elsewhere."""
    if state[VALUE] > state[BEST_VALUE] + gain_tolerance(state):
        for k in range(POINT_SIZE):
            state[BEST + k] = state[POINT + k]
        state[TRIES] = 0.0
        if moves_location(state) and state[SCANS] < MOST_SCANS and state[EVALUATIONS] < LATEST:
            _scan(state)
            return EVALUATE
    return NEXT_RESTART


@scalar_internal
def next_restart(state):
    """Move to the next restart point, or back to the best point once all restarts are used."""
    for k in range(POINT_SIZE):
        state[POINT + k] = state[BEST + k]
    state[TRIES] += 1.0
    tries = int(state[TRIES])
    if tries > MOST_TRIES or state[EVALUATIONS] > LATEST:
        return DIFFERENCES
    if moves_location(state):
        candidate = AFTER if tries == 1 else BEFORE
        if tries == MOST_TRIES:
            candidate = _best_apart(state, ASIDE)
        state[X + 2] = state[CANDIDATES + candidate]
        return RESTART
    at_two = state[FREE] > 0.0 and state[FREE + 1] > 0.0 and state[X] >= upper_bound(0)
    if tries < MOST_TRIES and at_two:
        state[X], state[X + 1] = NEXT_TO_TWO, 0.9 if tries == 1 else -0.9
        return RESTART
    return DIFFERENCES
