"""Deflation of a merge (Cuppen 1981; LAPACK's dlaed2), for both targets.

An eigenvalue of one of the blocks is an eigenvalue of the whole if its weight is negligible, or,
after a rotation of two vectors, if it is close to its neighbour.
"""

import math

from hetero.jit import scalar
from sbth._tridiagonal.divide_and_conquer import layout as at

EPSILON = 2.0**-53

NO_PENDING = (-1, 0.0, 0.0, 0)
"""The pending pole before the first one: (row, pole, weight, kind)."""

NO_COUNTS = (0, 0, 0, 0, 0)
"""Numbers of poles that are kept, of each kind, then of dropped ones and of rotations, at first."""


@scalar
def deflation_tolerance(largest_pole, largest_weight):
    """Return the absolute error of an eigenvalue that deflation may cause."""
    return 8.0 * EPSILON * max(largest_pole, largest_weight)


@scalar
def can_rotate(gap, weight, other, tolerance):
    """Return whether two poles are so close that a rotation may remove the weight of one."""
    return abs(gap * weight * other) <= tolerance * (weight * weight + other * other)


@scalar
def rotate_poles(pole, weight, next_pole, next_weight):
    """Return (cosine, sine, dropped pole, remaining pole, remaining weight)."""
    radius = math.hypot(weight, next_weight)
    c, s = next_weight / radius, -weight / radius
    dropped = pole * c * c + next_pole * s * s
    return c, s, dropped, pole * s * s + next_pole * c * c, radius


def make_scan(decorate):
    """Make the scan over the sorted poles of a merge for a target, which compiles by `decorate`."""

    @decorate
    def keep(floats, integers, begin, pending, scale, counts):
        """Store a pole of the secular equation; return the new counts."""
        row, pole, weight, kind = pending
        upper, both, lower, dropped, rotations = counts
        slot = begin + upper + both + lower
        floats[at.POLE, slot] = pole
        floats[at.WEIGHT, slot] = weight * scale
        integers[at.ROW, slot] = row
        integers[at.KIND, slot] = kind
        if kind == at.IN_UPPER:
            integers[at.COLUMN, slot] = upper
            return upper + 1, both, lower, dropped, rotations
        if kind == at.IN_BOTH:
            integers[at.COLUMN, slot] = both
            return upper, both + 1, lower, dropped, rotations
        integers[at.COLUMN, slot] = lower
        return upper, both, lower + 1, dropped, rotations

    @decorate
    def drop(floats, integers, begin, row, value, counts):
        """Store an eigenvalue that deflation leaves; return the new counts."""
        upper, both, lower, dropped, rotations = counts
        floats[at.DROPPED_VALUE, begin + dropped] = value
        integers[at.DROPPED, begin + dropped] = row
        return upper, both, lower, dropped + 1, rotations

    @decorate
    def take_pole(floats, integers, begin, candidate, rho, tolerance, pending, counts):
        """Process the next pole, `candidate`; return the pending one and the counts.

        `pending` is the last pole with a weight, which may still be rotated with the next one.
        """
        row, pole, weight, kind = candidate
        if abs(rho * weight) <= tolerance:
            return pending, drop(floats, integers, begin, row, pole, counts)
        first, first_pole, first_weight, first_kind = pending
        if first < 0:
            return candidate, counts
        if not can_rotate(pole - first_pole, weight, first_weight, tolerance):
            return candidate, keep(floats, integers, begin, pending, math.sqrt(rho), counts)
        c, s, value, pole, weight = rotate_poles(first_pole, first_weight, pole, weight)
        slot = begin + counts[4]
        floats[at.COSINE, slot], floats[at.SINE, slot] = c, s
        integers[at.FIRST, slot], integers[at.SECOND, slot] = first, row
        upper, both, lower, dropped, rotations = drop(floats, integers, begin, first, value, counts)
        kind = kind if kind == first_kind else at.IN_BOTH
        return (row, pole, weight, kind), (upper, both, lower, dropped, rotations + 1)

    return take_pole, keep
