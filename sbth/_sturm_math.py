"""Eigenvalues of a tridiagonal matrix by Sturm counts, for both targets.

The number of negative pivots of T - x equals the number of eigenvalues below x (Kahan 1966;
LAPACK's dlaebz): q_0 = d_0 - x, q_i = d_i - x - e_(i-1)^2 / q_(i-1). A pivot nearer to 0 than
`tiny` is taken as -tiny, as LAPACK does. Each pass counts at three points and leaves a quarter of
the interval: pivots depend on each other, so two passes of one point would take twice as long.
"""

from hetero.jit import scalar

PASSES = 40  # 2 bits each: more than a float64 has, and some for a relative tolerance near 0
EPSILON = 2.0**-52


@scalar
def pivot(q, d, e2, x, tiny):
    """The next pivot of T - x."""
    q = (d - x) - e2 / q
    return q if abs(q) >= tiny else -tiny


@scalar
def points(low, high):
    """Three places that cut an interval into quarters."""
    quarter = 0.25 * (high - low)
    return low + quarter, low + 2.0 * quarter, high - quarter


@scalar
def narrowed(low, high, p1, p2, p3, c1, c2, c3, index):
    """The quarter that has eigenvalue number `index`; c1, c2, c3 are the counts at p1, p2, p3."""
    if c2 > index:
        return (low, p1) if c1 > index else (p1, p2)
    return (p2, p3) if c3 > index else (p3, high)


@scalar
def is_narrow(low, high, least):
    """Whether an interval is as short as rounding, or as `least`."""
    return high - low <= max(2.0 * EPSILON * max(abs(low), abs(high)), least)
