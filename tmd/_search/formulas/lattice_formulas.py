"""Tests of lines that differ by constants: can b - a x mod 1 come close to 0 from above, x < n?

The points (x, a x - j) for all integers x and j are a lattice. Euclid's algorithm on (a, 1) yields
bases (v, p), (u, -q) of it, with u p + v q = 1. The points that are asked for lie in a rectangle of
n by `bound`; in coordinates of a basis that suits this rectangle it lies in a parallelogram with
sides s and t, whose product is about n bound. So a point exists only if u b mod 1 and -v b mod 1
are in two intervals of these lengths. The basis does not depend on b.

Lengths are float64 integers in units of 2^-52, as in `boolean_test_formulas`; places modulo 1 are
uint64 in units of 2^-64.
"""

from typing import NamedTuple

import numpy as np

from hetero.jit import scalar
from tmd._search.formulas.division_formulas import divide_by_reciprocal, floor

_UNIT = np.uint64(12)  # from 2^-52 to 2^-64
_HALF = np.uint64(32)
_ALWAYS = np.uint64(0xFFFFFFFF)


class Intervals(NamedTuple):
    """Intervals modulo 1 in which the coordinates of a line must lie, in units of 2^-32 (uint32).

    Attributes
    ----------
    s, t : places of the first translate
    s_step, t_step : what they grow by from each translate to the next
    s_end, t_end : where the intervals, which begin at 0, end
    """

    s: np.uint32
    t: np.uint32
    s_step: np.uint32
    t_step: np.uint32
    s_end: np.uint32
    t_end: np.uint32


@scalar
def _divide(x, y):
    """Return floor(x / y) and the remainder, for quotients of any size."""
    k, remainder = divide_by_reciprocal(x, y)
    if k >= 2.0**23:
        k = floor(x / y)
        remainder = x - k * y
    return k, remainder


@scalar
def reduce_basis(a, count, bound):
    """Return u, v, p, q of the basis in which the rectangle is about as wide as it is high."""
    p, q, u, v = a, 2.0**52, 0.0, 1.0
    while v * bound < p * count:
        k, q = _divide(q, p)
        u += k * v
        if u * bound >= q * count:
            break
        k, p = _divide(p, q)
        v += k * u
    return u, v, p, q


@scalar
def _end_of_interval(length, members):
    """Return the end of an interval of this length, in units of 2^-32, rounded up."""
    end = np.uint64(min(length, 2.0**52) * 2.0**-20) + np.uint64(members) + np.uint64(1)
    return np.uint32(min(end, _ALWAYS))


@scalar
def find_intervals(a, b, step, members, count, bound):
    """Return the `Intervals` of a line.

    a and bound are float64, b and step uint64, and `members` is a number of translates below 2^12.
    A place is rounded down when the steps are added up, by less than `members` units.
    """
    u, v, p, q = reduce_basis(a, count, bound)
    last = count - 1.0
    s_end = _end_of_interval(u * bound + q * last, members)
    t_end = _end_of_interval(p * last + v * bound, members)
    first, second = np.uint64(u), np.uint64(0) - np.uint64(v)
    n, w = np.uint64(last), np.uint64(bound)
    s = first * b + ((np.uint64(q) * n) << _UNIT)
    t = second * b + ((np.uint64(p) * n + np.uint64(v) * w) << _UNIT)
    spare = np.uint64(members)
    return Intervals(
        np.uint32((s >> _HALF) + spare),
        np.uint32((t >> _HALF) + spare),
        np.uint32((first * step) >> _HALF),
        np.uint32((second * step) >> _HALF),
        s_end,
        t_end,
    )


@scalar
def may_have_case(place, k):
    """Return whether translate k of a line may come close to an integer."""
    k = np.uint32(k)
    s = np.uint32(place.s + k * place.s_step)
    t = np.uint32(place.t + k * place.t_step)
    return (s <= place.s_end) & (t <= place.t_end)
