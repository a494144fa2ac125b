"""Sturm counts on the CPU: a vector of eigenvalues goes through the matrix at once."""

import numpy as np
from numba import prange

from hetero.jit import parallel, scalar, serial
from sbth._sturm_math import PASSES, is_narrow, narrowed, pivot, points

_LANES = 16  # eigenvalues at once


@scalar
def _counts(d, e2, tiny, x, q, counts):
    """Eigenvalues below each x."""
    for k in range(np.uint64(x.size)):
        q[k] = np.inf
        counts[k] = 0
    for i in range(np.uint64(d.size)):
        diagonal, square = d[i], e2[i]
        for k in range(np.uint64(x.size)):
            q[k] = pivot(q[k], diagonal, square, x[k], tiny)
            counts[k] += 1 if q[k] < 0.0 else 0


@parallel
def _bisect(d, e2, tiny, least, low, high, first, values):
    for group in prange((values.size + _LANES - 1) // _LANES):
        start = np.int64(group) * _LANES
        size = min(_LANES, values.size - start)
        x, q, counts = np.empty(3 * size), np.empty(3 * size), np.empty(3 * size, np.int64)
        a, b = np.full(size, low), np.full(size, high)
        for _ in range(PASSES):
            done = True
            for k in range(size):
                x[k], x[size + k], x[2 * size + k] = points(a[k], b[k])
                done = done and is_narrow(a[k], b[k], least)
            if done:
                break
            _counts(d, e2, tiny, x, q, counts)
            for k in range(size):
                p1, p2, p3 = x[k], x[size + k], x[2 * size + k]
                c1, c2, c3 = counts[k], counts[size + k], counts[2 * size + k]
                a[k], b[k] = narrowed(a[k], b[k], p1, p2, p3, c1, c2, c3, first + start + k)
        for k in range(size):
            values[start + k] = 0.5 * (a[k] + b[k])


@serial
def _below(d, e2, tiny, x, counts):
    q = np.empty(x.size)
    _counts(d, e2, tiny, x, q, counts)


def bisect(d, e2, tiny, least, low, high, first, values, stream=0):
    """Eigenvalues number `first`, `first` + 1, ... of those in (low, high], to `values`."""
    _bisect(d, e2, tiny, least, low, high, first, values)


def below(d, e2, tiny, x, counts, stream=0):
    """How many eigenvalues are below each x."""
    _below(d, e2, tiny, x, counts)
