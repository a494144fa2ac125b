"""Descriptions of functions for a search: what they are written with, and how they are found."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import math
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from hetero import validation
from tmd.formats import Format, argument_runs, exponent, format_fraction

Ball: TypeAlias = Any
"""A `flint.arb`: a midpoint and a radius. python-flint has no annotations."""


NAMES = (
    *("exp", "exp2", "exp10", "expm1", "exp2m1", "exp10m1"),
    *("log", "log2", "log10", "log1p", "log2p1", "log10p1"),
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinpi", "cospi", "tanpi", "asinpi", "acospi", "atanpi"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("cbrt", "rsqrt", "erf", "erfc", "tgamma", "lgamma"),
)

_registered: dict[str, Function] = {}
"""Functions of users, by name."""

MAX_POINTS = 1 << 12
"""Most zeros and poles in a domain: each cuts it into about a hundred blocks."""

MAX_ARGUMENTS = 1 << 20
"""Most arguments of a domain with more of them: each block has at least one argument."""

PROBES = tuple(
    sign * m * Fraction(2) ** e
    for sign in (1, -1)
    for e in range(-12, 13)
    for m in (1, Fraction(21, 16))
)
"""Points at which functions of users are compared that have one name."""

_MODULE_AND_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


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
        f(x) if it has finitely many binary digits: m, or (m, e) for m 2^e. Balls decide all other
        values at some precision if they have infinitely many, which the file proves or, if nobody
        has, says. Values of more than 2^14 digits may be left to balls.
    value : callable (x: arb) -> arb, optional
        f alone, where the series has no value (asin at 1) or takes longer.
    domain : (lo, hi)
        The ends of the interval on which f is defined, perhaps without its ends; None: unbounded.
    points : callable (lo, hi: Fraction) -> iterable of Fraction, optional
        The rational numbers in [lo, hi] at which f is zero, infinite or not smooth, or where
        |f| = 1 if `below_one`. Domains are cut there. Irrational ones need no mention: between two
        arguments, halving ends there.
    count_points : callable (lo, hi: Fraction) -> int, optional
        How many irrational zeros and poles there are, to refuse domains with too many.
    lattices : (for x < 0, for x > 0)
        All multiples of these numbers are such points, too, and f is exact or infinite there.
    is_singular : bool
        Whether blocks must shrink towards `points`, as polynomials do not reach beyond them and
        the exponent of f changes too little to cut blocks there.
    fixed_near_zero : (value, n), optional
        f(x) = value + O(x^n) for x -> 0 with value 1 or 1/2, or "x" for f(x) = x + O(x^(n+1)).
    limits : (at -infinity, at infinity)
        A Fraction that f tends to, math.inf for |f|; there |f| or the distance from the limit is
        monotone. None if f has none, or if it is no number of a few binary digits.
    symmetry : "odd", "even" or ""
    below_one : bool
        Whether |f(x)| < 1 except at `points`. Balls may reach beyond 1 all the same.
    monotone : bool
        Whether f is monotone on both sides of 0, so that two values enclose all between them.
    singular_phases : tuple of Fraction
        If |f| has the period pi: the x/pi in [0, 1) at which it is zero or infinite.
    doubling : callable () -> arb, optional
        f(2x) - f(x) where this is the same for all x > 0, at the precision of flint.ctx. Blocks of
        many exponents are then searched together.
    """

    name: str
    series: Callable
    exact: Callable
    value: Callable | None = None
    domain: tuple[int | None, int | None] = (None, None)
    points: Callable[[Fraction, Fraction], Iterable[Fraction]] | None = None
    count_points: Callable[[Fraction, Fraction], int] | None = None
    lattices: tuple[Fraction | None, Fraction | None] = (None, None)
    is_singular: bool = False
    fixed_near_zero: tuple[Any, int] | None = None
    limits: tuple[Any, Any] = (None, None)
    symmetry: str = ""
    below_one: bool = False
    monotone: bool = False
    singular_phases: tuple[Fraction, ...] = ()
    doubling: Callable[[], Ball] | None = None

    def __repr__(self) -> str:
        return f"Function({self.name!r})"

    def renamed(self, name: str) -> Function:
        """Return the same function under another name."""
        return replace(self, name=name)

    def is_defined_between(self, lo: Fraction, hi: Fraction) -> bool:
        """Return whether the open interval (lo, hi) lies in the domain."""
        first, last = self.domain
        return (first is None or lo >= first) and (last is None or hi <= last)

    def describe_domain(self) -> str:
        """Return in words where the function has values, for one whose domain ends."""
        first, last = self.domain
        if last is None:
            return f"has no value at {first} and below" if first == 0 else f"needs x >= {first}"
        return f"needs {first} <= x <= {last}"

    def coefficients(self, x: Ball, count: int) -> list[Ball]:
        """Return f^(k)(x)/k! for k < count as balls, at the working precision of flint.ctx."""
        from flint import arb, arb_series, ctx

        with _CONTEXT_LOCK:
            previous_cap, ctx.cap = ctx.cap, count
            try:
                series = self.series(arb_series([x, 1]))
                return [series[k] for k in range(count)]
            except (ValueError, ZeroDivisionError):  # a denominator contains 0, or is it
                return [arb.nan()] * count
            finally:
                ctx.cap = previous_cap

    def enclosure(self, x: Ball) -> Ball:
        """Return a ball that contains f(x) for every x in the ball `x`."""
        return self.coefficients(x, 1)[0] if self.value is None else self.value(x)

    def evaluate(self, x: Fraction) -> Ball:
        """Return f(x) as a ball, with radius 0 if f(x) has finitely many binary digits."""
        from flint import arb

        digits = self.exact(x)
        return self.enclosure(ball(x)) if digits is None else arb(digits)


