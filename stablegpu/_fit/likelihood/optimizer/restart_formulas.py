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
from stablegpu._fit.likelihood.optimizer import codes
from stablegpu._fit.likelihood.optimizer.state import (
    CANDIDATE_COUNT,
    MAX_EVALUATIONS,
    copy_point,
    gain_tolerance,
    has_wrong_location,
    is_bounded,
    is_free,
    location_of,
    moves_location,
    set_location,
    try_point,
    upper_bound,
)
from stablegpu._numerics.trigonometry_formulas import tan_half_pi

MOST_SCANS = 8  # not tuned
MOST_TRIES = 3  # the number of restarts that `next_restart` knows
LATEST = 7 * MAX_EVALUATIONS // 10  # no scan or restart begins after this many evaluations
NEXT_TO_TWO = 1.97  # alpha of the restarts that leave the normal distribution; not tuned
CENTRE = CANDIDATE_COUNT // 2  # the candidate at the observation after the location
BEFORE, AFTER = CENTRE - 3, CENTRE + 1  # candidates in the middles of the gaps on both sides
ASIDE = 3  # candidates up to so far from CENTRE are next to the location


@scalar_internal
def restart(state):
    """Begin an ascent at the current point, in the parameterization that suits its alpha."""
    current = state.current
    alpha, beta = current.parameters[0], current.parameters[1]
    to_s1 = not current.in_s1 and has_wrong_location(state)
    if has_wrong_location(state):
        shift = beta * tan_half_pi(alpha) * math.exp(current.parameters[3])
        location = location_of(state, current.parameters) + (-shift if to_s1 else shift)
        current.in_s1 = not current.in_s1
        set_location(state, location)
    current.loglik = -np.inf
    state.damping = 0.0
    state.phase = codes.FIRST
    try_point(state)
    if to_s1 and not is_bounded(state):
        _scan(state)


@scalar_internal
def _scan(state):
    """Begin a scan of candidates for the location.

    The caller, which has the data, chooses them and evaluates the likelihood at all of them at
    once.
    """
    state.phase = codes.SCANNING
    state.scans += 1
    try_point(state)


@scalar_internal
def after_scan(state, sums):
    """Return the action after a scan.

    It is a restart from the best candidate if that improves on the optimum, else the next restart.
    """
    for k in range(CANDIDATE_COUNT):
        state.candidate_logliks[k] = sums[k] if sums[k] < np.inf else -np.inf  # also NaN
    best = _best_apart(state, -CANDIDATE_COUNT)
    loglik = state.current.loglik
    if not state.candidate_logliks[best] > loglik + gain_tolerance(state) and loglik > -np.inf:
        return codes.NEXT_RESTART
    state.current.parameters[2] = state.candidates[best]
    return codes.RESTART


@scalar_internal
def _best_apart(state, least):
    """Return the index of the best candidate more than `least` positions from the location."""
    best = 0
    for k in range(CANDIDATE_COUNT):
        if abs(k - CENTRE) > least and state.candidate_logliks[k] > state.candidate_logliks[best]:
            best = k
    return best


@scalar_internal
def after_convergence(state):
    """Scan for a better location if this optimum improved on the best; else restart elsewhere."""
    if state.current.loglik > state.best.loglik + gain_tolerance(state):
        copy_point(state, state.current, state.best)
        state.tries = 0
        if (
            moves_location(state)
            and not is_bounded(state)
            and state.scans < MOST_SCANS
            and state.evaluations < LATEST
        ):
            _scan(state)
            return codes.EVALUATE
    return codes.NEXT_RESTART


@scalar_internal
def next_restart(state):
    """Move to the next restart point, or back to the best point once all restarts are used."""
    copy_point(state, state.best, state.current)
    state.tries += 1
    parameters, tries = state.current.parameters, state.tries
    if tries > MOST_TRIES or state.evaluations > LATEST:
        return codes.DIFFERENCES
    if moves_location(state) and not is_bounded(state):
        candidate = AFTER if tries == 1 else BEFORE
        if tries == MOST_TRIES:
            candidate = _best_apart(state, ASIDE)
        parameters[2] = state.candidates[candidate]
        return codes.RESTART
    at_two = is_free(state, 0) and is_free(state, 1) and parameters[0] >= upper_bound(0)
    if tries < MOST_TRIES and at_two:
        parameters[0], parameters[1] = NEXT_TO_TWO, 0.9 if tries == 1 else -0.9
        return codes.RESTART
    return codes.DIFFERENCES
