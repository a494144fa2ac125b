"""Ascent of a log-likelihood in four parameters by its gradient, for both targets.

The optimizer is a state machine, and its state a record (`state.py`). `begin` initializes it. Then,
until the phase is `DONE`, the caller evaluates the likelihood at the trial point, and `advance`
processes the sums and sets the next trial point. Steps are computed in `quasi_newton_formulas.py`,
restarts are chosen in `restart_formulas.py`. At the optimum the information is observed by
differences of gradients, and gives a last step of Newton's method.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._density.tails.light_formulas import distance_in_thin_tail
from stablegpu._fit.likelihood.optimizer import codes
from stablegpu._fit.likelihood.optimizer.quasi_newton_formulas import (
    bfgs_update,
    bounded_step,
    free_mask,
    largest_step,
)
from stablegpu._fit.likelihood.optimizer.restart_formulas import (
    after_convergence,
    after_scan,
    next_restart,
    restart,
)
from stablegpu._fit.likelihood.optimizer.state import (
    MAX_EVALUATIONS,
    gain_tolerance,
    has_wrong_location,
    is_free,
    lower_bound,
    set_location,
    size_of,
    try_point,
    upper_bound,
)
from stablegpu._fit.records import LOC_IN_S1
from stablegpu._numerics.trigonometry_formulas import tan_half_pi

# Abandon a restart if even 20 times its predicted gain cannot reach the best value.
MAX_EXPECTED_GAIN = 20.0
LARGEST_LOSS = -1e8  # over the promised gain: beyond, BFGS would lose the matrix to rounding
DIFFERENCE = 0.02  # step in conditional standard errors: the information is then good to 1e-3


@scalar_internal
def begin(state, start, lowest, highest, count, free):
    """Set up the ascent of `count` data in [lowest, highest]; the memory of `state` is all zeros.

    `start` is a record `START`; `free` has a bit for every parameter that may move, and
    `LOC_IN_S1` if the location is that of S1.

    The scale of a normal distribution starts at least at a scale below that of the best-fitting
    one: far below it one outlier is so unlikely that nothing else counts, and the products of its
    scores say nothing about the curvature.
    """
    state.size = 4
    state.free = free & (LOC_IN_S1 - 1)
    state.lowest_alpha = start.lowest_alpha
    state.best.loglik = -np.inf
    current = state.current
    current.in_s1 = free & LOC_IN_S1 != 0
    for k in range(size_of(state)):
        value = start.parameters[k]
        if is_free(state, k):
            value = min(max(value, lower_bound(state, k)), upper_bound(k))
        current.parameters[k] = value
    if start.parameters[0] == 2.0 and not is_free(state, 0) and is_free(state, 3):
        least_scale = 0.5 * (highest - lowest) / math.sqrt(count) / start.unit_scale
        current.parameters[3] = max(current.parameters[3], math.log(least_scale))
    edge = lowest if current.parameters[1] > 0.0 else highest
    state.edge = (edge - start.unit_loc) / start.unit_scale
    if abs(current.parameters[1]) == 1.0 and start.parameters[0] < 2.0:
        _allow_data(state, count)
        set_location(state, current.parameters[2])
    restart(state)


@scalar_internal
def _allow_data(state, count):
    """Change a start that gives the data no likelihood, for beta fixed at 1 or -1.

    The distribution has an end (alpha < 1) or a tail that is thinner than a normal one. If the
    outermost datum on that side is too far out, it becomes the quantile at 1/(2 count): the scale
    grows while the location of S0 stays, or if it is fixed the location moves, or if both are fixed
    alpha becomes 1, where the support has no end.
    """
    current = state.current
    parameters = current.parameters
    beta, scale = parameters[1], math.exp(parameters[3])
    farthest, share = distance_in_thin_tail(math.log(2.0 * count), parameters[0])
    to_s1 = tan_half_pi(parameters[0]) if current.in_s1 else 0.0
    distance = beta * (parameters[2] - state.edge) + to_s1 * scale  # from the location of S0
    if current.in_s1 and not is_free(state, 2):
        margin = to_s1 * scale - distance
        if is_free(state, 3) and margin > 0.0:
            parameters[3] = math.log(min(scale, margin / (to_s1 * share)))
    elif distance > farthest * scale:
        if is_free(state, 3):
            parameters[3] = math.log(distance / farthest)
            parameters[2] += beta * to_s1 * (scale - distance / farthest)
        elif is_free(state, 2):
            parameters[2] += beta * (farthest * scale - distance)
        elif is_free(state, 0):
            parameters[0] = max(parameters[0], 1.0)


@scalar_internal
def accept_trial(state, sums):
    """Accept the trial point as the current point."""
    current = state.current
    current.loglik = sums[0]
    for k in range(size_of(state)):
        current.parameters[k] = state.trial[k]
        current.gradient[k] = sums[1 + k]


@scalar_internal
def _propose(state, gain):
    """Set the next trial point of the search, or return the action that follows the search."""
    if gain < 0.0 and state.damping < 1e12:
        state.damping = max(10.0 * state.damping, 0.1)
        return codes.PROPOSE
    state.predicted = gain
    current = state.current
    if has_wrong_location(state) and state.evaluations < MAX_EVALUATIONS:
        return codes.RESTART
    if gain < gain_tolerance(state) or state.damping > 1e8:
        current.status = codes.CONVERGED if state.damping < 1e8 else codes.STUCK
        return codes.AFTER_CONVERGENCE
    if state.tries > 0 and current.loglik + MAX_EXPECTED_GAIN * gain < state.best.loglik:
        return codes.NEXT_RESTART
    if state.evaluations >= MAX_EVALUATIONS:
        current.status = codes.EXHAUSTED
        return codes.AFTER_CONVERGENCE
    for k in range(size_of(state)):
        value = current.parameters[k] + state.direction[k]
        if is_free(state, k):
            value = min(max(value, lower_bound(state, k)), upper_bound(k))
        state.trial[k] = value
    return codes.EVALUATE


@scalar_internal
def start_information(state):
    """Set up finite differences of the gradient, each towards the farther bound.

    Parameters at a bound are skipped.
    """
    state.phase = codes.INFORM
    state.column = -1
    moves = free_mask(state)
    for k in range(size_of(state)):
        width = 0.0
        if (moves >> k) & 1:
            width = DIFFERENCE / math.sqrt(max(state.current.matrix[k, k], 1e-300))
            value = state.current.parameters[k]
            below, above = value - lower_bound(state, k), upper_bound(k) - value
            width = min(width, 0.1 * largest_step(state, k), 0.5 * max(below, above))
            width = width if above >= below else -width
        state.widths[k] = width
        for j in range(size_of(state)):
            state.information[k, j] = 0.0


@scalar_internal
def _next_column(state):
    """Set the next trial point of the finite differences; after the last, symmetrize the matrix."""
    column, widths, information = state.column + 1, state.widths, state.information
    while column < 4 and widths[column] == 0.0:
        column += 1
    state.column = column
    try_point(state)
    if column < 4:
        state.trial[column] += widths[column]
        return codes.EVALUATE
    for i in range(size_of(state)):
        if widths[i] == 0.0:
            information[i, i] = 1.0
        for j in range(i):
            mean = 0.5 * (information[i, j] + information[j, i])
            if widths[i] == 0.0 or widths[j] == 0.0:
                mean = 0.0
            information[i, j] = information[j, i] = mean
    return codes.LAST


@scalar_internal
def final_newton_step(state, gain):
    """Take a last Newton step by the observed information, unless it is not positive definite."""
    state.phase = codes.POLISH if gain >= 0.0 else codes.DONE
    for k in range(size_of(state)):
        state.trial[k] = state.current.parameters[k] + state.direction[k]
    return codes.EVALUATE


@scalar_internal
def _search(state, sums, is_finite):
    """Accept a step of the search if it gains anything, and adapt the damping."""
    gain = sums[0] - state.current.loglik
    ratio = gain / state.predicted if is_finite else -np.inf
    if ratio > LARGEST_LOSS:
        bfgs_update(state, sums)
    if is_finite and gain > 0.0:
        accept_trial(state, sums)
        if ratio < 0.25:
            state.damping = max(2.0 * state.damping, 0.25)
        elif ratio > 0.6:
            state.damping = 0.2 * state.damping if state.damping > 0.05 else 0.0
    else:
        state.damping = max(6.0 * state.damping, 1.0)


@scalar_internal
def process_evaluation(state, sums):
    """Process one evaluation of the likelihood and return the next action."""
    current, phase = state.current, state.phase
    is_finite = -np.inf < sums[0] < np.inf
    for k in range(size_of(state)):
        is_finite = is_finite and abs(sums[1 + k]) < np.inf
    if phase == codes.FIRST:
        if not is_finite and state.best.loglik > -np.inf:
            return codes.NEXT_RESTART
        if not is_finite:
            current.status, state.phase = codes.IMPOSSIBLE, codes.DONE
            return codes.EVALUATE
        accept_trial(state, sums)
        if state.free == 0:
            state.phase = codes.DONE
            return codes.EVALUATE
        for i in range(size_of(state)):
            for j in range(i + 1):
                product = sums[5 + i * (i + 1) // 2 + j]
                current.matrix[i, j] = current.matrix[j, i] = product
        state.phase = codes.SEARCH
        return codes.PROPOSE
    if phase == codes.SEARCH:
        _search(state, sums, is_finite)
        return codes.PROPOSE
    if phase == codes.INFORM:
        column = state.column
        for k in range(size_of(state)):
            fall = current.gradient[k] - sums[1 + k]
            state.information[column, k] = fall / state.widths[column]
        return codes.COLUMNS
    if phase == codes.POLISH:
        if is_finite and sums[0] >= current.loglik - gain_tolerance(state):
            accept_trial(state, sums)
        state.phase = codes.DONE
        return codes.EVALUATE
    return after_scan(state, sums)


@scalar_internal
def advance(state, sums):
    """Process one evaluation of the likelihood and set the next trial point."""
    state.evaluations += 1
    next_ = process_evaluation(state, sums)
    while next_ != codes.EVALUATE:
        if next_ == codes.PROPOSE or next_ == codes.LAST:
            last = next_ == codes.LAST
            matrix = state.information if last else state.current.matrix
            gain = bounded_step(state, matrix, 0.0 if last else state.damping)
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
