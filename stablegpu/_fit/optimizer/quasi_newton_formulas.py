"""Steps of the ascent within bounds: the linear algebra of four parameters. For both targets.

Quasi-Newton steps with Levenberg's damping. The first matrix is the sum of the outer products of
the scores (Berndt, Hall, Hall, Hausman 1974), which estimates the information; BFGS corrects it.
alpha, beta and the scale have bounds: a step that crosses one ends there, and the others are solved
for again.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._fit.optimizer import slots
from stablegpu._fit.optimizer.state import lower_bound, size_of, upper_bound


@scalar_internal
def largest_step(state, k):
    """Return the largest step that parameter k may take.

    That of the location is 1.5 units, or 1.5 scales if the scale is larger than the unit.
    """
    if k == 2:
        return 1.5 * math.exp(max(state[slots.X + 3], 0.0))
    return 0.3 if k == 0 else (0.6 if k == 1 else 0.7)


@scalar_internal
def _is_active(state, k):
    """Return whether a parameter is at a bound and the gradient points outwards."""
    x, slope = state[slots.X + k], state[slots.GRADIENT + k]
    return (x <= lower_bound(state, k) and slope < 0.0) or (x >= upper_bound(k) and slope > 0.0)


@scalar_internal
def _solve(state, matrix, damping, moves):
    """Solve (matrix + damping) step = gradient; return whether the matrix is positive definite.

    The unknowns are the steps of the parameters whose bit is in `moves`, given those of the others.
    They are written to DIRECTION.
    """
    for i in range(size_of(state)):
        free_i = (moves >> i) & 1
        for j in range(i + 1):
            free_j = (moves >> j) & 1
            value = state[matrix + 4 * i + j] if free_i and free_j else 0.0
            if i == j:
                value = value * (1.0 + damping) if free_i else 1.0
            for n in range(j):
                value -= state[slots.SPARE + 4 * i + n] * state[slots.SPARE + 4 * j + n]
            if i == j:
                if free_i and not value > 1e-14 * abs(state[matrix + 5 * i]):
                    return False
                state[slots.SPARE + 5 * i] = math.sqrt(value)
            else:
                state[slots.SPARE + 4 * i + j] = value / state[slots.SPARE + 5 * j]
    for i in range(size_of(state)):
        if (moves >> i) & 1:
            value = state[slots.GRADIENT + i]
            for j in range(size_of(state)):
                if not (moves >> j) & 1:
                    value -= state[matrix + 4 * i + j] * state[slots.DIRECTION + j]
            for j in range(i):
                if (moves >> j) & 1:
                    value -= state[slots.SPARE + 4 * i + j] * state[slots.DIRECTION + j]
            state[slots.DIRECTION + i] = value / state[slots.SPARE + 5 * i]
    for i in range(size_of(state) - 1, -1, -1):
        if (moves >> i) & 1:
            value = state[slots.DIRECTION + i]
            for j in range(i + 1, 4):
                if (moves >> j) & 1:
                    value -= state[slots.SPARE + 4 * j + i] * state[slots.DIRECTION + j]
            state[slots.DIRECTION + i] = value / state[slots.SPARE + 5 * i]
    return True


@scalar_internal
def free_mask(state):
    """Return a bit mask of the parameters that are neither fixed nor held at a bound.

    beta is held if alpha was fixed at 2, since the normal distribution does not depend on it.
    """
    moves = 0
    for k in range(size_of(state)):
        idle = k == 1 and state[slots.X] == 2.0
        if state[slots.FREE + k] > 0.0 and not idle and not _is_active(state, k):
            moves |= 1 << k
    return moves


@scalar_internal
def bounded_step(state, matrix, damping):
    """Write a step within the bounds to DIRECTION; return the gain that it promises.

    The gain is -1 if the matrix is not positive definite.
    """
    moves = free_mask(state)
    for k in range(size_of(state)):
        state[slots.DIRECTION + k] = 0.0
    for _ in range(3):
        if not _solve(state, matrix, damping, moves):
            return -1.0
        crossed = False
        for k in range(size_of(state)):
            if (moves >> k) & 1:
                target = state[slots.X + k] + state[slots.DIRECTION + k]
                if not lower_bound(state, k) <= target <= upper_bound(k):
                    bound = (
                        lower_bound(state, k) if target < lower_bound(state, k) else upper_bound(k)
                    )
                    state[slots.DIRECTION + k] = bound - state[slots.X + k]
                    moves ^= 1 << k
                    crossed = True
        if not crossed:
            break
    shrink = 1.0
    for k in range(size_of(state)):
        size = abs(state[slots.DIRECTION + k])
        if size * shrink > largest_step(state, k):
            shrink = largest_step(state, k) / size
    gain = 0.0
    for i in range(size_of(state)):
        state[slots.DIRECTION + i] *= shrink
    for i in range(size_of(state)):
        pull = state[slots.GRADIENT + i]
        for j in range(size_of(state)):
            pull -= 0.5 * state[matrix + 4 * i + j] * state[slots.DIRECTION + j]
        gain += pull * state[slots.DIRECTION + i]
    return gain


@scalar_internal
def bfgs_update(state, sums):
    """Update the matrix by BFGS: it then maps the step to the fall of the gradient.

    Powell's damping keeps the matrix positive definite where the curvature is small or negative.
    """
    pulls, falls = slots.SPARE, slots.SPARE + 4  # 4 numbers each
    curvature = bend = 0.0
    for i in range(size_of(state)):
        step = state[slots.TRIAL + i] - state[slots.X + i]
        pull = 0.0
        for j in range(size_of(state)):
            pull += state[slots.MATRIX + 4 * i + j] * (state[slots.TRIAL + j] - state[slots.X + j])
        state[pulls + i] = pull
        fall = state[slots.GRADIENT + i] - sums[1 + i] if state[slots.FREE + i] > 0.0 else 0.0
        state[falls + i] = fall
        curvature += step * fall
        bend += step * pull
    if not bend > 0.0 or not curvature < np.inf:
        return
    if curvature < 0.1 * bend:  # Powell's damping
        share = 0.9 * bend / (bend - curvature)
        curvature = 0.0
        for i in range(size_of(state)):
            fall = share * state[falls + i] + (1.0 - share) * state[pulls + i]
            state[falls + i] = fall
            curvature += fall * (state[slots.TRIAL + i] - state[slots.X + i])
    for i in range(size_of(state)):
        for j in range(size_of(state)):
            gain = state[falls + i] * state[falls + j] / curvature
            state[slots.MATRIX + 4 * i + j] += gain - state[pulls + i] * state[pulls + j] / bend
