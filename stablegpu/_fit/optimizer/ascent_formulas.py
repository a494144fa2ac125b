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
def begin(state, alpha, beta, loc, log_scale, lowest_alpha, free, reach):
    """Start from a point in S0; alpha stays above `lowest_alpha`. `free` has a bit for every
    parameter that may move, and another, `LOC_IN_S1`, where `loc` is that of S1.

    `reach`, `reach_of` the data over the unit, is where the scale of a normal distribution starts
    at least: far below, one outlier is so unlikely that nothing else counts, and its products of
    scores tell nothing of the curvature.
    """
    for k in range(STATE):
        state[k] = 0.0
    state[SIZE], state[BEST_VALUE], state[LOWEST_ALPHA] = 4.0, -np.inf, lowest_alpha
    state[X], state[X + 1], state[X + 2], state[X + 3] = alpha, beta, loc, log_scale
    for k in range(size_of(state)):
        state[FREE + k] = float((free >> k) & 1)
        if state[FREE + k] > 0.0:
            state[X + k] = min(max(state[X + k], lower_bound(state, k)), upper_bound(k))
    if alpha == 2.0 and state[FREE] == 0.0 and state[FREE + 3] > 0.0:
        state[X + 3] = max(state[X + 3], math.log(reach))
    state[IN_S1] = float((free >> 4) & 1)
    restart(state)


@scalar_internal
def accept_trial(state, sums):
    """Accept the trial point as the current point."""
    state[VALUE] = sums[0]
    for k in range(size_of(state)):
        state[X + k] = state[TRIAL + k]
        state[GRADIENT + k] = sums[1 + k]


@scalar_internal
def _propose(state, gain):
    """Set the next trial point of the search, or return the action that follows the search."""
    if gain < 0.0 and state[DAMPING] < 1e12:
        state[DAMPING] = max(10.0 * state[DAMPING], 0.1)
        return PROPOSE
    state[PREDICTED] = gain
    wrong = state[X] < TO_S1 if state[IN_S1] == 0.0 else state[X] > TO_S0
    if wrong and state[FREE + 2] > 0.0 and state[EVALUATIONS] < MAX_EVALUATIONS:
        return RESTART
    if gain < gain_tolerance(state) or state[DAMPING] > 1e8:
        state[STATUS] = CONVERGED if state[DAMPING] < 1e8 else STUCK
        return AFTER_CONVERGENCE
    if state[TRIES] > 0.0 and state[VALUE] + MAX_EXPECTED_GAIN * gain < state[BEST_VALUE]:
        return NEXT_RESTART
    if state[EVALUATIONS] >= MAX_EVALUATIONS:
        state[STATUS] = EXHAUSTED
        return AFTER_CONVERGENCE
    for k in range(size_of(state)):
        state[TRIAL + k] = state[X + k] + state[DIRECTION + k]
    for k in range(size_of(state)):
        if state[FREE + k] > 0.0:
            state[TRIAL + k] = min(max(state[TRIAL + k], lower_bound(state, k)), upper_bound(k))
    return EVALUATE


@scalar_internal
def start_information(state):
    """Set up finite differences of the gradient, each towards the farther bound; parameters at a
    bound are skipped."""
    state[PHASE] = INFORM
    state[COLUMN] = -1.0
    moves = free_mask(state)
    for k in range(size_of(state)):
        width = 0.0
        if (moves >> k) & 1:
            width = DIFFERENCE / math.sqrt(max(state[MATRIX + 5 * k], 1e-300))
            below, above = state[X + k] - lower_bound(state, k), upper_bound(k) - state[X + k]
            width = min(width, 0.1 * largest_step(state, k), 0.5 * max(below, above))
            width = width if above >= below else -width
        state[WIDTHS + k] = width
    for k in range(16):
        state[INFORMATION + k] = 0.0


