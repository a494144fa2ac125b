"""The slow, obvious oracle: every argument of a domain, by balls of Arb.

It shares with the search what a function is (tmd.functions) and what a format is (tmd.formats),
and nothing else.
"""

from __future__ import annotations

from fractions import Fraction

from tmd.formats import Format, exact, exponent, runs
from tmd.functions import function, working_precision


def arguments(lo, hi, precision: int = 53):
    """All numbers of `precision` digits in [lo, hi), as Fractions, by growing magnitude."""
    fmt = Format.checked(precision)
    for run in runs(exact("lo", lo), exact("hi", hi), fmt):
        for i in range(run.count):
            yield run.argument(i)


def distances(name: str, x: Fraction, precision: int = 53):
    """Balls: distance of f(x) in ulps from the nearest float, and from the nearest midpoint.

    1 where rounding is trivial: overflow, underflow.
    """
    from flint import arb, fmpq

    f, fmt = function(name), Format.checked(precision)
    with working_precision(400 + 2 * max(0, exponent(x))):
        value = abs(f.value(arb(fmpq(x.numerator, x.denominator))))
        low = exponent(Fraction(value.mid().str(60, radius=False)))
        if (ulp := fmt.ulp(low)) is None:
            return arb(1), arb(1)  # rounding is trivial
        y = value / arb(2) ** ulp
        middle = y + arb(0.5)
        return tuple(abs(z - (z + arb(0.5)).floor()) for z in (y, middle))


def cases(name: str, lo, hi, bits: int, precision: int = 53, argument_precision=None):
    """[(argument, kind)] of all cases in [lo, hi), by growing magnitude."""
    from flint import arb

    found = []
    for x in arguments(lo, hi, argument_precision or precision):
        for kind, distance in zip("FM", distances(name, x, precision), strict=True):
            if distance < arb(2) ** -bits:
                found.append((x, kind))
    return found
