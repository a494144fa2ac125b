"""Decision of candidates, by the error bounds of their values or, where these fail, by balls."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tmd._search.blocks import Block
from tmd._search.planning import Plan
from tmd._search.taylor_models import Scale
from tmd.formats import Format, exponent
from tmd.functions.function import (
    Ball,
    Function,
    exponent_of_ball,
    nearest_integer,
    working_precision,
)

BALL_PRECISIONS = (256, 512, 1024, 2048, 4096, 8192)
"""Precisions in bits, tried one after the other until balls decide."""


def decide_by_balls(function: Function, plan: Plan, index: int) -> tuple[bool, bool, int] | None:
    """Decide by balls whether argument number `index` of a block is a case.

    Returns
    -------
    (is_case, middle, value) or None
        Whether it is a case, whether the nearest breakpoint is a midpoint, and the signed distance
        from it in units of 2^-63 test units; None if 8192 bits do not decide.
    """
    from flint import arb

    x = plan.block.run.argument(index)
    limit = arb(2) ** (int(plan.scale.doubled) - plan.bits)
    for precision in BALL_PRECISIONS:
        with working_precision(precision + extra_precision(x)):
            y = scaled_value(function, plan.block, plan.scale, x)
            nearest = nearest_integer(y)
            if nearest is None:
                continue
            distance = y - arb(nearest)
            if abs(distance) < limit or abs(distance) >= limit:
                middle = bool(int(nearest) & 1) if plan.scale.doubled else plan.scale.half
                return abs(distance) < limit, middle, round(float(distance.mid() * arb(2) ** 63))
    return None


def extra_precision(x: Fraction) -> int:
    """Return the bits to add to a precision at x, for the argument reduction and the value."""
    return 64 + 2 * max(0, exponent(x)) + (64 if x else 0)


def scaled_value(function: Function, block: Block, scale: Scale, x: Fraction) -> Ball:
    """Return |f(x)| as a ball in test units, in which the breakpoints are the integers."""
    from flint import arb

    value = abs(function.evaluate(x)) * arb(2) ** (int(scale.doubled) - block.ulp)
    return value + arb(0.5) if scale.half else value


@dataclass(frozen=True)
class Distance:
    """Distance of a value from a breakpoint, in ulps of the value: a proven interval."""

    lower: float
    upper: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.lower, self.upper))


def measure_distance(
    function: Function, fmt: Format, x: Fraction, middle: bool
) -> tuple[Distance, int | None]:
    """Return the distance from the nearest float, or midpoint, and the identical bits.

    These are the bits after the round bit that equal those of the breakpoint. A value that is the
    breakpoint itself has the distance 0 and None for the bits.
    """
    from flint import arb

    for precision in BALL_PRECISIONS:
        with working_precision(precision + extra_precision(x)):
            value = abs(function.evaluate(x))
            ulp = _ulp(fmt, value)
            if ulp is None:
                continue
            y = value * arb(2) ** -ulp + arb(0.5 if middle else 0.0)
            nearest = nearest_integer(y)
            if nearest is None:
                continue
            distance = abs(y - arb(nearest))
            if distance == 0:
                return Distance(0.0, 0.0), None
            bits, *others = {_leading_zeros(end) for end in (distance.lower(), distance.upper())}
            if bits is not None and not others and distance > 0:
                lower = math.nextafter(float(distance.lower()), 0.0)
                upper = math.nextafter(float(distance.upper()), 1.0)
                return Distance(lower, upper), bits - 1
    raise ArithmeticError(
        f"the distance of {function.name}({x}) from a breakpoint cannot be determined with "
        f"{BALL_PRECISIONS[-1]} bits"
    )


def _leading_zeros(number: Ball) -> int | None:
    """Return floor(-log2) of a positive number with a finite mantissa; None for other numbers."""
    mantissa, power = number.mid().man_exp()
    return -((int(mantissa) - 1).bit_length() + int(power)) if mantissa > 0 else None


def _ulp(fmt: Format, value: Ball) -> int | None:
    """Return log2 of the ulp of the numbers in a ball; None if they have several."""
    if not value.lower() > 0:
        return None
    ulps = [fmt.ulp(exponent_of_ball(end)) for end in (value.lower(), value.upper())]
    return ulps[0] if ulps[0] == ulps[1] else None