@scalar_internal
def _next_column(state):
    """Set the next trial point of the finite differences; after the last, symmetrize the matrix."""
    column = int(state[COLUMN]) + 1
    while column < 4 and state[WIDTHS + column] == 0.0:
        column += 1
    state[COLUMN] = column
    try_point(state)
    if column < 4:
        state[TRIAL + column] += state[WIDTHS + column]
        return EVALUATE
    for i in range(size_of(state)):
        if state[WIDTHS + i] == 0.0:
            state[INFORMATION + 5 * i] = 1.0
        for j in range(i):
            mean = 0.5 * (state[INFORMATION + 4 * i + j] + state[INFORMATION + 4 * j + i])
            if state[WIDTHS + i] == 0.0 or state[WIDTHS + j] == 0.0:
                mean = 0.0
            state[INFORMATION + 4 * i + j] = state[INFORMATION + 4 * j + i] = mean
    return LAST


@scalar_internal
def final_newton_step(state, gain):
    """Take a last Newton step by the observed information, unless it is not positive definite."""
    state[PHASE] = POLISH if gain >= 0.0 else DONE
    for k in range(size_of(state)):
        state[TRIAL + k] = state[X + k] + state[DIRECTION + k]
    return EVALUATE


@scalar_internal
def _search(state, sums, fine):
    """Accept a step of the search if it gains anything, and adapt the damping."""
    gain = sums[0] - state[VALUE]
    ratio = gain / state[PREDICTED] if fine else -1.0
    if fine:
        bfgs_update(state, sums)
    if fine and gain > 0.0:
        accept_trial(state, sums)
        if ratio < 0.25:
            state[DAMPING] = max(2.0 * state[DAMPING], 0.25)
        elif ratio > 0.6:
            state[DAMPING] = 0.2 * state[DAMPING] if state[DAMPING] > 0.05 else 0.0
    else:
        state[DAMPING] = max(6.0 * state[DAMPING], 1.0)


@scalar_internal
def process_evaluation(state, sums):
    """Process one evaluation of the likelihood and return the next action."""
    fine = -np.inf < sums[0] < np.inf
    for k in range(size_of(state)):
        fine = fine and abs(sums[1 + k]) < np.inf
    phase = state[PHASE]
    if phase == FIRST:
        if not fine and state[BEST_VALUE] > -np.inf:
            return NEXT_RESTART
        if not fine:
            state[STATUS], state[PHASE] = IMPOSSIBLE, DONE
            return EVALUATE
        accept_trial(state, sums)
        if state[FREE] + state[FREE + 1] + state[FREE + 2] + state[FREE + 3] == 0.0:
            state[PHASE] = DONE
            return EVALUATE
        for i in range(size_of(state)):
            for j in range(i + 1):
                product = sums[5 + i * (i + 1) // 2 + j]
                state[MATRIX + 4 * i + j] = state[MATRIX + 4 * j + i] = product
        state[PHASE] = SEARCH
        return PROPOSE
    if phase == SEARCH:
        _search(state, sums, fine)
        return PROPOSE
    if phase == INFORM:
        k = int(state[COLUMN])
        for j in range(size_of(state)):
            state[INFORMATION + 4 * k + j] = (state[GRADIENT + j] - sums[1 + j]) / state[WIDTHS + k]
        return COLUMNS
    if phase == POLISH:
        if fine and sums[0] >= state[VALUE] - gain_tolerance(state):
            accept_trial(state, sums)
        state[PHASE] = DONE
        return EVALUATE
    return after_scan(state, sums)


@scalar_internal
def advance(state, sums):
    """Process one evaluation of the likelihood and set the next trial point."""
    state[EVALUATIONS] += 1.0
    next_ = process_evaluation(state, sums)
    while next_ != EVALUATE:
        if next_ == PROPOSE or next_ == LAST:
            last = next_ == LAST
            gain = bounded_step(
                state, INFORMATION if last else MATRIX, 0.0 if last else state[DAMPING]
            )
            next_ = final_newton_step(state, gain) if last else _propose(state, gain)
        elif next_ == AFTER_CONVERGENCE:
            next_ = after_convergence(state)
        elif next_ == NEXT_RESTART:
            next_ = next_restart(state)
        elif next_ == DIFFERENCES:
            start_information(state)
            next_ = COLUMNS
        elif next_ == COLUMNS:
            next_ = _next_column(state)
        else:  # RESTART
            restart(state)
            next_ = EVALUATE
