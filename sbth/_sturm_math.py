"""Eigenvalues of a tridiagonal matrix by Sturm counts, for both targets.

The number of negative pivots of T - x equals the number of eigenvalues below x (Kahan 1966;
LAPACK's dlaebz): q_0 = d_0 - x, q_i = d_i - x - e_(i-1)^2 / q_(i-1). A pivot nearer to 0 than
`tiny` is taken as -tiny, as LAPACK does. A first pass counts at many points at once, which serve
all eigenvalues; then each interval is cut into parts, two or more a pass.
"""

from hetero.jit import scalar

PASSES = 100  # of at least a bit: more than a float64 has, and some for a tolerance near 0
EPSILON = 2.0**-52


def pivot_from(decorate, quotient):
    """The recurrence, with the function that a target divides by."""

    @decorate
    def pivot(q, d, e2, x, tiny):
        """The next pivot of T - x."""
        q = (d - x) - quotient(e2, q)
        return q if abs(q) >= tiny else -tiny

    return pivot


@scalar
def point(low, high, i, parts):
    """Number i of the parts + 1 places that cut an interval into parts, its ends included."""
    at = low + (high - low) * (i / parts)
    return high if i == parts else at


@scalar
def start(counts, low, high, index):
    """The part that has eigenvalue number `index`; counts[i] are below the end of part i."""
    first, last = 0, len(counts)  # the part is one of first ... last; the last one's end is `high`
    while first < last:
        middle = (first + last) // 2
        if counts[middle] > index:
            last = middle
        else:
            first = middle + 1
    parts = len(counts) + 1
    return point(low, high, first, parts), point(low, high, first + 1, parts)


@scalar
def is_narrow(low, high, least):
    """Whether an interval is as short as rounding, or as `least`."""
    return high - low <= max(2.0 * EPSILON * max(abs(low), abs(high)), least)
