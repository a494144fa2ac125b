"""Steps of the ascent within bounds: the linear algebra of four parameters. For both targets.

Quasi-Newton steps with Levenberg's damping. The first matrix is the sum of the outer products of
the scores (Berndt, Hall, Hall, Hausman 1974), which estimates the information; BFGS corrects it.
alpha, beta and the scale have bounds: a step that crosses one ends there, and the others are solved
for again.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._fit.optimizer.state import (
    DIRECTION,
    FREE,
    GRADIENT,
    MATRIX,
    SPARE,
    TRIAL,
    X,
    lower_bound,
    size_of,
    upper_bound,
)


@scalar_internal
def largest_step(m, k):
    """The largest step of a parameter; that of the location is 1.5 units, or 1.5 scales if the
    scale is larger than the unit."""
    if k == 2:
        return 1.5 * math.exp(max(m[X + 3], 0.0))
    return 0.3 if k == 0 else (0.6 if k == 1 else 0.7)


@scalar_internal
def _is_active(m, k):
    """Return whether a parameter is at a bound and the gradient points outwards."""
    x, slope = m[X + k], m[GRADIENT + k]
    return (x <= lower_bound(m, k) and slope < 0.0) or (x >= upper_bound(k) and slope > 0.0)


@scalar_internal
def _solve(m, matrix, damping, moves):
    """Step for (matrix + damping) step = gradient among the parameters whose bit is in `moves`,
    given the steps of the others; to DIRECTION. Whether the matrix is positive definite."""
    for i in range(size_of(m)):
        free_i = (moves >> i) & 1
        for j in range(i + 1):
            free_j = (moves >> j) & 1
            value = m[matrix + 4 * i + j] if free_i and free_j else 0.0
            if i == j:
                value = value * (1.0 + damping) if free_i else 1.0
            for n in range(j):
                value -= m[SPARE + 4 * i + n] * m[SPARE + 4 * j + n]
            if i == j:
                if free_i and not value > 1e-14 * abs(m[matrix + 5 * i]):
                    return False
                m[SPARE + 5 * i] = math.sqrt(value)
            else:
                m[SPARE + 4 * i + j] = value / m[SPARE + 5 * j]
    for i in range(size_of(m)):
        if (moves >> i) & 1:
            value = m[GRADIENT + i]
            for j in range(size_of(m)):
                if not (moves >> j) & 1:
                    value -= m[matrix + 4 * i + j] * m[DIRECTION + j]
            for j in range(i):
                if (moves >> j) & 1:
                    value -= m[SPARE + 4 * i + j] * m[DIRECTION + j]
            m[DIRECTION + i] = value / m[SPARE + 5 * i]
    for i in range(size_of(m) - 1, -1, -1):
        if (moves >> i) & 1:
            value = m[DIRECTION + i]
            for j in range(i + 1, 4):
                if (moves >> j) & 1:
                    value -= m[SPARE + 4 * j + i] * m[DIRECTION + j]
            m[DIRECTION + i] = value / m[SPARE + 5 * i]
    return True


@scalar_internal
def free_mask(m):
    """Bit mask of the parameters that are neither fixed nor held at a bound; beta is held where
    alpha was fixed at 2, since the normal distribution does not depend on it."""
    moves = 0
    for k in range(size_of(m)):
        idle = k == 1 and m[X] == 2.0
        if m[FREE + k] > 0.0 and not idle and not _is_active(m, k):
            moves |= 1 << k
    return moves


@scalar_internal
def bounded_step(m, matrix, damping):
    """Write a step within the bounds to DIRECTION; return the gain that it promises, or -1."""
    moves = free_mask(m)
    for k in range(size_of(m)):
        m[DIRECTION + k] = 0.0
    for _ in range(3):
        if not _solve(m, matrix, damping, moves):
            return -1.0
        crossed = False
        for k in range(size_of(m)):
            if (moves >> k) & 1:
                target = m[X + k] + m[DIRECTION + k]
                if not lower_bound(m, k) <= target <= upper_bound(k):
                    bound = lower_bound(m, k) if target < lower_bound(m, k) else upper_bound(k)
                    m[DIRECTION + k] = bound - m[X + k]
                    moves ^= 1 << k
                    crossed = True
        if not crossed:
            break
    shrink = 1.0
    for k in range(size_of(m)):
        size = abs(m[DIRECTION + k])
        if size * shrink > largest_step(m, k):
            shrink = largest_step(m, k) / size
    gain = 0.0
    for i in range(size_of(m)):
        m[DIRECTION + i] *= shrink
    for i in range(size_of(m)):
        pull = m[GRADIENT + i]
        for j in range(size_of(m)):
            pull -= 0.5 * m[matrix + 4 * i + j] * m[DIRECTION + j]
        gain += pull * m[DIRECTION + i]
    return gain


@scalar_internal
def bfgs_update(m, sums):
    """Update the matrix by BFGS, so that it maps the step to the fall of the gradient if it can."""
    curvature = bend = 0.0
    for i in range(size_of(m)):
        step = m[TRIAL + i] - m[X + i]
        pull = 0.0
        for j in range(size_of(m)):
            pull += m[MATRIX + 4 * i + j] * (m[TRIAL + j] - m[X + j])
        m[SPARE + i] = pull
        fall = m[GRADIENT + i] - sums[1 + i] if m[FREE + i] > 0.0 else 0.0
        m[SPARE + 4 + i] = fall
        curvature += step * fall
        bend += step * pull
    if not bend > 0.0 or not curvature < np.inf:
        return
    if curvature < 0.1 * bend:  # Powell's damping
        share = 0.9 * bend / (bend - curvature)
        curvature = 0.0
        for i in range(size_of(m)):
            fall = share * m[SPARE + 4 + i] + (1.0 - share) * m[SPARE + i]
            m[SPARE + 4 + i] = fall
            curvature += fall * (m[TRIAL + i] - m[X + i])
    for i in range(size_of(m)):
        for j in range(size_of(m)):
            gain = m[SPARE + 4 + i] * m[SPARE + 4 + j] / curvature
            m[MATRIX + 4 * i + j] += gain - m[SPARE + i] * m[SPARE + j] / bend
