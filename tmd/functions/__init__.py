"""The functions that can be searched: one small file each, with what the rigour rests on.

A file gives the values and the Taylor coefficients as Arb balls, the domain, the arguments whose
values are exact, and how the function looks next to zero. To add a function, add a file with a
`FUNCTION` and its name to `NAMES`.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

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
    exact : (x: Fraction) -> int, (int, int) or None
        f(x) where it has finitely many digits: m, or (m, e) for m 2^e. For every other rational x
        it is irrational.
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

        with _context:
            kept, ctx.cap = ctx.cap, count
            try:
                found = self.series(arb_series([x, 1]))
                return [found[k] for k in range(count)]
            finally:
                ctx.cap = kept

    def value(self, x):
        """f(x) as a ball."""
        return self.coefficients(x, 1)[0]

    def at(self, x: Fraction):
        """f(x) as a ball, of radius 0 where it has finitely many digits."""
        from flint import arb

        digits = self.exact(x)
        return self.value(ball(x)) if digits is None else arb(digits)


def function(name: str) -> Function:
    """The function called `name`.

    Raises
    ------
    ValueError
        An unknown name.
    """
    errors.one_of("function", name, NAMES)
    return importlib.import_module(f"tmd.functions.{name}").FUNCTION


def ball(x: Fraction):
    """x as a ball: exact if it is a binary number that fits into the precision."""
    from flint import arb, fmpq

    return arb(fmpq(x.numerator, x.denominator))


_context = threading.RLock()


@contextlib.contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute with balls of so many bits. flint.ctx belongs to all threads: one at a time."""
    from flint import ctx

    with _context, ctx.workprec(bits):
        yield


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
    from flint import arb

    for precision in (128, 512, 2048, 8192):
        with working_precision(precision):
            turns = (ball(x) * 2 / arb.pi()).floor()
            if (found := turns.unique_fmpz()) is not None:
                return int(found)
    raise ValueError(f"the domain's end {x} is too large")
