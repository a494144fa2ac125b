"""Multi-start of the ascent: initial point, location scans and restarts. For both targets.

For small alpha the likelihood has local maxima at many of the observations, or between neighbouring
ones if |beta| is next to 1. A scan tries the observations around the densest spot first, and those
around the optimum and the middles between them at the end. Further ascents start from the gaps on
both sides of the optimum and from the best of the other candidates: with another alpha and beta a
location may be better although it is not at the present ones.

At alpha = 2 the likelihood does not depend on beta, so the gradient does not tell whether another
beta leads away from alpha = 2, and both signs are tried.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._density.pointwise.formulas import tan_half_pi
from stablegpu._fit.optimizer import codes, slots
from stablegpu._fit.optimizer.state import (
    MAX_EVALUATIONS,
    TO_S0,
    TO_S1,
    gain_tolerance,
    moves_location,
    try_point,
    upper_bound,
)

MOST_SCANS = 8  # not tuned
MOST_TRIES = 3  # the number of restarts that `next_restart` knows
LATEST = 0.7 * MAX_EVALUATIONS  # no scan or restart begins after this many evaluations
NEXT_TO_TWO = 1.97  # alpha of the restarts that leave the normal distribution; not tuned
CENTRE = slots.CANDIDATE_COUNT // 2  # the candidate at the observation after the location
BEFORE, AFTER = CENTRE - 3, CENTRE + 1  # candidates in the middles of the gaps on both sides
ASIDE = 3  # candidates up to so far from CENTRE are next to the location


@scalar_internal
def restart(state):
    """Begin an ascent at X, in the parameterization that suits its alpha."""
    alpha, beta = state[slots.X], state[slots.X + 1]
    to_s1 = state[slots.FREE + 2] > 0.0 and state[slots.IN_S1] == 0.0 and alpha < TO_S1
    if to_s1 or (moves_location(state) and alpha > TO_S0):
        shift = beta * tan_half_pi(alpha) * math.exp(state[slots.X + 3])
        state[slots.X + 2] += -shift if to_s1 else shift
        state[slots.IN_S1] = 1.0 - state[slots.IN_S1]
    state[slots.VALUE] = -np.inf
    state[slots.DAMPING] = 0.0
    state[slots.PHASE] = codes.FIRST
    try_point(state)
    if to_s1:
        _scan(state)


@scalar_internal
def _scan(state):
    """Begin a scan of candidates for the location.

    The caller, which has the data, chooses them and evaluates the likelihood at all of them at
    once.
    """
    state[slots.PHASE] = codes.SCANNING
    state[slots.SCANS] += 1.0
    try_point(state)


@scalar_internal
def after_scan(state, sums):
    """Return the action after a scan.

    It is a restart from the best candidate if that improves on the optimum, else the next restart.
    """
    for k in range(slots.CANDIDATE_COUNT):
        state[slots.CANDIDATE_VALUES + k] = sums[k] if sums[k] < np.inf else -np.inf  # also NaN
    best = _best_apart(state, -slots.CANDIDATE_COUNT)
    if (
        not state[slots.CANDIDATE_VALUES + best] > state[slots.VALUE] + gain_tolerance(state)
        and state[slots.VALUE] > -np.inf
    ):
        return codes.NEXT_RESTART
    state[slots.X + 2] = state[slots.CANDIDATES + best]
    return codes.RESTART


@scalar_internal
def _best_apart(state, least):
    """Return the index of the best candidate more than `least` positions from the location."""
    best = 0
    for k in range(slots.CANDIDATE_COUNT):
        if (
            abs(k - CENTRE) > least
            and state[slots.CANDIDATE_VALUES + k] > state[slots.CANDIDATE_VALUES + best]
        ):
            best = k
    return best


@scalar_internal
def after_convergence(state):
    """Scan for a better location if this optimum improved on the best; else restart elsewhere."""
    if state[slots.VALUE] > state[slots.BEST_VALUE] + gain_tolerance(state):
        for k in range(slots.POINT_SIZE):
            state[slots.BEST + k] = state[slots.POINT + k]
        state[slots.TRIES] = 0.0
        if (
            moves_location(state)
            and state[slots.SCANS] < MOST_SCANS
            and state[slots.EVALUATIONS] < LATEST
        ):
            _scan(state)
            return codes.EVALUATE
    return codes.NEXT_RESTART


@scalar_internal
def next_restart(state):
    """Move to the next restart point, or back to the best point once all restarts are used."""
    for k in range(slots.POINT_SIZE):
        state[slots.POINT + k] = state[slots.BEST + k]
    state[slots.TRIES] += 1.0
    tries = int(state[slots.TRIES])
    if tries > MOST_TRIES or state[slots.EVALUATIONS] > LATEST:
        return codes.DIFFERENCES
    if moves_location(state):
        candidate = AFTER if tries == 1 else BEFORE
        if tries == MOST_TRIES:
            candidate = _best_apart(state, ASIDE)
        state[slots.X + 2] = state[slots.CANDIDATES + candidate]
        return codes.RESTART
    at_two = (
        state[slots.FREE] > 0.0 and state[slots.FREE + 1] > 0.0 and state[slots.X] >= upper_bound(0)
    )
    if tries < MOST_TRIES and at_two:
        state[slots.X], state[slots.X + 1] = NEXT_TO_TWO, 0.9 if tries == 1 else -0.9
        return codes.RESTART
    return codes.DIFFERENCES
