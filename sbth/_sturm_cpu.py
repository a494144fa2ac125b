"""Sturm counts on the CPU: a vector of eigenvalues goes through the matrix at once."""

import numpy as np
from numba import prange

from hetero.interruptible import ranges
from hetero.jit import parallel, scalar
from sbth._sturm_math import PASSES, is_narrow, pivot_from, point, start

_LANES = 48  # points at once: enough for the vector units to divide without a pause

_FIRST = 1 << 26
"""Pivots in the first piece of a long loop (`hetero.interruptible`): 0.1 s at most."""


@scalar
def _quotient(a, b):
    return a / b


_pivot = pivot_from(scalar, _quotient)


@scalar
def _counts(d, e2, tiny, x, q, counts):
    """Eigenvalues below each x."""
    for k in range(np.uint64(x.size)):
        q[k] = 1.0
        counts[k] = 0
    for i in range(np.uint64(d.size)):
        diagonal, square = d[i], e2[i]
        for k in range(np.uint64(x.size)):
            q[k] = _pivot(q[k], diagonal, square, x[k], tiny)
            counts[k] += 1 if q[k] < 0.0 else 0


@parallel
def _below(d, e2, tiny, x, counts):
    for group in prange((x.size + _LANES - 1) // _LANES):
        here = slice(np.int64(group) * _LANES, min((np.int64(group) + 1) * _LANES, x.size))
        _counts(d, e2, tiny, x[here], np.empty(_LANES), counts[here])


@parallel
def _bisect(d, e2, tiny, least, low, high, shared, first, offset, values):
    """Eigenvalues number first + offset and on; `shared` counts for all from `first` on."""
    for group in prange((values.size + _LANES - 1) // _LANES):
        begin = np.int64(group) * _LANES
        size = min(_LANES, values.size - begin)
        x, q, counts = np.empty(size), np.empty(size), np.empty(size, np.int64)
        a, b = np.empty(size), np.empty(size)
        for k in range(size):
            a[k], b[k] = start(shared, low, high, first + offset + begin + k)
        for _ in range(PASSES):
            done = True
            for k in range(size):
                x[k] = point(a[k], b[k], 1, 2)
                done = done and is_narrow(a[k], b[k], least)
            if done:
                break
            _counts(d, e2, tiny, x, q, counts)
            for k in range(size):
                if counts[k] > first + offset + begin + k:
                    b[k] = x[k]
                else:
                    a[k] = x[k]
        for k in range(size):
            values[begin + k] = 0.5 * (a[k] + b[k])


def bisect(d, e2, tiny, least, low, high, first, values, stream=0):
    """Eigenvalues number `first`, `first` + 1, ... of those in (low, high], to `values`."""
    parts = values.size + 1
    x = np.array([point(low, high, i, parts) for i in range(1, parts)])
    shared = np.empty(x.size, np.int64)
    below(d, e2, tiny, x, shared)
    most = max(_LANES, _FIRST // (PASSES * d.size))
    for i, j in ranges(values.size, first=most, multiple=_LANES):
        _bisect(d, e2, tiny, least, low, high, shared, first, i, values[i:j])


def below(d, e2, tiny, x, counts, stream=0):
    """How many eigenvalues are below each x."""
    for i, j in ranges(x.size, first=max(_LANES, _FIRST // d.size), multiple=_LANES):
        _below(d, e2, tiny, x[i:j], counts[i:j])
