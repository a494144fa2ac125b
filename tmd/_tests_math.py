"""The Boolean tests: may b - a x mod 1 come close to 0 from above for an x < n?

Each is a function (a, b, n, bound) -> (whether some x < n may have b - a x mod 1 <= bound, how
often its loop ran). It never says no where such an x is; docs/tmd.md has the proof. Numbers are
integers in units of 1/ONE: float64 with ONE = 2^52, where every operation below is exact, or
uint64 with ONE = 2^63. p and q are the two lengths of gaps, u and v how many there are of each
(u p + v q = 1); d is the distance from b to the point on its left.

Paper: Fortin, Gouicem, Graillat (2016), Algorithms 1 to 4, with u = 0, v = 1 as the start of the
regular ones (printed: 1, 0), which u p + v q = 1 demands.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace

import numpy as np

from hetero.jit import scalar
from tmd._divide_math import floor, short_divide

FEW = 4  # subtractions before the hybrid form divides
LONGEST = 1 << 22
"""Arguments of a sub-domain at most: quotients beyond 2^23 end every test."""


def _ieee(x, y, most):
    # The nearest float of x/y is below the next integer: 1/y exceeds half an ulp of it.
    return floor(x / y)


def _reciprocal(x, y, most):
    k = short_divide(x, y)[0]
    return floor(x / y) if k >= 2.0**23 else k


def _integer(x, y, most):
    return x // y


def _subtractive(x, y, most):
    """floor(x / y), at most `most`: as many steps end every test."""
    k = np.uint64(0)
    while x >= y and k < most:
        x -= y
        k += np.uint64(1)
    return k


def _hybrid(x, y, most):
    k = np.uint64(0)
    while k < np.uint64(FEW):
        if x < y:
            return k
        x -= y
        k += np.uint64(1)
    return k + x // y


def _as_it_is(k, most):
    return k


def _least(k, most):
    return min(k, most)


DIVISIONS = {
    "reciprocal": (_reciprocal, float),
    "float64": (_ieee, float),
    "integer": (_integer, np.uint64),
    "hybrid": (_hybrid, np.uint64),
    "subtractive": (_subtractive, np.uint64),
}
"""Ways to get a quotient, and the numbers that each works on; the default first."""

UNIT_BITS = {float: 52, np.uint64: 63}


def _regular(n):
    """Algorithm 4: two quotients a round, each taken whole."""
    zero, one, unit, quotient, cap = n.zero, n.one, n.unit, n.quotient, n.cap

    def regular(a, b, count, bound):
        p, q, d, u, v = a, one, b, zero, unit
        rounds = 0
        while p > zero:
            rounds += 1
            k = quotient(q, p, count)
            q -= k * p
            d -= quotient(d, p, count) * p
            u += cap(k, count) * v
            if u + v >= count or q <= zero:
                break
            k = quotient(p, q, count)
            p -= k * q
            v += cap(k, count) * u
            if d >= p:
                d -= p
                d -= quotient(d, q, count) * q
            if u + v >= count:
                break
        return d <= bound, rounds

    return regular


def _alternating(n):
    """Algorithm 2: one quotient a round, of the longer length by the shorter."""
    zero, one, unit, quotient, cap = n.zero, n.one, n.unit, n.quotient, n.cap

    def alternating(a, b, count, bound):
        p, q, d, u, v = a, one, b, zero, unit
        rounds = 0
        while p > zero and q > zero and u + v < count:
            rounds += 1
            if p < q:
                k = quotient(q, p, count)
                q -= k * p
                u += cap(k, count) * v
                d -= quotient(d, p, count) * p
            else:
                k = quotient(p, q, count)
                p -= k * q
                v += cap(k, count) * u
                if d >= p:
                    d -= p
                    d -= quotient(d, q, count) * q
        return d <= bound, rounds

    return alternating


def _clipped(n):
    """Algorithm 4 with its last quotient cut to what `count` points need."""
    zero, one, unit, divide, cap = n.zero, n.one, n.unit, n.divide, n.cap

    def clipped(a, b, count, bound):
        p, q, d, u, v = a, one, b, zero, unit
        rounds = 0
        while p > zero:
            rounds += 1
            k, rest = divide(q, p, count)
            m, short = divide(d, p, count)
            more = u + cap(k, count) * v
            if more + v >= count:
                d -= min(m, divide(count - u - unit, v, count)[0]) * p
                break
            q, d, u = rest, short, more
            if q <= zero:
                break
            k, rest = divide(p, q, count)
            more = v + cap(k, count) * u
            last = u + more >= count
            if last:
                rest = p - min(k, divide(count - v - unit, u, count)[0]) * q
            p, v = rest, more
            if d >= p:
                d = divide(d - p, q, count)[1]
            if last:
                break
        return d <= bound, rounds

    return clipped


def _lefevre(n):
    """Algorithm 1, with one division in the place of a row of equal subtractions."""
    zero, one, unit, quotient, cap = n.zero, n.one, n.unit, n.short, n.cap

    def lefevre(a, b, count, bound):
        p, q, d, u, v = a, one - a, b, unit, unit
        rounds = 0
        while d > bound and p > zero and q > zero:
            rounds += 1
            if d < p:
                if q >= p:
                    k = quotient(q, p, count)
                    q -= k * p
                    u += cap(k, count) * v
                else:  # a row of steps on the right of b
                    k = quotient(min(p - d - unit, p - q), q, count)
                    if u + v + cap(k, count) * u >= count:
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
                    v += cap(k, count) * u
                else:  # a row of points, each nearer to b on its left
                    k = quotient(min(d, q) - p, p, count)
                    if u + v + cap(k, count) * v >= count:
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


def _swap(n):
    """Algorithm 3: both branches of Lefevre's test in one, by an exchange of names."""
    zero, one, unit, quotient, cap = n.zero, n.one, n.unit, n.short, n.cap

    def swap(a, b, count, bound):
        p, q, d, u, v = a, one - a, b, unit, unit
        rounds = 0
        swapped = d >= p
        if swapped:
            p, q, u, v = q, p, v, u
        while d > bound and p > zero and q > zero:
            rounds += 1
            # One division: of a row of equal steps, or of q by p.
            row = p > q
            least = (min(d, p) if swapped else max(p - d - unit, zero) + q) if row else q
            x = (min(least, p) - q) if row else q
            k = quotient(x, q if row else p, count)
            if row:
                if u + v + cap(k, count) * u >= count:
                    k = min(k, quotient(count - v, u, count))
                p -= k * q
                v += k * u
            if swapped:  # q is the length on the left of b
                d -= (k + unit) * q if row else q
            if not row:
                q -= k * p
                u += cap(k, count) * v
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
    "clipped": _clipped,
    "regular": _regular,
    "alternating": _alternating,
    "lefevre": _lefevre,
    "swap": _swap,
}
"""The tests by name; "regular" is the unrolled form of "alternating"."""


def _divide(division: str):
    """Quotient and rest, where quotients of 2^23 and more end the test anyway."""
    if division == "reciprocal":
        return lambda x, y, most: short_divide(x, y)
    quotient = scalar(DIVISIONS[division][0], cache=False)

    def divide(x, y, most):
        k = quotient(x, y, most)
        return k, x - k * y

    return divide


@functools.cache
def made(algorithm: str, division: str):
    """The test of `algorithm` with quotients by `division`, compiled for both targets."""
    quotient, number = DIVISIONS[division]
    numbers = SimpleNamespace(
        zero=number(0),
        unit=number(1),
        one=number(2 ** UNIT_BITS[number]),
        quotient=scalar(quotient, cache=False),
        divide=(divide := scalar(_divide(division), cache=False)),
        short=scalar(lambda x, y, most: divide(x, y, most)[0], cache=False),
        cap=scalar(_as_it_is if number is float else _least, cache=False),
    )
    return scalar(ALGORITHMS[algorithm](numbers), cache=False)
