"""Bisection by Sturm counts on the CPU, for a vector of points at once."""

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, scalar, serial
from sbth._tridiagonal.bisection.formulas import (
    MAX_PASSES,
    division_point,
    has_converged,
    initial_interval,
    make_pivot,
)

_LANES = 48
"""Points that are counted together: enough to hide the latency of divisions."""

_FIRST_PIECE = 1 << 26
"""Pivots that the first piece of an interruptible loop computes, in 0.1 s at most."""


@scalar
def _quotient(a, b):
    return a / b


_pivot = make_pivot(scalar, _quotient)


@scalar
def _count(d, e2, tiny, x, q, counts):
    """Count the eigenvalues below each x; `q` is scratch for the pivots."""
    for k in range(np.uint64(x.size)):
        q[k] = 1.0
        counts[k] = 0
    for i in range(np.uint64(d.size)):
        diagonal, square = d[i], e2[i]
        for k in range(np.uint64(x.size)):
            q[k] = _pivot(q[k], diagonal, square, x[k], tiny)
            counts[k] += 1 if q[k] < 0.0 else 0


@parallel
def _count_below(d, e2, tiny, x, counts):
    """Count the eigenvalues below each x."""
    for group in prange((x.size + _LANES - 1) // _LANES):
        lanes = slice(np.int64(group) * _LANES, min((np.int64(group) + 1) * _LANES, x.size))
        _count(d, e2, tiny, x[lanes], np.empty(_LANES), counts[lanes])


@parallel
def _bisect(d, e2, limits, shared, first, values):
    """Compute the eigenvalues number first, first + 1, ...

    `shared` holds counts at equidistant points between low and high.
    """
    tiny, tolerance, low, high = limits
    for group in prange((values.size + _LANES - 1) // _LANES):
        begin = np.int64(group) * _LANES
        size = min(_LANES, values.size - begin)
        x, q, counts = np.empty(size), np.empty(size), np.empty(size, np.int64)
        a, b = np.empty(size), np.empty(size)
        for k in range(size):
            a[k], b[k] = initial_interval(shared, low, high, first + begin + k)
        for _ in range(MAX_PASSES):
            finished = True
            for k in range(size):
                x[k] = division_point(a[k], b[k], 1, 2)
                finished = finished and has_converged(a[k], b[k], tolerance)
            if finished:
                break
            _count(d, e2, tiny, x, q, counts)
            for k in range(size):
                if counts[k] > first + begin + k:
                    b[k] = x[k]
                else:
                    a[k] = x[k]
        for k in range(size):
            values[begin + k] = 0.5 * (a[k] + b[k])


@serial
def _divide(low, high, x):
    """Store equidistant points between low and high."""
    for i in range(x.size):
        x[i] = division_point(low, high, i + 1, x.size + 1)


def bisect(d, e2, limits, first, values, stream=0):
    """Store the eigenvalues number first, first + 1, ... in `values`."""
    tiny, _, low, high = limits
    x, shared = np.empty(values.size), np.empty(values.size, np.int64)
    _divide(low, high, x)
    count_below(d, e2, tiny, x, shared)
    piece = max(_LANES, _FIRST_PIECE // (MAX_PASSES * d.size))
    for i, j in ranges(values.size, first=piece, multiple=_LANES):
        _bisect(d, e2, limits, shared, first + i, values[i:j])


def count_below(d, e2, tiny, x, counts, stream=0):
    """Count the eigenvalues below each x, into `counts` (int64)."""
    for i, j in ranges(x.size, first=max(_LANES, _FIRST_PIECE // d.size), multiple=_LANES):
        _count_below(d, e2, tiny, x[i:j], counts[i:j])
