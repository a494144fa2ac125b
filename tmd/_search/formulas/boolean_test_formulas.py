"""The Boolean tests: can b - a x mod 1 come close to 0 from above for some x < n?

Each test is a function (a, b, count, bound) -> (possible, rounds): whether some x < count may have
b - a x mod 1 <= bound, and how many rounds its loop took. It never denies this if such an x exists;
docs/packages/tmd.md has the proof. Numbers are integers in units of 1/one: float64 with
one = 2^52, for which every operation below is exact, or uint64 with one = 2^63.

The points 0, a, 2a, ... on a circle of length 1 leave u gaps of length p and v gaps of length q,
with u p + v q = 1; d is the distance from b to the nearest point on its left.

The tests are Algorithms 1 to 4 of Fortin, Gouicem and Graillat (2016). The regular ones start with
u = 0, v = 1 as u p + v q = 1 demands; the values printed there are 1, 0.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hetero.jit import scalar
from tmd._search.formulas.division_formulas import divide_by_reciprocal, floor

HYBRID_SUBTRACTIONS = 4
"""Subtractions that the hybrid quotient tries before it divides (not tuned)."""

MAX_SUBDOMAIN_LENGTH = 1 << 22
"""Largest number of arguments of a sub-domain: quotients of 2^23 and more then end every test."""


def _quotient_ieee(x, y, max_quotient):
    """Return floor(x / y) from an IEEE division.

    The nearest float of x/y is below the next integer, because 1/y exceeds half an ulp of it.
    """
    return floor(x / y)


def _quotient_by_reciprocal(x, y, max_quotient):
    k = divide_by_reciprocal(x, y)[0]
    return floor(x / y) if k >= 2.0**23 else k


def _quotient_by_integer_division(x, y, max_quotient):
    return x // y


def _quotient_by_subtraction(x, y, max_quotient):
    """Return min(floor(x / y), max_quotient): a quotient of `max_quotient` ends every test."""
    k = np.uint64(0)
    while x >= y and k < max_quotient:
        x -= y
        k += np.uint64(1)
    return k


def _quotient_hybrid(x, y, max_quotient):
    k = np.uint64(0)
    while k < np.uint64(HYBRID_SUBTRACTIONS):
        if x < y:
            return k
        x -= y
        k += np.uint64(1)
    return k + x // y


DIVISIONS = {
    "reciprocal": (_quotient_by_reciprocal, float),
    "float64": (_quotient_ieee, float),
    "integer": (_quotient_by_integer_division, np.uint64),
    "hybrid": (_quotient_hybrid, np.uint64),
    "subtractive": (_quotient_by_subtraction, np.uint64),
}
"""Quotient functions, and the type of the numbers that each works on; the default first."""

UNIT_BITS = {float: 52, np.uint64: 63}
"""log2 of `one` for each type of numbers."""


class Arithmetic(NamedTuple):
    """Constants and compiled operations of one type of numbers, from which a test is made.

    Attributes
    ----------
    zero, unit, one : number
        0, the smallest number (1), and the length of the circle.
    quotient : (x, y, max_quotient) -> floor(x / y)
    divide : (x, y, max_quotient) -> (floor(x / y), remainder)
        Without a meaning for quotients of 2^23 and more, except that the quotient is that large.
    short_quotient : (x, y, max_quotient) -> the quotient of `divide`
    clamp : (k, max_quotient) -> min(k, max_quotient)
        The identity in float64, where products with quotients cannot overflow.
    """

    zero: float | np.uint64
    unit: float | np.uint64
    one: float | np.uint64
    quotient: Callable
    divide: Callable
    short_quotient: Callable
    clamp: Callable


def _identity(k, max_quotient):
    return k


def _minimum(k, max_quotient):
    return min(k, max_quotient)


def _make_steps(arithmetic: Arithmetic) -> tuple[Callable, Callable]:
    """Make the two steps of the regular tests, which docs/packages/tmd.md derives."""
    quotient, clamp = arithmetic.quotient, arithmetic.clamp

    @scalar
    def step_on_q(p, q, d, u, v, count):
        """Cut all gaps of length q > p from their left ends; return q, d, u."""
        k = quotient(q, p, count)
        return q - k * p, d - quotient(d, p, count) * p, u + clamp(k, count) * v

    @scalar
    def step_on_p(p, q, d, u, v, count):
        """Cut all gaps of length p > q from their right ends; return p, d, v."""
        k = quotient(p, q, count)
        p -= k * q
        v += clamp(k, count) * u
        if d >= p:
            d -= p
            d -= quotient(d, q, count) * q
        return p, d, v

    return step_on_q, step_on_p


def _make_regular(arithmetic: Arithmetic) -> Callable:
    """Make Algorithm 4: two quotients a round, none of them cut."""
    zero, unit, one = arithmetic.zero, arithmetic.unit, arithmetic.one
    step_on_q, step_on_p = _make_steps(arithmetic)

    def regular(a, b, count, bound):
        p, q, d, u, v = a, one, b, zero, unit
        rounds = 0
        while p > zero:
            rounds += 1
            q, d, u = step_on_q(p, q, d, u, v, count)
            if u + v >= count or q <= zero:
                break
            p, d, v = step_on_p(p, q, d, u, v, count)
            if u + v >= count:
                break
        return d <= bound, rounds

    return regular


def _make_alternating(arithmetic: Arithmetic) -> Callable:
    """Make Algorithm 2: one quotient a round, of the longer length by the shorter."""
    zero, unit, one = arithmetic.zero, arithmetic.unit, arithmetic.one
    step_on_q, step_on_p = _make_steps(arithmetic)

    def alternating(a, b, count, bound):
        p, q, d, u, v = a, one, b, zero, unit
        rounds = 0
        while p > zero and q > zero and u + v < count:
            rounds += 1
            if p < q:
                q, d, u = step_on_q(p, q, d, u, v, count)
            else:
                p, d, v = step_on_p(p, q, d, u, v, count)
        return d <= bound, rounds

    return alternating


def _make_clipped(arithmetic: Arithmetic) -> Callable:
    """Make Algorithm 4 with its last quotient cut to what `count` points need."""
    zero, unit, one = arithmetic.zero, arithmetic.unit, arithmetic.one
    divide, clamp = arithmetic.divide, arithmetic.clamp

    def clipped(a, b, count, bound):
        p, q, d, u, v = a, one, b, zero, unit
        rounds = 0
        while p > zero:
            rounds += 1
            # The step on q.
            k, q_remainder = divide(q, p, count)
            m, d_remainder = divide(d, p, count)
            next_u = u + clamp(k, count) * v
            if next_u + v >= count:
                d -= min(m, divide(count - u - unit, v, count)[0]) * p
                break
            q, d, u = q_remainder, d_remainder, next_u
            if q <= zero:
                break
            # The step on p.
            k, p_remainder = divide(p, q, count)
            next_v = v + clamp(k, count) * u
            is_last = u + next_v >= count
            if is_last:
                p_remainder = p - min(k, divide(count - v - unit, u, count)[0]) * q
            p, v = p_remainder, next_v
            if d >= p:
                d = divide(d - p, q, count)[1]
            if is_last:
                break
        return d <= bound, rounds

    return clipped


def _make_lefevre(arithmetic: Arithmetic) -> Callable:
    """Make Algorithm 1, in which one division replaces a row of equal subtractions."""
    zero, unit, one = arithmetic.zero, arithmetic.unit, arithmetic.one
    quotient, clamp = arithmetic.short_quotient, arithmetic.clamp

    def lefevre(a, b, count, bound):
        p, q, d, u, v = a, one - a, b, unit, unit
        rounds = 0
        while d > bound and p > zero and q > zero:
            rounds += 1
            if d < p:
                if q >= p:
                    k = quotient(q, p, count)
                    q -= k * p
                    u += clamp(k, count) * v
                else:  # a row of points to the right of b
                    k = quotient(min(p - d - unit, p - q), q, count)
                    if u + v + clamp(k, count) * u >= count:
                        k = min(k, quotient(count - v, u, count))
                    p -= k * q
                    v += k * u
                if u + v >= count:
                    break
                p -= q
                v += u
            else:
                if p >= q:
                    d -= p
                    k = quotient(p, q, count)
                    p -= k * q
                    v += clamp(k, count) * u
                else:  # a row of points to the left of b, each nearer to it
                    k = quotient(min(d, q) - p, p, count)
                    if u + v + clamp(k, count) * v >= count:
                        k = min(k, quotient(count - u, v, count))
                    d -= (k + unit) * p
                    q -= k * p
                    u += k * v
                if d <= bound or u + v >= count:
                    break
                q -= p
                u += v
        return d <= bound, rounds

    return lefevre


def _make_swap(arithmetic: Arithmetic) -> Callable:
    """Make Algorithm 3: both branches of Lefevre's test in one, by an exchange of names."""
    zero, unit, one = arithmetic.zero, arithmetic.unit, arithmetic.one
    quotient, clamp = arithmetic.short_quotient, arithmetic.clamp

    def swap(a, b, count, bound):
        p, q, d, u, v = a, one - a, b, unit, unit
        rounds = 0
        swapped = d >= p
        if swapped:
            p, q, u, v = q, p, v, u
        while d > bound and p > zero and q > zero:
            rounds += 1
            # There is one division: of a row of equal steps, or of q by p.
            is_row = p > q
            reach = (min(d, p) if swapped else max(p - d - unit, zero) + q) if is_row else q
            x = (min(reach, p) - q) if is_row else q
            k = quotient(x, q if is_row else p, count)
            if is_row:
                if u + v + clamp(k, count) * u >= count:
                    k = min(k, quotient(count - v, u, count))
                p -= k * q
                v += k * u
            if swapped:  # q is then the length to the left of b
                d -= (k + unit) * q if is_row else q
            if not is_row:
                q -= k * p
                u += clamp(k, count) * v
            if d <= bound or u + v >= count:
                break
            p -= q
            v += u
            if swapped != (d >= (q if swapped else p)):
                p, q, u, v = q, p, v, u
                swapped = not swapped
        return d <= bound, rounds

    return swap


