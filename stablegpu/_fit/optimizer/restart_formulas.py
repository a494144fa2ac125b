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
def restart(m):
    """Begin at X, in the parameterisation that suits its alpha."""
    alpha, beta = m[X], m[X + 1]
    to_s1 = m[FREE + 2] > 0.0 and m[IN_S1] == 0.0 and alpha < TO_S1
    if to_s1 or (moves_location(m) and alpha > TO_S0):
        shift = beta * tan_half_pi(alpha) * math.exp(m[X + 3])
        m[X + 2] += -shift if to_s1 else shift
        m[IN_S1] = 1.0 - m[IN_S1]
    m[VALUE] = -np.inf
    m[DAMPING] = 0.0
    m[PHASE] = FIRST
    try_point(m)
    if to_s1:
        _scan(m)


@scalar_internal
def _scan(m):
    """Try candidates for the location, all at once; the caller, who has the data, names them."""
    m[PHASE] = SCANNING
    m[SCANS] += 1.0
    try_point(m)


@scalar_internal
def after_scan(m, sums):
    """Restart from the best candidate of a scan if it improves on the optimum, or elsewhere."""
    for k in range(CANDIDATE_COUNT):
        m[CANDIDATE_VALUES + k] = sums[k] if sums[k] < np.inf else -np.inf  # NaN is none
    best = _best_apart(m, -CANDIDATE_COUNT)
    if not m[CANDIDATE_VALUES + best] > m[VALUE] + gain_tolerance(m) and m[VALUE] > -np.inf:
        return NEXT_RESTART
    m[X + 2] = m[CANDIDATES + best]
    return RESTART


@scalar_internal
def _best_apart(m, least):
    """Index of the best candidate of a scan more than `least` positions from the location."""
    best = 0
    for k in range(CANDIDATE_COUNT):
        if abs(k - CENTRE) > least and m[CANDIDATE_VALUES + k] > m[CANDIDATE_VALUES + best]:
            best = k
    return best


@scalar_internal
def after_convergence(m):
    """Scan for a better location if this optimum improved on the best; else restart elsewhere."""
    if m[VALUE] > m[BEST_VALUE] + gain_tolerance(m):
        for k in range(POINT_SIZE):
            m[BEST + k] = m[POINT + k]
        m[TRIES] = 0.0
        if moves_location(m) and m[SCANS] < MOST_SCANS and m[EVALUATIONS] < LATEST:
            _scan(m)
            return EVALUATE
    return NEXT_RESTART


@scalar_internal
def next_restart(m):
    """Move to the next restart point, or back to the best point once all restarts are used."""
    for k in range(POINT_SIZE):
        m[POINT + k] = m[BEST + k]
    m[TRIES] += 1.0
    tries = int(m[TRIES])
    if tries > MOST_TRIES or m[EVALUATIONS] > LATEST:
        return DIFFERENCES
    if moves_location(m):
        candidate = AFTER if tries == 1 else BEFORE
        if tries == MOST_TRIES:
            candidate = _best_apart(m, ASIDE)
        m[X + 2] = m[CANDIDATES + candidate]
        return RESTART
    at_two = m[FREE] > 0.0 and m[FREE + 1] > 0.0 and m[X] >= upper_bound(0)
    if tries < MOST_TRIES and at_two:
        m[X], m[X + 1] = NEXT_TO_TWO, 0.9 if tries == 1 else -0.9
        return RESTART
    return DIFFERENCES
