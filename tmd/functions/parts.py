"""Building blocks of descriptions of functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tmd.functions.function import Ball


def integrate(derivative: Any, value: Ball) -> Any:
    """Return the power series with this derivative and this first coefficient."""
    from flint import arb_series

    return derivative.integral() + arb_series([value])


def points_at(*points: int) -> Callable:
    """Make a `Function.points` of some numbers."""
    return lambda lo, hi: [Fraction(x) for x in points if lo <= x <= hi]


def count_in(period: float) -> Callable:
    """Make a `Function.count_points` for points at a distance of `period` from each other."""
    return lambda lo, hi: math.ceil((hi - lo) / Fraction(period))


def log_of(base: int) -> Ball:
    """Return ln 2 or ln 10."""
    from flint import arb

    return arb.const_log2() if base == 2 else arb.const_log10()


def in_base(base: int, logarithm: Callable) -> Callable:
    """Make a logarithm to the base 2 or 10 from a natural one, of balls or of power series."""
    return lambda x: logarithm(x) / log_of(base)


def in_half_turns(angle: Callable) -> Callable:
    """Make an angle in units of pi from one in radians, of balls or of power series."""

    def divided(x: Any) -> Any:
        from flint import arb

        return angle(x) / arb.pi()

    return divided


def exponent_of_power(x: Fraction, base: int) -> int | None:
    """Return n if x = base^n and n >= 0, or n is any integer and the base is 2."""
    if base == 2:
        e = x.numerator.bit_length() - x.denominator.bit_length()
        return e if x == Fraction(2) ** e else None
    n = round(math.log(x.numerator, base)) if x > 0 and x.denominator == 1 else -1
    return n if n >= 0 and x == base**n else None