ALGORITHMS = {
    "clipped": _make_clipped,
    "regular": _make_regular,
    "alternating": _make_alternating,
    "lefevre": _make_lefevre,
    "swap": _make_swap,
}
"""Makers of the tests by name; "regular" is the unrolled form of "alternating"."""


def _make_divide(division: str) -> Callable:
    """Make `Arithmetic.divide` for a kind of division."""
    if division == "reciprocal":
        return lambda x, y, max_quotient: divide_by_reciprocal(x, y)
    quotient = scalar(DIVISIONS[division][0])

    def divide(x, y, max_quotient):
        k = quotient(x, y, max_quotient)
        return k, x - k * y

    return divide


@functools.cache
def compile_test(algorithm: str, division: str) -> Callable:
    """Compile the test of `algorithm` with quotients by `division`, for both targets."""
    quotient, number = DIVISIONS[division]
    divide = scalar(_make_divide(division))
    arithmetic = Arithmetic(
        zero=number(0),
        unit=number(1),
        one=number(2 ** UNIT_BITS[number]),
        quotient=scalar(quotient),
        divide=divide,
        short_quotient=scalar(lambda x, y, max_quotient: divide(x, y, max_quotient)[0]),
        clamp=scalar(_identity if number is float else _minimum),
    )
    return scalar(ALGORITHMS[algorithm](arithmetic))
