"""Arguments at which rounding is trivial: near 0, and from some magnitude on.

|f(x) - r| < 2^-bits ulp holds near 0 for r = x or a constant r that is a float, by Lagrange's
remainder over a ball from 0 on. From some |x| on, f is that close to its limit, overflows or
vanishes, or all arguments are points at which it is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from tmd.formats import Format, exponent
from tmd.functions.function import Function, ball, working_precision

INFINITY = Fraction(1 << (1 << 15))
"""Larger than every argument."""

Interval = tuple[Fraction, Fraction]


def trivial_near_zero(
    function: Function, sign: int, near: Fraction, far: Fraction, fmt: Format, bits: int
) -> Iterator[Interval]:
    """Yield intervals of |x| in which f(x) is closer than 2^-bits ulp to its fixed value.

    Where that is x, it is the ulp of x, and each binade has an interval of its own.
    """
    if function.fixed_near_zero is None:
        return
    fixed, n = function.fixed_near_zero
    k = n + 1 if fixed == "x" else n
    for e in range(min(-1, exponent(far)), exponent(near) - 1, -1):

        def is_trivial(x: Fraction, e: int = e) -> bool:
            coefficient = function.coefficients(ball(Fraction(0)).union(ball(sign * x)), k + 1)[k]
            if fixed == "x":
                ulp = fmt.ulp(e)
            else:
                falls = bool(coefficient * sign**k < 0)
                ulp = fmt.ulp(exponent(Fraction(fixed)) - int(falls))
            return ulp is None or bool(
                abs(coefficient) * ball(x**k) < ball(Fraction(2) ** (ulp - bits))
            )

        with working_precision(128):
            begin, end = Fraction(2) ** e, Fraction(2) ** (e + 1)
            if is_trivial(end):
                yield Fraction(0), end
                return
            x = _last(is_trivial, begin, fmt)
            if x is not None:
                yield (begin if fixed == "x" else Fraction(0)), x
                if fixed != "x":
                    return


def _last(holds: Callable[[Fraction], bool], begin: Fraction, fmt: Format) -> Fraction | None:
    """Return the end of the part of a binade, from its begin on, in which a property holds."""
    if not holds(begin):
        return None
    low, high = 0, 1 << fmt.argument_precision
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(_step_from(begin, middle, fmt)) else (low, middle)
    return _step_from(begin, high, fmt)


def _step_from(begin: Fraction, steps: int, fmt: Format) -> Fraction:
    return begin * (1 + Fraction(steps, 1 << fmt.argument_precision))


def start_of_trivial(
    function: Function, sign: int, far: Fraction, fmt: Format, bits: int
) -> Fraction:
    """Return the magnitude from which on rounding is trivial, perhaps beyond all arguments."""
    ends = [INFINITY]
    if lattice := function.lattices[sign > 0]:
        ends.append(lattice * Fraction(2) ** (fmt.argument_precision - 1))
    if (limit := function.limits[sign > 0]) is not None:
        ends.append(_start_of_limit(function, sign, far, limit, fmt, bits))
    return min(ends)


def _start_of_limit(
    function: Function, sign: int, far: Fraction, limit: Any, fmt: Format, bits: int
) -> Fraction:
    """Return the magnitude from which on f is at its limit, as rounding is concerned.

    |f| or |f - limit| is monotone there.
    """
    if limit in (0, math.inf) and fmt.exponent_range is None:
        return INFINITY

    def is_at_limit(x: Fraction) -> bool:
        with working_precision(2 * (fmt.precision + bits) + 256):
            value = function.enclosure(ball(sign * x))
            if limit in (0, math.inf):
                low, high = fmt.exponent_range or (0, 0)
                if limit == 0:
                    return bool(abs(value) < ball(Fraction(2) ** (low - fmt.precision - 1)))
                return bool(abs(value) > ball(Fraction(2) ** (high + 1)))
            gap, e = abs(value) - ball(abs(limit)), exponent(limit)
            ulp = fmt.ulp(e - int(bool(abs(limit) == Fraction(2) ** e and gap < 0)))
            return ulp is None or bool(abs(gap) < ball(Fraction(2) ** (ulp - bits)))

    low, high = 0, 1
    while not is_at_limit(Fraction(2) ** high):
        if high > exponent(far):
            return INFINITY
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_at_limit(Fraction(2) ** middle) else (middle, high)
    last = None
    if limit not in (0, math.inf):
        last = _last(lambda x: not is_at_limit(x), Fraction(2) ** low, fmt)
    return Fraction(2) ** high if last is None else last
