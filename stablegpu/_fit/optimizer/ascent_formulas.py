"""Ascent of a log-likelihood in four parameters by its gradient, for both targets.

The optimizer is a state machine, and its state an array of floats (`_fit/optimizer/slots.py`).
`begin` initializes it. Then, until the phase is `DONE`, the caller evaluates the likelihood at the
trial point, and `advance` processes the sums and sets the next trial point. Steps are computed in
`_fit/optimizer/quasi_newton_formulas.py`, restarts are chosen in
`_fit/optimizer/restart_formulas.py`. At the optimum the information is observed by differences of
gradients, and gives a last step of Newton's method.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._fit.optimizer import codes, slots
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
    MAX_EVALUATIONS,
    TO_S0,
    TO_S1,
    gain_tolerance,
    lower_bound,
    size_of,
    try_point,
    upper_bound,
)

# Abandon a restart if even 20 times its predicted gain cannot reach the best value.
MAX_EXPECTED_GAIN = 20.0
DIFFERENCE = 0.02  # step in conditional standard errors: the information is then good to 1e-3


@scalar_internal
def reach_of(lowest, highest, count):
    """Return a scale below that of the best-fitting normal distribution."""
    return 0.5 * (highest - lowest) / math.sqrt(count)


@scalar_internal
def begin(state, alpha, beta, loc, log_scale, lowest_alpha, free, reach):
    """Start from a point in S0; alpha stays above `lowest_alpha`.

    `free` has a bit for every parameter that may move, and `LOC_IN_S1` if `loc` is that of S1.

    `reach` is `reach_of` the data over the unit. The scale of a normal distribution starts at this
    value or above: far below it one outlier is so unlikely that nothing else counts, and the
    products of its scores say nothing about the curvature.
    """
    for k in range(slots.STATE):
        state[k] = 0.0
    state[slots.SIZE] = 4.0
    state[slots.BEST_VALUE] = -np.inf
    state[slots.LOWEST_ALPHA] = lowest_alpha
    state[slots.X], state[slots.X + 1] = alpha, beta
    state[slots.X + 2], state[slots.X + 3] = loc, log_scale
    for k in range(size_of(state)):
        state[slots.FREE + k] = float((free >> k) & 1)
        if state[slots.FREE + k] > 0.0:
            state[slots.X + k] = min(max(state[slots.X + k], lower_bound(state, k)), upper_bound(k))
    if alpha == 2.0 and state[slots.FREE] == 0.0 and state[slots.FREE + 3] > 0.0:
        state[slots.X + 3] = max(state[slots.X + 3], math.log(reach))
    state[slots.IN_S1] = float((free >> 4) & 1)
    restart(state)


@scalar_internal
def accept_trial(state, sums):
    """Accept the trial point as the current point."""
    state[slots.VALUE] = sums[0]
    for k in range(size_of(state)):
        state[slots.X + k] = state[slots.TRIAL + k]
        state[slots.GRADIENT + k] = sums[1 + k]


@scalar_internal
def _propose(state, gain):
    """Set the next trial point of the search, or return the action that follows the search."""
    if gain < 0.0 and state[slots.DAMPING] < 1e12:
        state[slots.DAMPING] = max(10.0 * state[slots.DAMPING], 0.1)
        return codes.PROPOSE
    state[slots.PREDICTED] = gain
    wrong = state[slots.X] < TO_S1 if state[slots.IN_S1] == 0.0 else state[slots.X] > TO_S0
    if wrong and state[slots.FREE + 2] > 0.0 and state[slots.EVALUATIONS] < MAX_EVALUATIONS:
        return codes.RESTART
    if gain < gain_tolerance(state) or state[slots.DAMPING] > 1e8:
        state[slots.STATUS] = codes.CONVERGED if state[slots.DAMPING] < 1e8 else codes.STUCK
        return codes.AFTER_CONVERGENCE
    if (
        state[slots.TRIES] > 0.0
        and state[slots.VALUE] + MAX_EXPECTED_GAIN * gain < state[slots.BEST_VALUE]
    ):
        return codes.NEXT_RESTART
    if state[slots.EVALUATIONS] >= MAX_EVALUATIONS:
        state[slots.STATUS] = codes.EXHAUSTED
        return codes.AFTER_CONVERGENCE
    for k in range(size_of(state)):
        state[slots.TRIAL + k] = state[slots.X + k] + state[slots.DIRECTION + k]
    for k in range(size_of(state)):
        if state[slots.FREE + k] > 0.0:
            state[slots.TRIAL + k] = min(
                max(state[slots.TRIAL + k], lower_bound(state, k)), upper_bound(k)
            )
    return codes.EVALUATE


@scalar_internal
def start_information(state):
    """Set up finite differences of the gradient, each towards the farther bound.

    Parameters at a bound are skipped.
    """
    state[slots.PHASE] = codes.INFORM
    state[slots.COLUMN] = -1.0
    moves = free_mask(state)
    for k in range(size_of(state)):
        width = 0.0
        if (moves >> k) & 1:
            width = DIFFERENCE / math.sqrt(max(state[slots.MATRIX + 5 * k], 1e-300))
            x = state[slots.X + k]
            below, above = x - lower_bound(state, k), upper_bound(k) - x
            width = min(width, 0.1 * largest_step(state, k), 0.5 * max(below, above))
            width = width if above >= below else -width
        state[slots.WIDTHS + k] = width
    for k in range(16):
        state[slots.INFORMATION + k] = 0.0


@scalar_internal
def _next_column(state):
    """Set the next trial point of the finite differences; after the last, symmetrize the matrix."""
    column = int(state[slots.COLUMN]) + 1
    while column < 4 and state[slots.WIDTHS + column] == 0.0:
        column += 1
    state[slots.COLUMN] = column
    try_point(state)
    if column < 4:
        state[slots.TRIAL + column] += state[slots.WIDTHS + column]
        return codes.EVALUATE
    matrix = slots.INFORMATION
    for i in range(size_of(state)):
        if state[slots.WIDTHS + i] == 0.0:
            state[matrix + 5 * i] = 1.0
        for j in range(i):
            mean = 0.5 * (state[matrix + 4 * i + j] + state[matrix + 4 * j + i])
            if state[slots.WIDTHS + i] == 0.0 or state[slots.WIDTHS + j] == 0.0:
                mean = 0.0
            state[matrix + 4 * i + j] = state[matrix + 4 * j + i] = mean
    return codes.LAST


@scalar_internal
def final_newton_step(state, gain):
    """Take a last Newton step by the observed information, unless it is not positive definite."""
    state[slots.PHASE] = codes.POLISH if gain >= 0.0 else codes.DONE
    for k in range(size_of(state)):
        state[slots.TRIAL + k] = state[slots.X + k] + state[slots.DIRECTION + k]
    return codes.EVALUATE


@scalar_internal
def _search(state, sums, fine):
    """Accept a step of the search if it gains anything, and adapt the damping."""
    gain = sums[0] - state[slots.VALUE]
    ratio = gain / state[slots.PREDICTED] if fine else -1.0
    if fine:
        bfgs_update(state, sums)
    if fine and gain > 0.0:
        accept_trial(state, sums)
        if ratio < 0.25:
            state[slots.DAMPING] = max(2.0 * state[slots.DAMPING], 0.25)
        elif ratio > 0.6:
            state[slots.DAMPING] = (
                0.2 * state[slots.DAMPING] if state[slots.DAMPING] > 0.05 else 0.0
            )
    else:
        state[slots.DAMPING] = max(6.0 * state[slots.DAMPING], 1.0)


@scalar_internal
def process_evaluation(state, sums):
    """Process one evaluation of the likelihood and return the next action."""
    fine = -np.inf < sums[0] < np.inf
    for k in range(size_of(state)):
        fine = fine and abs(sums[1 + k]) < np.inf
    phase = state[slots.PHASE]
    if phase == codes.FIRST:
        if not fine and state[slots.BEST_VALUE] > -np.inf:
            return codes.NEXT_RESTART
        if not fine:
            state[slots.STATUS], state[slots.PHASE] = codes.IMPOSSIBLE, codes.DONE
            return codes.EVALUATE
        accept_trial(state, sums)
        free = slots.FREE
        if state[free] + state[free + 1] + state[free + 2] + state[free + 3] == 0.0:
            state[slots.PHASE] = codes.DONE
            return codes.EVALUATE
        for i in range(size_of(state)):
            for j in range(i + 1):
                product = sums[5 + i * (i + 1) // 2 + j]
                state[slots.MATRIX + 4 * i + j] = state[slots.MATRIX + 4 * j + i] = product
        state[slots.PHASE] = codes.SEARCH
        return codes.PROPOSE
    if phase == codes.SEARCH:
        _search(state, sums, fine)
        return codes.PROPOSE
    if phase == codes.INFORM:
        k = int(state[slots.COLUMN])
        for j in range(size_of(state)):
            fall = state[slots.GRADIENT + j] - sums[1 + j]
            state[slots.INFORMATION + 4 * k + j] = fall / state[slots.WIDTHS + k]
        return codes.COLUMNS
    if phase == codes.POLISH:
        if fine and sums[0] >= state[slots.VALUE] - gain_tolerance(state):
            accept_trial(state, sums)
        state[slots.PHASE] = codes.DONE
        return codes.EVALUATE
    return after_scan(state, sums)


@scalar_internal
def advance(state, sums):
    """Process one evaluation of the likelihood and set the next trial point."""
    state[slots.EVALUATIONS] += 1.0
    next_ = process_evaluation(state, sums)
    while next_ != codes.EVALUATE:
        if next_ == codes.PROPOSE or next_ == codes.LAST:
            last = next_ == codes.LAST
            matrix = slots.INFORMATION if last else slots.MATRIX
            gain = bounded_step(state, matrix, 0.0 if last else state[slots.DAMPING])
            next_ = final_newton_step(state, gain) if last else _propose(state, gain)
        elif next_ == codes.AFTER_CONVERGENCE:
            next_ = after_convergence(state)
        elif next_ == codes.NEXT_RESTART:
            next_ = next_restart(state)
        elif next_ == codes.DIFFERENCES:
            start_information(state)
            next_ = codes.COLUMNS
        elif next_ == codes.COLUMNS:
            next_ = _next_column(state)
        else:  # RESTART
            restart(state)
            next_ = codes.EVALUATE
