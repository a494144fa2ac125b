"""Eigenvalues of a tridiagonal matrix by Sturm counts, for both targets.

The number of negative pivots of T - x equals the number of eigenvalues below x (Kahan 1966;
LAPACK's dlaebz): q_0 = d_0 - x, q_i = d_i - x - e_(i-1)^2 / q_(i-1). A pivot nearer to 0 than
`tiny` is replaced by -tiny, as in LAPACK. A first pass counts at many points at once, which serves
all eigenvalues; then every pass divides each interval into two or more parts.
"""

from hetero.jit import scalar

MAX_PASSES = 100
"""Passes gain at least one bit each: these are enough for a float64 and a tolerance near 0."""

EPSILON = 2.0**-52


def make_pivot(decorate, quotient):
    """Make the recurrence for a target, which compiles by `decorate` and divides by `quotient`."""

    @decorate
    def pivot(q, d, e2, x, tiny):
        """Return the next pivot of T - x."""
        q = (d - x) - quotient(e2, q)
        return q if abs(q) >= tiny else -tiny

    return pivot


@scalar
def division_point(low, high, i, parts):
    """Return point number i of the parts + 1 points that divide an interval, its ends included."""
    x = low + (high - low) * (i / parts)
    return high if i == parts else x


@scalar
def initial_interval(counts, low, high, index):
    """Return the ends of the part with eigenvalue number `index`.

    counts[i] eigenvalues are below the end of part i; the last part ends at `high`.
    """
    first, last = 0, len(counts)  # the part is one of these
    while first < last:
        middle = (first + last) // 2
        if counts[middle] > index:
            last = middle
        else:
            first = middle + 1
    parts = len(counts) + 1
    return division_point(low, high, first, parts), division_point(low, high, first + 1, parts)


@scalar
def has_converged(low, high, tolerance):
    """Return whether an interval is no longer than `tolerance` or the spacing of float64."""
    return high - low <= max(2.0 * EPSILON * max(abs(low), abs(high)), tolerance)
