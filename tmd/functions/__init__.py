"""The functions that can be searched: one small file each, with what the rigour rests on.

A file gives the values and the Taylor coefficients as Arb balls, the domain, the arguments whose
values are exact, and how the function looks next to zero. To add a function, add a file with a
`FUNCTION` and its name to `NAMES`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from hetero import errors

NAMES = ("exp", "exp2", "log", "log2", "sin", "cos", "tan")


@dataclass(frozen=True)
class Function:
    """What a search needs to know of a function f.

    Attributes
    ----------
    name : as in C's math.h
    series : (x: arb_series, a polynomial of degree one) -> arb_series
        f of a power series. Its first coefficient is the value, and over a wide ball the others
        enclose f^(k)/k!, which Lagrange's remainder is made of.
    exact : (x: Fraction) -> bool
        Whether f(x) has finitely many digits. For every other rational x it is irrational.
    hole : (lo, hi: Fraction) -> str or None
        A point in [lo, hi) at which f is zero, infinite or not defined, in words.
    tiny : (c, n)
        |f(x) - r(x)| = c |x|^n (1 + o(1)) relative to |f|, x -> 0, for the trivial rounding r:
        1 or x. (0, 0): there is none.
    symmetry : "odd", "even" or ""
    below_one : bool
        Whether |f(x)| < 1 for every rational x but 0, though balls may reach beyond.
    """

    name: str
    series: Callable
    exact: Callable
    hole: Callable
    tiny: tuple[float, int] = (0.0, 0)
    symmetry: str = ""
    below_one: bool = False

    def coefficients(self, x, count: int) -> list:
        """f^(k)(x)/k! as balls, k < count, at the working precision of flint.ctx."""
        from flint import arb_series, ctx

        kept, ctx.cap = ctx.cap, count
        try:
            found = self.series(arb_series([x, 1]))
            return [found[k] for k in range(count)]
        finally:
            ctx.cap = kept

    def value(self, x):
        """f(x) as a ball."""
        return self.coefficients(x, 1)[0]


def function(name: str) -> Function:
    """The function called `name`.

    Raises
    ------
    ValueError
        An unknown name.
    """
    errors.one_of("function", name, NAMES)
    return importlib.import_module(f"tmd.functions.{name}").FUNCTION


def never(lo, hi) -> None:
    """No hole anywhere."""


def multiple_of_pi(halves: int, words: str) -> Callable:
    """A hole at every multiple of pi/2 that is odd (halves = 1), even (0) or any (2)."""

    def hole(lo, hi):
        first, last = _half_turns(lo), _half_turns(hi)
        for k in range(first + 1, min(last, first + 2) + 1):
            if halves == 2 or (k - halves) % 2 == 0:
                return f"{words} at {k} pi/2"
        if lo <= 0 < hi and halves != 1:
            return f"{words} at 0"
        return None

    return hole


def _half_turns(x) -> int:
    """floor(x / (pi/2)), by balls of growing precision: no rational but 0 is a multiple of pi."""
    from flint import arb, ctx, fmpq

    for precision in (128, 512, 2048, 8192):
        with ctx.workprec(precision):
            turns = (arb(fmpq(x.numerator, x.denominator)) * 2 / arb.pi()).floor()
            if (found := turns.unique_fmpz()) is not None:
                return int(found)
    raise ValueError(f"the domain's end {x} is too large")
