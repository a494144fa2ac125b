"""Products by the reflections of a stage on the CPU, one reflection after the other.

A thread works on some columns of the matrix at a time. Reflections of consecutive columns of the
stage are applied task by task, so that the rows that they share stay in the first-level cache.
"""

import numpy as np
from numba import prange

from hetero.arrays import Array
from hetero.jit import SUMS, parallel, scalar
from sbth._back.diamonds import Layout

_STRIP = 32
"""Columns that a thread works on at a time (32 and 64 take about the same time)."""

_GROUP = 16
"""Consecutive columns of the stage whose reflections are applied together (not tuned)."""


@scalar(fastmath=SUMS)
def _apply_reflection(v, tau, x, y):
    """Multiply the rows of x, those of v, by 1 - tau v v^T; v[0] counts as 1. `y` is scratch."""
    size, lanes = np.uint64(v.size), np.uint64(y.size)
    first = x[0]
    for j in range(lanes):
        y[j] = first[j]
    i = np.uint64(1)
    while i + np.uint64(3) < size:
        a, b, c, d = v[i], v[i + np.uint64(1)], v[i + np.uint64(2)], v[i + np.uint64(3)]
        xa, xb = x[i], x[i + np.uint64(1)]
        xc, xd = x[i + np.uint64(2)], x[i + np.uint64(3)]
        for j in range(lanes):
            y[j] += (a * xa[j] + b * xb[j]) + (c * xc[j] + d * xd[j])
        i += np.uint64(4)
    while i < size:
        a, xa = v[i], x[i]
        for j in range(lanes):
            y[j] += a * xa[j]
        i += np.uint64(1)
    for j in range(lanes):
        y[j] *= tau
        first[j] -= y[j]
    for k in range(np.uint64(1), size):
        a, xa = v[k], x[k]
        for j in range(lanes):
            xa[j] -= a * y[j]


@scalar
def _apply_group(vectors, before, after, start, stop, x, y, transposed):
    """Apply the reflections of the columns start, ..., stop - 1 of the stage to x."""
    n = x.shape[0]
    tasks = (n - start - after + before - 1) // before
    for t in range(tasks):
        k = tasks - 1 - t if transposed else t
        for i in range(stop - start):
            column = start + i if transposed else stop - 1 - i
            first = column + after + k * before
            last = min(first + before, n)
            if first < last and vectors[column, first] != 0.0:
                v = vectors[column, first:last]
                _apply_reflection(v, v[0], x[first:last], y)


@parallel
def _apply(vectors, before, after, columns, group, x, transposed):
    """Multiply x (n, m) by Q of a stage, or its transpose, in place."""
    m = x.shape[1]
    groups = (columns + group - 1) // group
    for piece in prange((m + _STRIP - 1) // _STRIP):
        left = np.int64(piece) * _STRIP
        right = min(left + _STRIP, m)
        strip, y = x[:, left:right].copy(), np.empty(right - left, x.dtype)
        for i in range(groups):
            start = (i if transposed else groups - 1 - i) * group
            stop = min(start + group, columns)
            _apply_group(vectors, before, after, start, stop, strip, y, transposed)
        x[:, left:right] = strip


def apply_reflections(vectors: Array, layout: Layout, x: Array, transposed: bool = False) -> None:
    """Multiply x (n, m) by Q of a stage, or its transpose, in place."""
    group = layout.after if layout.after > 1 else _GROUP
    _apply(vectors, layout.before, layout.after, layout.columns, group, x, transposed)
