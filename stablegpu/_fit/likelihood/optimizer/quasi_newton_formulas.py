"""Steps of the ascent within bounds: the linear algebra of four parameters. For both targets.

Quasi-Newton steps with Levenberg's damping. The first matrix is the sum of the outer products of
the scores (Berndt, Hall, Hall, Hausman 1974), which estimates the information; BFGS corrects it.
alpha, beta and the scale have bounds: a step that crosses one ends there, and the others are solved
for again.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._fit.likelihood.optimizer.state import (
    is_bounded,
    is_free,
    lower_bound,
    size_of,
    upper_bound,
)


@scalar_internal
def largest_step(state, k):
    """Return the largest step that parameter k may take.

    That of the location is 1.5 units, or 1.5 scales if the scale is larger than the unit; that of
    the logarithm of its distance from the data is 2.
    """
    if k == 2:
        if is_bounded(state):
            return 2.0
        return 1.5 * math.exp(max(state.current.parameters[3], 0.0))
    return 0.3 if k == 0 else (0.6 if k == 1 else 0.7)


@scalar_internal
def _is_active(state, k):
    """Return whether a parameter is at a bound and the gradient points outwards."""
    value, slope = state.current.parameters[k], state.current.gradient[k]
    return (value <= lower_bound(state, k) and slope < 0.0) or (
        value >= upper_bound(k) and slope > 0.0
    )


@scalar_internal
def _solve(state, matrix, damping, moves):
    """Solve (matrix + damping) step = gradient; return whether the matrix is positive definite.

    The unknowns are the steps of the parameters whose bit is in `moves`, given those of the others.
    They are written to `state.direction`.
    """
    factor, direction = state.spare, state.direction
    for i in range(size_of(state)):
        free_i = (moves >> i) & 1
        for j in range(i + 1):
            free_j = (moves >> j) & 1
            value = matrix[i, j] if free_i and free_j else 0.0
            if i == j:
                value = value * (1.0 + damping) if free_i else 1.0
            for n in range(j):
                value -= factor[i, n] * factor[j, n]
            if i == j:
                if free_i and not value > 1e-14 * abs(matrix[i, i]):
                    return False
                factor[i, i] = math.sqrt(value)
            else:
                factor[i, j] = value / factor[j, j]
    for i in range(size_of(state)):
        if (moves >> i) & 1:
            value = state.current.gradient[i]
            for j in range(size_of(state)):
                if not (moves >> j) & 1:
                    value -= matrix[i, j] * direction[j]
            for j in range(i):
                if (moves >> j) & 1:
                    value -= factor[i, j] * direction[j]
            direction[i] = value / factor[i, i]
    for i in range(size_of(state) - 1, -1, -1):
        if (moves >> i) & 1:
            value = direction[i]
            for j in range(i + 1, 4):
                if (moves >> j) & 1:
                    value -= factor[j, i] * direction[j]
            direction[i] = value / factor[i, i]
    return True


@scalar_internal
def free_mask(state):
    """Return a bit mask of the parameters that are neither fixed nor held at a bound.

    beta is held if alpha was fixed at 2, since the normal distribution does not depend on it.
    """
    moves = 0
    for k in range(size_of(state)):
        idle = k == 1 and state.current.parameters[0] == 2.0
        if is_free(state, k) and not idle and not _is_active(state, k):
            moves |= 1 << k
    return moves


@scalar_internal
def bounded_step(state, matrix, damping):
    """Write a step within the bounds to `state.direction`; return the gain that it promises.

    The gain is -1 if the matrix is not positive definite.
    """
    parameters, direction = state.current.parameters, state.direction
    moves = free_mask(state)
    for k in range(size_of(state)):
        direction[k] = 0.0
    for _ in range(3):
        if not _solve(state, matrix, damping, moves):
            return -1.0
        crossed = False
        for k in range(size_of(state)):
            if (moves >> k) & 1:
                target = parameters[k] + direction[k]
                if not lower_bound(state, k) <= target <= upper_bound(k):
                    bound = (
                        lower_bound(state, k) if target < lower_bound(state, k) else upper_bound(k)
                    )
                    direction[k] = bound - parameters[k]
                    moves ^= 1 << k
                    crossed = True
        if not crossed:
            break
    shrink = 1.0
    for k in range(size_of(state)):
        size = abs(direction[k])
        if size * shrink > largest_step(state, k):
            shrink = largest_step(state, k) / size
    gain = 0.0
    for i in range(size_of(state)):
        direction[i] *= shrink
    for i in range(size_of(state)):
        pull = state.current.gradient[i]
        for j in range(size_of(state)):
            pull -= 0.5 * matrix[i, j] * direction[j]
        gain += pull * direction[i]
    return gain


@scalar_internal
def bfgs_update(state, sums):
    """Update the matrix by BFGS: it then maps the step to the fall of the gradient.

    Powell's damping keeps the matrix positive definite where the curvature is small or negative.
    """
    current, trial = state.current, state.trial
    pulls, falls = state.spare[0], state.spare[1]
    curvature = bend = 0.0
    for i in range(size_of(state)):
        step = trial[i] - current.parameters[i]
        pull = 0.0
        for j in range(size_of(state)):
            pull += current.matrix[i, j] * (trial[j] - current.parameters[j])
        pulls[i] = pull
        fall = current.gradient[i] - sums[1 + i] if is_free(state, i) else 0.0
        falls[i] = fall
        curvature += step * fall
        bend += step * pull
    if not bend > 0.0 or not curvature < np.inf:
        return
    if curvature < 0.1 * bend:  # Powell's damping
        share = 0.9 * bend / (bend - curvature)
        curvature = 0.0
        for i in range(size_of(state)):
            fall = share * falls[i] + (1.0 - share) * pulls[i]
            falls[i] = fall
            curvature += fall * (trial[i] - current.parameters[i])
    for i in range(size_of(state)):
        for j in range(size_of(state)):
            gain = falls[i] * falls[j] / curvature
            current.matrix[i, j] += gain - pulls[i] * pulls[j] / bend
