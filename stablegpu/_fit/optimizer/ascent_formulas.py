"""Ascent of a log-likelihood in four parameters by its gradient, for both targets.

A machine whose state is an array of floats (`_fit/optimizer/state.py`): `begin` sets it up, the
caller
evaluates the likelihood at the trial point in it, `advance` processes the sums and sets the next
trial point, until `DONE`. Steps are in `_fit/optimizer/quasi_newton_formulas.py`, other starts in
`_fit/optimizer/restart_formulas.py`.
At the optimum the information is observed by differences of gradients, and gives a last step of
Newton's method.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._fit.optimizer.quasi_newton_formulas import (
    bfgs_update,
    bounded_step,
    free_mask,
    largest_step,
)
from stablegpu._fit.optimizer.restart_formulas import (
    after_convergence,
    after_scan,
    next_restart,
    restart,
)
from stablegpu._fit.optimizer.state import (
    AFTER_CONVERGENCE,
    BEST_VALUE,
    COLUMN,
    COLUMNS,
    CONVERGED,
    DAMPING,
    DIFFERENCES,
    DIRECTION,
    DONE,
    EVALUATE,
    EVALUATIONS,
    EXHAUSTED,
    FIRST,
    FREE,
    GRADIENT,
    IMPOSSIBLE,
    IN_S1,
    INFORM,
    INFORMATION,
    LAST,
    LOWEST_ALPHA,
    MATRIX,
    MAX_EVALUATIONS,
    NEXT_RESTART,
    PHASE,
    POLISH,
    PREDICTED,
    PROPOSE,
    RESTART,
    SEARCH,
    SIZE,
    STATE,
    STATUS,
    STUCK,
    TO_S0,
    TO_S1,
    TRIAL,
    TRIES,
    VALUE,
    WIDTHS,
    X,
    gain_tolerance,
    lower_bound,
    size_of,
    try_point,
    upper_bound,
)

# Abandon a restart if even 20 times its predicted gain cannot reach the best value.
MAX_EXPECTED_GAIN = 20.0
DIFFERENCE = 0.02  # conditional standard errors: the information is then good to 1e-3


@scalar_internal
def reach_of(lowest, highest, count):
    """Return a scale below that of the best-fitting normal distribution."""
    return 0.5 * (highest - lowest) / math.sqrt(count)


@scalar_internal
def begin(m, alpha, beta, loc, log_scale, lowest_alpha, free, reach):
    """Start from a point in S0; alpha stays above `lowest_alpha`. `free` has a bit for every
    parameter that may move, and another, `LOC_IN_S1`, where `loc` is that of S1.

    `reach`, `reach_of` the data over the unit, is where the scale of a normal distribution starts
    at least: far below, one outlier is so unlikely that nothing else counts, and its products of
    scores tell nothing of the curvature.
    """
    for k in range(STATE):
        m[k] = 0.0
    m[SIZE], m[BEST_VALUE], m[LOWEST_ALPHA] = 4.0, -np.inf, lowest_alpha
    m[X], m[X + 1], m[X + 2], m[X + 3] = alpha, beta, loc, log_scale
    for k in range(size_of(m)):
        m[FREE + k] = float((free >> k) & 1)
        if m[FREE + k] > 0.0:
            m[X + k] = min(max(m[X + k], lower_bound(m, k)), upper_bound(k))
    if alpha == 2.0 and m[FREE] == 0.0 and m[FREE + 3] > 0.0:
        m[X + 3] = max(m[X + 3], math.log(reach))
    m[IN_S1] = float((free >> 4) & 1)
    restart(m)


@scalar_internal
def accept_trial(m, sums):
    """Accept the trial point as the current point."""
    m[VALUE] = sums[0]
    for k in range(size_of(m)):
        m[X + k] = m[TRIAL + k]
        m[GRADIENT + k] = sums[1 + k]


@scalar_internal
def _propose(m, gain):
    """Set the next trial point of the search, or return the action that follows the search."""
    if gain < 0.0 and m[DAMPING] < 1e12:
        m[DAMPING] = max(10.0 * m[DAMPING], 0.1)
        return PROPOSE
    m[PREDICTED] = gain
    wrong = m[X] < TO_S1 if m[IN_S1] == 0.0 else m[X] > TO_S0
    if wrong and m[FREE + 2] > 0.0 and m[EVALUATIONS] < MAX_EVALUATIONS:
        return RESTART
    if gain < gain_tolerance(m) or m[DAMPING] > 1e8:
        m[STATUS] = CONVERGED if m[DAMPING] < 1e8 else STUCK
        return AFTER_CONVERGENCE
    if m[TRIES] > 0.0 and m[VALUE] + MAX_EXPECTED_GAIN * gain < m[BEST_VALUE]:
        return NEXT_RESTART
    if m[EVALUATIONS] >= MAX_EVALUATIONS:
        m[STATUS] = EXHAUSTED
        return AFTER_CONVERGENCE
    for k in range(size_of(m)):
        m[TRIAL + k] = m[X + k] + m[DIRECTION + k]
    for k in range(size_of(m)):
        if m[FREE + k] > 0.0:
            m[TRIAL + k] = min(max(m[TRIAL + k], lower_bound(m, k)), upper_bound(k))
    return EVALUATE


@scalar_internal
def start_information(m):
    """Set up finite differences of the gradient, each towards the farther bound; parameters at a
    bound are skipped."""
    m[PHASE] = INFORM
    m[COLUMN] = -1.0
    moves = free_mask(m)
    for k in range(size_of(m)):
        width = 0.0
        if (moves >> k) & 1:
            width = DIFFERENCE / math.sqrt(max(m[MATRIX + 5 * k], 1e-300))
            below, above = m[X + k] - lower_bound(m, k), upper_bound(k) - m[X + k]
            width = min(width, 0.1 * largest_step(m, k), 0.5 * max(below, above))
            width = width if above >= below else -width
        m[WIDTHS + k] = width
    for k in range(16):
        m[INFORMATION + k] = 0.0


@scalar_internal
def _next_column(m):
    """Set the next trial point of the finite differences; after the last, symmetrize the matrix."""
    column = int(m[COLUMN]) + 1
    while column < 4 and m[WIDTHS + column] == 0.0:
        column += 1
    m[COLUMN] = column
    try_point(m)
    if column < 4:
        m[TRIAL + column] += m[WIDTHS + column]
        return EVALUATE
    for i in range(size_of(m)):
        if m[WIDTHS + i] == 0.0:
            m[INFORMATION + 5 * i] = 1.0
        for j in range(i):
            mean = 0.5 * (m[INFORMATION + 4 * i + j] + m[INFORMATION + 4 * j + i])
            if m[WIDTHS + i] == 0.0 or m[WIDTHS + j] == 0.0:
                mean = 0.0
            m[INFORMATION + 4 * i + j] = m[INFORMATION + 4 * j + i] = mean
    return LAST


@scalar_internal
def final_newton_step(m, gain):
    """Take a last Newton step by the observed information, unless it is not positive definite."""
    m[PHASE] = POLISH if gain >= 0.0 else DONE
    for k in range(size_of(m)):
        m[TRIAL + k] = m[X + k] + m[DIRECTION + k]
    return EVALUATE


@scalar_internal
def _search(m, sums, fine):
    """Accept a step of the search if it gains anything, and adapt the damping."""
    gain = sums[0] - m[VALUE]
    ratio = gain / m[PREDICTED] if fine else -1.0
    if fine:
        bfgs_update(m, sums)
    if fine and gain > 0.0:
        accept_trial(m, sums)
        if ratio < 0.25:
            m[DAMPING] = max(2.0 * m[DAMPING], 0.25)
        elif ratio > 0.6:
            m[DAMPING] = 0.2 * m[DAMPING] if m[DAMPING] > 0.05 else 0.0
    else:
        m[DAMPING] = max(6.0 * m[DAMPING], 1.0)


@scalar_internal
def process_evaluation(m, sums):
    """Process one evaluation of the likelihood and return the next action."""
    fine = -np.inf < sums[0] < np.inf
    for k in range(size_of(m)):
        fine = fine and abs(sums[1 + k]) < np.inf
    phase = m[PHASE]
    if phase == FIRST:
        if not fine and m[BEST_VALUE] > -np.inf:
            return NEXT_RESTART
        if not fine:
            m[STATUS], m[PHASE] = IMPOSSIBLE, DONE
            return EVALUATE
        accept_trial(m, sums)
        if m[FREE] + m[FREE + 1] + m[FREE + 2] + m[FREE + 3] == 0.0:
            m[PHASE] = DONE
            return EVALUATE
        for i in range(size_of(m)):
            for j in range(i + 1):
                product = sums[5 + i * (i + 1) // 2 + j]
                m[MATRIX + 4 * i + j] = m[MATRIX + 4 * j + i] = product
        m[PHASE] = SEARCH
        return PROPOSE
    if phase == SEARCH:
        _search(m, sums, fine)
        return PROPOSE
    if phase == INFORM:
        k = int(m[COLUMN])
        for j in range(size_of(m)):
            m[INFORMATION + 4 * k + j] = (m[GRADIENT + j] - sums[1 + j]) / m[WIDTHS + k]
        return COLUMNS
    if phase == POLISH:
        if fine and sums[0] >= m[VALUE] - gain_tolerance(m):
            accept_trial(m, sums)
        m[PHASE] = DONE
        return EVALUATE
    return after_scan(m, sums)


@scalar_internal
def advance(m, sums):
    """Process one evaluation of the likelihood and set the next trial point."""
    m[EVALUATIONS] += 1.0
    next_ = process_evaluation(m, sums)
    while next_ != EVALUATE:
        if next_ == PROPOSE or next_ == LAST:
            last = next_ == LAST
            gain = bounded_step(m, INFORMATION if last else MATRIX, 0.0 if last else m[DAMPING])
            next_ = final_newton_step(m, gain) if last else _propose(m, gain)
        elif next_ == AFTER_CONVERGENCE:
            next_ = after_convergence(m)
        elif next_ == NEXT_RESTART:
            next_ = next_restart(m)
        elif next_ == DIFFERENCES:
            start_information(m)
            next_ = COLUMNS
        elif next_ == COLUMNS:
            next_ = _next_column(m)
        else:  # RESTART
            restart(m)
            next_ = EVALUATE
