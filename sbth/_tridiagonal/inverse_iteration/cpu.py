"""Inverse iteration on the CPU: vectors that share a thread share its vector units."""

import numpy as np
from numba import prange

from hetero.jit import parallel, scalar
from sbth._tridiagonal.inverse_iteration.formulas import (
    backward_step,
    delayed_factor,
    first_random,
    forward_step,
    make_elimination,
    next_random,
    random_element,
)
from sbth._tridiagonal.inverse_iteration.layout import Factors

_LANES = 16
"""Vectors of a group: enough to hide the latency of the recurrences (not tuned)."""


@scalar
def _quotient(a, b):
    return a / b


_eliminate = make_elimination(scalar, _quotient)


def allocate(n, m, stream=0):
    """Return memory for the factors of m matrices of order n, and for vectors (n, m)."""
    floats = np.empty((4, n, m))
    return Factors(*floats, np.empty((n, m), np.int8), np.empty((3, m))), np.empty((n, m))


@scalar
def _columns(group, m):
    """Return the vectors of a group."""
    return slice(np.int64(group) * _LANES, min((np.int64(group) + 1) * _LANES, m))


@parallel
def _factor(matrix, smallest, factors):
    """Factor T - x for each shift x."""
    n, m = factors.reciprocal.shape
    for group in prange((m + _LANES - 1) // _LANES):
        columns = _columns(group, m)
        x = matrix.shifts[columns]
        a, b = matrix.diagonal[0] - x, np.full(x.size, matrix.below[0])
        for i in range(n):
            below, diagonal, above = matrix.below[i], matrix.diagonal[i + 1], matrix.below[i + 1]
            reciprocal, first = factors.reciprocal[i, columns], factors.first[i, columns]
            second, multiplier = factors.second[i, columns], factors.multiplier[i, columns]
            swapped = factors.swapped[i, columns]
            for k in range(np.uint64(x.size)):
                row = _eliminate(a[k], b[k], below, diagonal - x[k], above, smallest)
                reciprocal[k], first[k], second[k], multiplier[k], swapped[k], a[k], b[k] = row


def factor(matrix, smallest, factors, stream=0):
    """Factor T - x for each shift x."""
    _factor(matrix, smallest, factors)


@scalar
def _eliminate_vectors(factors, vectors, columns):
    """Replace the vectors of a group by L^-1 P^-1 times themselves."""
    n = len(vectors)
    carry = vectors[0, columns].copy()
    for i in range(n - 1):
        x, following = vectors[i, columns], vectors[i + 1, columns]
        multiplier, swapped = factors.multiplier[i, columns], factors.swapped[i, columns]
        for k in range(np.uint64(carry.size)):
            x[k], carry[k] = forward_step(carry[k], following[k], multiplier[k], swapped[k])
    vectors[n - 1, columns] = carry


@scalar
def _substitute_vectors(factors, vectors, columns, is_first):
    """Replace the vectors of a group by U^-1 D^-1 times themselves, or times random ones."""
    n = len(vectors)
    marks = factors.marks[:, columns]
    size = marks.shape[1]
    y1, y2, scale, largest = np.zeros(size), np.zeros(size), np.ones(size), np.zeros(size)
    marks[1:] = n
    last, previous = marks[1], marks[2]
    random = np.empty(size, np.int64)
    for k in range(size):
        random[k] = first_random(columns.start + k)
    for i in range(n - 1, -1, -1):
        x, reciprocal = vectors[i, columns], factors.reciprocal[i, columns]
        first, second = factors.first[i, columns], factors.second[i, columns]
        if is_first:
            for k in range(np.uint64(size)):
                random[k] = next_random(random[k])
                x[k] = random_element(random[k])
        for k in range(np.uint64(size)):
            state = y1[k], y2[k], scale[k], largest[k]
            state, has_grown = backward_step(x[k], reciprocal[k], first[k], second[k], state)
            y1[k], y2[k], scale[k], largest[k] = state
            x[k] = y1[k]
            previous[k] = last[k] if has_grown else previous[k]
            last[k] = i if has_grown else last[k]
    marks[0] = 1.0 / largest
    for i in range(n):
        x = vectors[i, columns]
        for k in range(np.uint64(size)):
            x[k] *= delayed_factor(i, last[k], previous[k]) * marks[0, k]


@parallel
def _solve(factors, vectors, is_first):
    """Replace each vector y by (T - x)^-1 y, divided by its largest element."""
    m = vectors.shape[1]
    for group in prange((m + _LANES - 1) // _LANES):
        columns = _columns(group, m)
        if not is_first:
            _eliminate_vectors(factors, vectors, columns)
        _substitute_vectors(factors, vectors, columns, is_first)


def solve(factors, vectors, is_first, stream=0):
    """Replace each vector y by (T - x)^-1 y, divided by its largest element."""
    _solve(factors, vectors, is_first)
