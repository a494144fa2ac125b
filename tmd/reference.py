"""The slow, obvious reference: every argument of a domain, decided by Arb's balls.

It shares with the search the definitions of the functions (tmd.functions) and of the formats
(tmd.formats), and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tmd.formats import Format, argument_runs, exponent, to_fraction
from tmd.functions import load_function
from tmd.functions.function import Ball, working_precision


def arguments(lo: Any, hi: Any, precision: int = 53) -> Iterator[Fraction]:
    """Yield all numbers of `precision` digits in [lo, hi), by growing magnitude."""
    fmt = Format.create(precision)
    for run in argument_runs(to_fraction("lo", lo), to_fraction("hi", hi), fmt):
        for i in range(run.count):
            yield run.argument(i)


def distances(name: str, x: Fraction, precision: int = 53) -> tuple[Ball, Ball]:
    """Return the distances, in ulps, of f(x) from the nearest float and the nearest midpoint.

    Both are balls. They are 1 where rounding is trivial because f(x) overflows or underflows.
    """
    from flint import arb, fmpq

    f, fmt = load_function(name), Format.create(precision)
    with working_precision(400 + 2 * max(0, exponent(x))):
        value = abs(f.enclosure(arb(fmpq(x.numerator, x.denominator))))
        low = exponent(Fraction(value.mid().str(60, radius=False)))
        if (ulp := fmt.ulp(low)) is None:
            return arb(1), arb(1)
        y = value / arb(2) ** ulp
        middle = y + arb(0.5)
        return abs(y - (y + arb(0.5)).floor()), abs(middle - (middle + arb(0.5)).floor())


def cases(
    name: str,
    lo: Any,
    hi: Any,
    bits: int,
    precision: int = 53,
    argument_precision: int | None = None,
) -> list[tuple[Fraction, str]]:
    """Return (argument, kind) for all cases in [lo, hi), by growing magnitude."""
    from flint import arb

    hard_cases = []
    for x in arguments(lo, hi, argument_precision or precision):
        for kind, distance in zip("FM", distances(name, x, precision), strict=True):
            if distance < arb(2) ** -bits:
                hard_cases.append((x, kind))
    return hard_cases
