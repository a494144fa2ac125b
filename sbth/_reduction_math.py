"""Order of the tasks, and the Householder transformation, for both targets.

Sweep s eliminates column s of the band; its task k applies a reflection to block pair k: the
diagonal block of columns c0 = s + 1 + k d ... and the block below it, whose first column gives the
reflection of task k + 1 (Lang 1993; thesis, algorithms 1 and 2, counted from 0 here). Task (s, k)
needs (s, k - 1) and, of the sweep before, everything up to block k + 1.
"""

import math

from hetero.jit import scalar


@scalar
def sweeps(n):
    """Columns that are eliminated."""
    return max(n - 2, 0)


@scalar
def last_task(s, n, d):
    """Number of the last task of a sweep."""
    return (n - s - 2) // d


@scalar
def needed(s, k, n, d):
    """How many tasks of sweep s - 1 must be done before task (s, k)."""
    return min(k + 1, last_task(s - 1, n, d)) + 1


@scalar
def extents(s, k, n, d):
    """First column of block pair k, its columns, and the rows of its lower block."""
    c0 = s + 1 + k * d
    m = min(d, n - c0)
    return c0, m, min(d, n - c0 - m)


@scalar
def steps(n, d):
    """Wavefronts: in step t all tasks with 2 s + k = t can run at once."""
    count = 0
    for s in range(max(sweeps(n) - 2, 0), sweeps(n)):
        count = max(count, 2 * s + last_task(s, n, d) + 1)
    return count


@scalar
def in_step(t, n, d):
    """First and one after the last sweep with a task in step t."""
    # k = t - 2 s >= 0 and k <= last_task(s); the latter holds from some s on.
    stop = min(t // 2 + 1, sweeps(n))
    first = max(0, (t - last_task(0, n, d) - 2) // 2)
    while first < stop and t - 2 * first > last_task(first, n, d):
        first += 1
    return first, stop


@scalar
def reflection(alpha, tail):
    """(beta, tau, factor) for a vector (alpha, x), tail = x.x: H = 1 - tau v v^T maps it to
    (beta, 0), v = (1, factor x). As LAPACK's larfg: tau = 0 where the tail is 0 already."""
    if tail == 0.0:
        zero = alpha - alpha
        return alpha, zero, zero
    norm = math.sqrt(alpha * alpha + tail)
    beta = -norm if alpha >= 0.0 else norm
    return beta, (beta - alpha) / beta, type(alpha)(1) / (alpha - beta)
