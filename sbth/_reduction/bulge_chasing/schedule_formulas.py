"""Schedule of bulge chasing, for both targets.

Sweep s reduces b columns of a band from d subdiagonals to b, by reflections of d rows, and chases
the resulting bulge along the band. Its task k works on block pair k: the diagonal block that begins
with column c0 = (s + 1) b + k d, and the block below it, whose first b columns determine the
reflections of task k + 1 (Lang 1993 for b = 1, in Riesinger 2017 algorithms 1 and 2; Bischof, Lang
and Sun 2000). Task (s, k) requires task (s, k - 1), and those of sweep s - 1 up to number k + 1.

All arguments are integers: n is the order of the matrix, d and b are bandwidths.
"""

from hetero.jit import scalar


@scalar
def sweep_count(n, b=1):
    """Return the number of sweeps that leave b subdiagonals."""
    return max((n - 2) // b, 0)


@scalar
def last_task(s, n, d, b=1):
    """Return the number of the last task of a sweep."""
    return (n - 1 - (s + 1) * b) // d


@scalar
def required_progress(s, k, n, d):
    """Return how many tasks of sweep s - 1 must have finished before task (s, k), for b = 1."""
    return min(k + 1, last_task(s - 1, n, d)) + 1


@scalar
def block_extents(s, k, n, d, b=1):
    """Return the first column of block pair k, its width, and the height of its lower block."""
    c0 = (s + 1) * b + k * d
    m = min(d, n - c0)
    return c0, m, min(d, n - c0 - m)


@scalar
def step_count(n, d, b=1):
    """Return the number of wavefronts: the tasks with 2 s + k = t can all run in step t."""
    count = 0
    for s in range(max(sweep_count(n, b) - 2, 0), sweep_count(n, b)):
        count = max(count, 2 * s + last_task(s, n, d, b) + 1)
    return count


@scalar
def sweeps_in_step(t, n, d, b=1):
    """Return the first sweep with a task in step t, and the first one after those."""
    # k = t - 2 s >= 0 and k <= last_task(s); the latter holds from some s on.
    stop = min(t // 2 + 1, sweep_count(n, b))
    first = max(0, (t - last_task(0, n, d, b) - 2) // 2)
    while first < stop and t - 2 * first > last_task(first, n, d, b):
        first += 1
    return first, stop