def load_function(name: str | Function) -> Function:
    """Return a function: one of `NAMES`, one of a user, or one that "module:NAME" names.

    Raises
    ------
    TypeError, ValueError
        There is no such function, or another one has its name.
    """
    if isinstance(name, Function):
        return register(name)
    if isinstance(name, str) and name in _registered:
        return _registered[name]
    if isinstance(name, str) and _MODULE_AND_NAME.fullmatch(name):
        loaded = load_object("function", name)
        if not isinstance(loaded, Function):
            raise TypeError(
                f"function: {name} must be a tmd.Function, got {validation.describe(loaded)}"
            )
        return register(loaded.renamed(name))
    validation.check_choice("function", name, NAMES)
    function: Function = importlib.import_module(f"tmd.functions.{name}").FUNCTION
    return function


def is_known(name: Any) -> bool:
    """Return whether a name is that of a function, without loading a module."""
    return isinstance(name, str) and (name in NAMES or name in _registered)


def register(function: Function) -> Function:
    """Let a function of a user be found by its name, in this process; return it.

    Workers of executors find it if it is named "module:NAME".

    Raises
    ------
    TypeError, ValueError
        It is no Function, or another one has its name.
    """
    if not isinstance(function, Function):
        raise TypeError(f"function must be a tmd.Function, got {validation.describe(function)}")
    if not isinstance(function.name, str) or not function.name:
        raise ValueError(f"function must have a name, got {validation.describe(function.name)}")
    for part in ("series", "exact"):
        if not callable(getattr(function, part)):
            raise TypeError(f"function {function.name}: {part} must be callable")
    if function.name in NAMES and load_function(function.name) is not function:
        raise ValueError(f"function: {function.name!r} is a name of tmd; choose another")
    known = _registered.get(function.name, function)
    if known != function and hash_values(known, PROBES) != hash_values(function, PROBES):
        raise ValueError(
            f"function: another one named {function.name!r} is in use, and results that have its "
            "name would become those of this one; choose another name"
        )
    if function.name not in NAMES:
        _registered[function.name] = function
    return function


