"""Oracles of the value of a function: its description, or a reference of balls or of mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from hetero import validation
from tmd.functions import load_function, load_object
from tmd.functions.function import Ball, Function, ball

_LOST_BITS = 10
"""Bits of an mpmath result that are not trusted."""


@dataclass(frozen=True)
class Oracle:
    """Encloses the values of a function of one or two arguments.

    Attributes
    ----------
    name : str
        The name of the function in libraries.
    arity : int or None
        None if the reference takes any number of arguments.
    enclose : callable (point: tuple of Fraction) -> arb
        At the working precision, with radius 0 if the value is known to be exact.
    """

    name: str
    arity: int | None
    enclose: Callable[[tuple[Fraction, ...]], Ball]

    @classmethod
    def of_function(cls, f: Function) -> Oracle:
        """Return the oracle of a function that can be searched."""
        return cls(f.name.rpartition(":")[2], 1, lambda point: _evaluate(f, point[0]))


_FAR = (Fraction(16), Fraction(64), Fraction(512))
"""Arguments at which functions that tend to a limit exponentially may be close enough to it."""


def _evaluate(f: Function, x: Fraction) -> Ball:
    """Return f(x), or a value that is rounded alike if f(x) cannot be told from its limit."""
    value, limit = f.evaluate(x), f.limits[x > 0]
    if limit in (None, 0, math.inf) or not value.contains(ball(limit)):
        return value
    for far in _FAR:
        before = f.enclosure(ball(far if x > 0 else -far))
        # No breakpoint is that close to the limit but the limit itself, which f does not reach.
        if abs(x) > far and abs(before - ball(limit)) < ball(Fraction(1, 1 << 80)):
            return before
    return value


def find_oracle(name: str | Function, reference: str | Callable | None) -> Oracle:
    """Return what decides a function: a reference, or what is known by its name."""
    if reference is None:
        if isinstance(name, str) and name in PAIRS:
            return Oracle(name, 2, PAIRS[name])
        return Oracle.of_function(load_function(name))
    if isinstance(reference, str):
        reference = load_object("reference", reference)
    if not callable(reference):
        raise TypeError(
            "reference must be a function of flint.arb or of mpmath, or 'module:NAME', got "
            f"{validation.describe(reference)}"
        )
    name = name.name if isinstance(name, Function) else name
    return Oracle(name, None, lambda point: _call(reference, point))


def _call(reference: Callable, point: tuple[Fraction, ...]) -> Ball:
    """Return the ball of a reference: its own, or that around a number of mpmath."""
    from flint import arb, ctx

    if not (getattr(reference, "__module__", None) or "").startswith("mpmath"):
        value = reference(*map(ball, point))
        if isinstance(value, arb):
            return value
        raise TypeError(
            "reference must return a flint.arb for arguments that are flint.arb, got "
            f"{validation.describe(value)}; functions of mpmath are taken as they are"
        )
    import mpmath

    with mpmath.workprec(ctx.prec):
        # Arguments of libraries are binary numbers, which mpmath takes exactly.
        x = [mpmath.ldexp(q.numerator, 1 - q.denominator.bit_length()) for q in point]
        try:
            value = mpmath.mpmathify(reference(*x))
        except (ValueError, ZeroDivisionError):  # how mpmath reports a pole
            return arb.nan()
        if isinstance(value, mpmath.mpc) or not mpmath.isfinite(value):
            return arb.nan()
        mantissa, power = mpmath.frexp(value)
        digits = int(mpmath.ldexp(mantissa, ctx.prec))
    scale = arb(2) ** (int(power) - ctx.prec)
    return arb(digits, 0 if digits == 0 else 1 << _LOST_BITS) * scale


def _pow(point: tuple[Fraction, ...]) -> Ball:
    """Return x^y; exact if x is a power of a rational number that is the inverse of y's root."""
    from flint import arb

    x, y = point
    if x == 0 or (x < 0 and y.denominator != 1):
        return arb(int(y == 0)) if x == 0 and y >= 0 else arb.nan()
    root, n = abs(x), y.denominator
    while n > 1 and (square := _root_of_square(root)) is not None:
        root, n = square, n // 2
    bits = max(root.numerator.bit_length(), root.denominator.bit_length())
    if n == 1 and abs(y.numerator) * (bits - 1) <= 1 << 14:
        power = root**y.numerator
        return ball(-power if x < 0 and y.numerator % 2 else power)
    value = (ball(abs(x)).log() * ball(y)).exp()
    return -value if x < 0 and y.numerator % 2 else value


def _root_of_square(x: Fraction) -> Fraction | None:
    """Return the root of a rational number if it is a square."""
    roots = math.isqrt(x.numerator), math.isqrt(x.denominator)
    return Fraction(*roots) if (roots[0] ** 2, roots[1] ** 2) == x.as_integer_ratio() else None


def _hypot(point: tuple[Fraction, ...]) -> Ball:
    """Return the root of x^2 + y^2; exact if that is a square."""
    square = point[0] ** 2 + point[1] ** 2
    root = _root_of_square(square)
    return ball(square).sqrt() if root is None else ball(root)


def _atan2(point: tuple[Fraction, ...]) -> Ball:
    """Return the angle of (x, y), y first; it is irrational except 0 at y = 0 <= x (Lindemann)."""
    from flint import arb

    y, x = map(ball, point)
    return arb(0) if point[0] == 0 and point[1] >= 0 else arb.atan2(y, x) if point[0] else arb.pi()


PAIRS = {"pow": _pow, "hypot": _hypot, "atan2": _atan2}
"""Functions of two arguments, whose exact values are known."""
