"""The reduction on the CPU: tasks in wavefronts, columns vectorised."""

import numpy as np
from numba import prange

from hetero.interruptible import ranges
from hetero.jit import SUMS, parallel, scalar, serial
from sbth._order_math import extents, in_step, last_task, steps, sweeps
from sbth._reduction_math import reflection


@scalar(fastmath=SUMS, boundscheck=False)
def _dot(a, x, start, count):
    total = a[0] - a[0]
    for i in range(np.uint64(count)):
        total += a[i] * x[np.uint64(start) + i]
    return total


@scalar(fastmath=SUMS)
def _dot_and_add(a, x, out, start, both, count, factor):
    """a . x over `both` numbers, and out += factor a over `count`; x and out from `start` on."""
    total = a[0] - a[0]
    for i in range(np.uint64(both)):
        at = np.uint64(start) + i
        total += a[i] * x[at]
        out[at] += factor * a[i]
    for i in range(np.uint64(both), np.uint64(count)):
        out[np.uint64(start) + i] += factor * a[i]
    return total


@scalar(fastmath=SUMS)
def _subtract(a, x, alpha, y, beta, start, count):
    """a -= alpha x + beta y, x and y from `start` on."""
    for i in range(np.uint64(count)):
        at = np.uint64(start) + i
        a[i] -= alpha * x[at] + beta * y[at]


@scalar
def _first(work, s, m, v):
    """The reflection that eliminates column s, to v; its tau."""
    column = work[s]
    beta, tau, factor = reflection(column[1], _dot(column[2:], column[2:], 0, m - 1))
    v[0] = 1
    for i in range(1, m):
        v[i] = factor * column[1 + i]
        column[1 + i] = 0
    column[1] = beta
    return tau


@scalar
def task(work, c0, m, rows, v, tau, u, w):
    """Apply the reflection (v, tau) to a block pair; its successor replaces v, its tau is returned.

    `v` has the reflection, then y; `u` is scratch for x and y, `w` for w and the new reflection,
    each 2 d long: rows 0 <= i < m belong to the diagonal block, then come those below.
    """
    both = m + rows
    for i in range(both):
        u[i] = 0
    # x = A v from the lower triangle, y = B v: one pass over the columns.
    for j in range(m):
        a = work[c0 + j]
        u[j] += a[0] * v[j] + _dot_and_add(a[1:], v, u, j + 1, m - j - 1, both - j - 1, v[j])
    vx = _dot(v, u, 0, m)
    half = tau * vx / 2
    for i in range(m):
        w[i] = tau * (u[i] - half * v[i])
    for i in range(m, both):
        v[i] = tau * u[i]
    # The next reflection, from the first column of B (1 - tau v v^T).
    beta = tau_next = tau - tau
    if rows > 0:
        column = work[c0]
        for i in range(rows):
            w[m + i] = column[m + i] - v[m + i]
        beta, tau_next, factor = reflection(w[m], _dot(w[m + 1 :], w[m + 1 :], 0, rows - 1))
        w[m] = 1
        for i in range(m + 1, both):
            w[i] *= factor
    vy = _dot(w[m:], v[m:], 0, rows)
    for j in range(m):
        a = work[c0 + j]
        _subtract(a, v, w[j], w, v[j], j, m - j)
        below = a[m - j :]
        z = tau_next * (_dot(below, w, m, rows) - vy * v[j])
        _subtract(below, v, v[j], w, z, m, rows)
    if rows > 0:
        column = work[c0]
        column[m] = beta
        for i in range(1, rows):
            column[m + i] = 0
    for i in range(rows):
        v[i] = w[m + i]
    return tau_next


@scalar
def _run(work, s, k, n, d, v, tau, scratch, kept):
    """Task (s, k) with what its sweep carries along in v and tau."""
    c0, m, rows = extents(s, k, n, d)
    if k == 0:
        tau = _first(work, s, m, v)
    if kept.size > 0:
        kept[s, c0] = tau
        for i in range(1, m):
            kept[s, c0 + i] = v[i]
    return task(work, c0, m, rows, v, tau, scratch[0], scratch[1])


_FIRST = 1 << 24
"""Elements that the first piece of a long loop reads (`hetero.interruptible`): 0.1 s at most."""


@serial
def _serial(work, d, begin, stop, kept):
    """Sweeps number `begin` to `stop`, one after the other."""
    n = work.shape[0]
    v, scratch = np.zeros(2 * d, work.dtype), np.zeros((2, 2 * d), work.dtype)
    tau = v[0]
    for s in range(begin, stop):
        for k in range(last_task(s, n, d) + 1):
            tau = _run(work, s, k, n, d, v, tau, scratch, kept)


@parallel
def _wavefronts(work, d, begin, stop, reflections, scratch, taus, kept):
    """Wavefronts number `begin` to `stop`; the sweeps in flight keep theirs in the slots."""
    n, slots = work.shape[0], taus.size
    for t in range(begin, stop):
        first, stop = in_step(t, n, d)
        for index in prange(stop - first):
            s = first + np.int64(index)
            slot = s % slots
            k, carried, room = t - 2 * s, reflections[slot], scratch[slot]
            taus[slot] = _run(work, s, k, n, d, carried, taus[slot], room, kept)


def reduce(work, d, method, in_flight, kept, stream=0):
    """Reduce a working matrix of bandwidth d >= 2 in place.

    `kept` takes the reflections (sbth.reflections has the layout), or is empty.
    """
    n = len(work)
    if method == "serial":
        for i, j in ranges(sweeps(n), first=max(1, _FIRST // (n * d))):
            _serial(work, d, i, j, kept)
        return
    slots = n // (2 * d) + 2
    reflections = np.zeros((slots, 2 * d), work.dtype)
    scratch, taus = np.zeros((slots, 2, 2 * d), work.dtype), np.zeros(slots, work.dtype)
    for i, j in ranges(steps(n, d), first=max(1, _FIRST // (2 * n * d))):
        _wavefronts(work, d, i, j, reflections, scratch, taus, kept)