def load_object(argument: str, name: str) -> Any:
    """Return what "module:NAME" names; messages call the text `argument`."""
    if not _MODULE_AND_NAME.fullmatch(name):
        raise ValueError(f"{argument} must be written module:NAME, got {name!r}")
    module, _, attribute = name.partition(":")
    try:
        loaded = importlib.import_module(module)
    except Exception as error:
        reason = f"({type(error).__name__}: {error})"
        hint = "; is its folder on PYTHONPATH?" if isinstance(error, ImportError) else ""
        raise ValueError(
            f"{argument}: module {module!r} cannot be imported {reason}{hint}"
        ) from error
    if not hasattr(loaded, attribute):
        raise ValueError(f"{argument}: module {module!r} has no {attribute!r}")
    return getattr(loaded, attribute)


def hash_values(f: Function, points: Iterable[Fraction]) -> str:
    """Return a hash of the values of a function at some points, to tell those of one name apart."""
    with working_precision(128):
        text = " ".join(_describe_value(f, x) for x in points)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _describe_value(f: Function, x: Fraction) -> str:
    """Return the value at a point, rounded to a float, or what is wrong with it."""
    try:
        return float(f.evaluate(x).mid()).hex()
    except Exception as error:  # the point may lie outside of the domain of a user's function
        return type(error).__name__


def ball(x: Fraction) -> Ball:
    """Return x as a ball, with radius 0 if x is a binary number within the working precision."""
    from flint import arb, fmpq

    return arb(fmpq(x.numerator, x.denominator))


def exponent_of_ball(y: Ball) -> int:
    """Return the e with 2^e <= |y| < 2^(e+1) for the midpoint of a ball."""
    mantissa, power = y.mid().man_exp()
    return int(mantissa).bit_length() + int(power) - 1


def exponents_of_balls(values: list[Ball]) -> tuple[int, int] | None:
    """Return the least and the largest exponent in balls; None if a number may be 0 or infinite."""
    if any(not value.is_finite() or value.contains(0) for value in values):
        return None
    extremes = [end for y in map(abs, values) for end in (y.lower(), y.upper())]
    exponents = [*map(exponent_of_ball, extremes)]
    return min(exponents), max(exponents)


def enclosures(function: Function, first: Fraction, last: Fraction) -> list[Ball]:
    """Return balls whose union encloses the values of f between two arguments."""
    if first == last:
        return [function.evaluate(first)]
    if function.monotone:
        return [function.evaluate(first), function.evaluate(last)]
    return [function.enclosure(ball(first).union(ball(last)))]


def points_between(f: Function, lo: Fraction, hi: Fraction, fmt: Format) -> set[Fraction]:
    """Return the points at which domains are cut in [lo, hi], if they are not too many."""
    if not lo < hi:
        return set()
    lattice, count = f.lattices[lo >= 0], f.count_points
    number = int((hi - lo) / lattice) if lattice else count(lo, hi) if count else 0
    runs = argument_runs(lo, hi, fmt) if number > MAX_POINTS else []
    if sum(run.count for run in runs) > MAX_ARGUMENTS:
        raise ValueError(
            f"domain: {f.name} has about {number} zeros and poles in "
            f"[{format_fraction(lo)}, {format_fraction(hi)}), each of which is searched from "
            f"both sides: take domains with at most {MAX_POINTS}"
        )
    points = set(f.points(lo, hi) if f.points else ())
    if lattice:
        points |= {k * lattice for k in range(math.ceil(lo / lattice), int(hi // lattice) + 1)}
    return points


def has_values(function: Function, lo: Fraction, hi: Fraction, is_point: bool) -> bool:
    """Return whether f has values other than 0 in [lo, hi).

    If `is_point`, lo is one of `Function.points`, and no other argument is there; else none is.
    """
    if not is_point:
        return function.is_defined_between(lo, hi)
    with working_precision(64 + 2 * abs(exponent(lo))):
        value = function.evaluate(lo)
        return bool(value.is_finite() and value != 0)


def nearest_integer(y: Ball) -> Any:
    """Return the integer that is nearest to all numbers in a ball, or None if there are several."""
    from flint import arb

    return (y + arb(0.5)).floor().unique_fmpz()


_CONTEXT_LOCK = threading.RLock()


@contextlib.contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute with balls of `bits` bits.

    flint.ctx belongs to all threads, so only one thread at a time runs in this context.
    """
    from flint import ctx

    with _CONTEXT_LOCK, ctx.workprec(bits):
        yield
