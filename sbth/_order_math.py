"""Order of the tasks of a sweep, for both targets.

A sweep reduces `b` columns of a band from d subdiagonals to b, by reflections of d rows, and its
task k carries the bulge that they make on: it works on block pair k, the diagonal block of columns
c0 = (s + 1) b + k d ... and the block below it, whose first b columns give the reflections of task
k + 1 (Lang 1993 for b = 1: thesis, algorithms 1 and 2, counted from 0 here; Bischof, Lang and Sun
2000). Task (s, k) needs (s, k - 1) and, of the sweep before, everything up to block k + 1.
"""

from hetero.jit import scalar


@scalar
def sweeps(n, b=1):
    """Sweeps until nothing is left outside b subdiagonals."""
    return max((n - 2) // b, 0)


@scalar
def last_task(s, n, d, b=1):
    """Number of the last task of a sweep."""
    return (n - 1 - (s + 1) * b) // d


@scalar
def needed(s, k, n, d):
    """How many tasks of sweep s - 1 must be done before task (s, k), for b = 1."""
    return min(k + 1, last_task(s - 1, n, d)) + 1


@scalar
def extents(s, k, n, d, b=1):
    """First column of block pair k, its columns, and the rows of its lower block."""
    c0 = (s + 1) * b + k * d
    m = min(d, n - c0)
    return c0, m, min(d, n - c0 - m)


@scalar
def steps(n, d, b=1):
    """Wavefronts: in step t all tasks with 2 s + k = t can run at once."""
    count = 0
    for s in range(max(sweeps(n, b) - 2, 0), sweeps(n, b)):
        count = max(count, 2 * s + last_task(s, n, d, b) + 1)
    return count


@scalar
def in_step(t, n, d, b=1):
    """First and one after the last sweep with a task in step t."""
    # k = t - 2 s >= 0 and k <= last_task(s); the latter holds from some s on.
    stop = min(t // 2 + 1, sweeps(n, b))
    first = max(0, (t - last_task(0, n, d, b) - 2) // 2)
    while first < stop and t - 2 * first > last_task(first, n, d, b):
        first += 1
    return first, stop
