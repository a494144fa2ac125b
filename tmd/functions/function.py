"""The description of a function for a search, and what such descriptions are written with."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

Ball: TypeAlias = Any
"""A `flint.arb`: a midpoint and a radius. python-flint has no annotations."""


@dataclass(frozen=True, repr=False)
class Function:
    """A function f, described for a search.

    Attributes
    ----------
    name : str
        The name in C's math.h.
    series : callable (x: arb_series, a polynomial of degree one) -> arb_series
        Composes f with a power series. The first coefficient of the result is the value. Over a
        wide ball the others enclose f^(k)/k!, from which Lagrange's remainder is computed.
    exact : callable (x: Fraction) -> int, (int, int) or None
        f(x) if it has finitely many binary digits: m, or (m, e) for m 2^e. For every other rational
        x the value is irrational.
    singularity : callable (lo, hi: Fraction) -> str or None
        Describes a point in [lo, hi) at which f is zero, infinite or undefined.
    trivial_near_zero : (c, n)
        |f(x) - r(x)| = c |x|^n (1 + o(1)) relative to |f| for x -> 0, where r is the trivial
        rounding, 1 or x. (0, 0) if f has no trivial rounding near 0.
    symmetry : "odd", "even" or ""
    below_one : bool
        Whether |f(x)| < 1 for every rational x but 0. Balls may reach beyond 1 all the same.
    monotone : bool
        Whether f increases where it is defined, so that two values enclose all between them.
    """

    name: str
    series: Callable
    exact: Callable
    singularity: Callable
    trivial_near_zero: tuple[float, int] = (0.0, 0)
    symmetry: str = ""
    below_one: bool = False
    monotone: bool = False

    def __repr__(self) -> str:
        return f"Function({self.name!r})"

    def coefficients(self, x: Ball, count: int) -> list[Ball]:
        """Return f^(k)(x)/k! for k < count as balls, at the working precision of flint.ctx."""
        from flint import arb_series, ctx

        with _CONTEXT_LOCK:
            previous_cap, ctx.cap = ctx.cap, count
            try:
                series = self.series(arb_series([x, 1]))
                return [series[k] for k in range(count)]
            finally:
                ctx.cap = previous_cap

    def enclosure(self, x: Ball) -> Ball:
        """Return a ball that contains f(x) for every x in the ball `x`."""
        return self.coefficients(x, 1)[0]

    def evaluate(self, x: Fraction) -> Ball:
        """Return f(x) as a ball, with radius 0 if f(x) has finitely many binary digits."""
        from flint import arb

        digits = self.exact(x)
        return self.enclosure(ball(x)) if digits is None else arb(digits)


def ball(x: Fraction) -> Ball:
    """Return x as a ball, with radius 0 if x is a binary number within the working precision."""
    from flint import arb, fmpq

    return arb(fmpq(x.numerator, x.denominator))


_CONTEXT_LOCK = threading.RLock()


@contextlib.contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute with balls of `bits` bits.

    flint.ctx belongs to all threads, so only one thread at a time runs in this context.
    """
    from flint import ctx

    with _CONTEXT_LOCK, ctx.workprec(bits):
        yield


def no_singularity(lo: Fraction, hi: Fraction) -> None:
    """Return None: the function has no zeros and no poles and is defined everywhere."""


def singularity_at_half_pi_multiples(parity: int, description: str) -> Callable:
    """Make a `Function.singularity` for points at multiples of pi/2.

    `parity` selects the odd multiples (1), the even ones (0) or all of them (2).
    """

    def find_singularity(lo: Fraction, hi: Fraction) -> str | None:
        first, last = _count_quarter_turns(lo), _count_quarter_turns(hi)
        for k in range(first + 1, min(last, first + 2) + 1):
            if parity == 2 or (k - parity) % 2 == 0:
                return f"{description} at {k} pi/2"
        if lo <= 0 < hi and parity != 1:
            return f"{description} at 0"
        return None

    return find_singularity


def _count_quarter_turns(x: Fraction) -> int:
    """Return floor(x / (pi/2)), with as many bits as that takes.

    Some precision always suffices, because no rational number but 0 is a multiple of pi.
    """
    from flint import arb

    for precision in (128, 512, 2048, 8192):
        with working_precision(precision):
            turns = (ball(x) * 2 / arb.pi()).floor()
            if (count := turns.unique_fmpz()) is not None:
                return int(count)
    raise ValueError(f"domain: its end {x} is too large to find the nearest multiple of pi/2")
