"""Bulge chasing on the CPU: tasks in wavefronts over the threads, columns by vectors."""

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import SUMS, parallel, scalar, serial
from sbth._gpu.householder_formulas import reflection
from sbth._reduction.bulge_chasing.schedule_formulas import (
    block_extents,
    last_task,
    step_count,
    sweeps_in_step,
)


@scalar(fastmath=SUMS, boundscheck=False)
def _dot(a, x, start, count):
    """Return the dot product of `count` elements of a, and of x from `start` on."""
    total = a[0] - a[0]
    for i in range(np.uint64(count)):
        total += a[i] * x[np.uint64(start) + i]
    return total


@scalar(fastmath=SUMS)
def _dot_and_add(a, x, out, start, both, count, factor):
    """Return a . x over `both` elements, and add factor a to out over `count` elements.

    x and out are read from `start` on.
    """
    total = a[0] - a[0]
    for i in range(np.uint64(both)):
        j = np.uint64(start) + i
        total += a[i] * x[j]
        out[j] += factor * a[i]
    for i in range(np.uint64(both), np.uint64(count)):
        out[np.uint64(start) + i] += factor * a[i]
    return total


@scalar(fastmath=SUMS)
def _rank2_update(a, x, alpha, y, beta, start, count):
    """Subtract alpha x + beta y, from `start` on, from `count` elements of a."""
    for i in range(np.uint64(count)):
        j = np.uint64(start) + i
        a[i] -= alpha * x[j] + beta * y[j]


@scalar
def _first_reflection(work, s, m, v):
    """Eliminate column s; store the reflection in v and return its tau."""
    column = work[s]
    beta, tau, factor = reflection(column[1], _dot(column[2:], column[2:], 0, m - 1))
    v[0] = 1
    for i in range(1, m):
        v[i] = factor * column[1 + i]
        column[1 + i] = 0
    column[1] = beta
    return tau


@scalar
def apply_task(work, c0, m, rows, v, tau, u, w):
    """Apply the reflection (v, tau) to a block pair; replace v by the next one and return its tau.

    c0, m and rows are those of `block_extents`. `v`, `u` and `w` have 2 d elements, of which the
    first m belong to the rows of the diagonal block and the others to those below: `v` holds the
    reflection and y, `u` is scratch for x and y, and `w` for w and the next reflection.
    """
    both = m + rows
    for i in range(both):
        u[i] = 0
    # x = A v (from the lower triangle) and y = B v take one pass over the columns.
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
        _rank2_update(a, v, w[j], w, v[j], j, m - j)
        below = a[m - j :]
        z = tau_next * (_dot(below, w, m, rows) - vy * v[j])
        _rank2_update(below, v, v[j], w, z, m, rows)
    if rows > 0:
        column = work[c0]
        column[m] = beta
        for i in range(1, rows):
            column[m + i] = 0
    for i in range(rows):
        v[i] = w[m + i]
    return tau_next


@scalar
def _run_task(work, s, k, d, v, tau, scratch, reflectors):
    """Run task (s, k) with its sweep's reflection (v, tau); return the tau of the next one."""
    c0, m, rows = block_extents(s, k, work.shape[0], d)
    if k == 0:
        tau = _first_reflection(work, s, m, v)
    if reflectors.size > 0:
        reflectors[s, c0] = tau
        for i in range(1, m):
            reflectors[s, c0 + i] = v[i]
    return apply_task(work, c0, m, rows, v, tau, scratch[0], scratch[1])


_FIRST_PIECE = 1 << 24
"""Elements that the first piece of an interruptible loop reads, in 0.1 s at most."""


@serial
def _run_sweeps(work, d, begin, stop, reflectors):
    """Run the sweeps begin, ..., stop - 1, one after the other."""
    n = work.shape[0]
    v, scratch = np.zeros(2 * d, work.dtype), np.zeros((2, 2 * d), work.dtype)
    tau = v[0]
    for s in range(begin, stop):
        for k in range(last_task(s, n, d) + 1):
            tau = _run_task(work, s, k, d, v, tau, scratch, reflectors)


@parallel
def _run_wavefronts(work, d, begin, stop, vectors, scratch, taus, reflectors):
    """Run the wavefronts begin, ..., stop - 1.

    Every active sweep has a slot of `vectors` (slots, 2 d), `scratch` (slots, 2, 2 d) and `taus`.
    """
    n, slots = work.shape[0], taus.size
    for t in range(begin, stop):
        first, stop = sweeps_in_step(t, n, d)
        for index in prange(stop - first):
            s = first + np.int64(index)
            slot = s % slots
            k, v, tau = t - 2 * s, vectors[slot], taus[slot]
            taus[slot] = _run_task(work, s, k, d, v, tau, scratch[slot], reflectors)


def chase_bulges(work, d, method, in_flight, reflectors, stream=0):
    """Reduce a working matrix (n, 2 d) of bandwidth d >= 2 to tridiagonal form in place."""
    n = len(work)
    if method == "serial":
        # There is a sweep for each column but the last two.
        for i, j in ranges(n - 2, first=max(1, _FIRST_PIECE // (n * d))):
            _run_sweeps(work, d, i, j, reflectors)
        return
    slots = n // (2 * d) + 2
    vectors = np.zeros((slots, 2 * d), work.dtype)
    scratch, taus = np.zeros((slots, 2, 2 * d), work.dtype), np.zeros(slots, work.dtype)
    for i, j in ranges(step_count(n, d), first=max(1, _FIRST_PIECE // (2 * n * d))):
        _run_wavefronts(work, d, i, j, vectors, scratch, taus, reflectors)
