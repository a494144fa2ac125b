"""Implicit QL iteration for the leaves of the tree, for both targets.

The shift is Wilkinson's, with which the iteration converges for every symmetric tridiagonal matrix
(Wilkinson 1968).
"""

import math

from hetero.jit import scalar

MAX_SWEEPS = 30
"""Sweeps per eigenvalue before a leaf is given up, as in LAPACK's dsteqr; 1 or 2 are usual."""

_PATIENT_SWEEPS = 8
"""Sweeps per eigenvalue that look for small off-diagonal elements relative to their neighbours."""

_EPSILON = 2.0**-53

_TINY = 2.0**-300
"""Off-diagonal elements that are 0 beside a matrix of norm 1, even between zeros."""


@scalar
def negligible_size(sweep, largest):
    """Return the magnitude below which an off-diagonal element of a leaf is 0 after some sweeps.

    A sweep through a row of magnitude `largest` leaves rounding errors of largest * eps in all rows
    behind it. Between two rows that are smaller than these, no element becomes small relative to
    its neighbours, and none has to: the merges are accurate relative to the norm, too.
    """
    return _TINY if sweep < _PATIENT_SWEEPS else _EPSILON * largest


@scalar
def is_negligible(e, d, d_next, size):
    """Return whether an off-diagonal element splits the matrix; see `negligible_size`."""
    return abs(e) <= _EPSILON * (abs(d) + abs(d_next)) or abs(e) <= size


@scalar
def first_bulge(d, d_next, e, d_last):
    """Return d_last minus Wilkinson's shift, the eigenvalue of [[d, e], [e, d_next]] nearest d."""
    g = (d_next - d) / (2.0 * e)
    return d_last - d + e / (g + math.copysign(math.hypot(g, 1.0), g))


@scalar
def unit_vector(f, g):
    """Return (radius, f / radius, g / radius); (0, 0, 1) for the zero vector."""
    radius = math.hypot(f, g)
    if radius == 0.0:
        return 0.0, 0.0, 1.0
    return radius, f / radius, g / radius


def make_ql_rotation(decorate, unit_vector):
    """Make the step of a sweep for a target, which compiles by `decorate`."""

    @decorate
    def ql_rotation(g, s, c, p, d, d_next, e):
        """Chase the bulge up by one row; return (e_next, d_next, g, s, c, p).

        s and c rotate vectors i and i + 1: (z_i, z_(i+1)) becomes (c z_i - s z_(i+1),
        s z_i + c z_(i+1)). The radius e_next is 0 if the matrix splits here; then nothing is
        rotated.
        """
        f, b = s * e, c * e
        radius, s, c = unit_vector(f, g)
        if radius == 0.0:
            return 0.0, d_next - p, g, 0.0, 1.0, 0.0
        g = d_next - p
        r = (d - g) * s + 2.0 * c * b
        p = s * r
        return radius, g + p, c * r - b, s, c, p

    return ql_rotation


ql_rotation = make_ql_rotation(scalar, unit_vector)
