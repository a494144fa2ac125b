"""Check of the mathematical functions of this machine on hard cases."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hetero import validation
from hetero.display.notebook import html_table
from tmd._search.decisions import BALL_PRECISIONS, extra_precision
from tmd.functions import load_function
from tmd.functions.function import Ball, Function, working_precision


@dataclass(frozen=True, repr=False)
class LibraryScore:
    """Results of one library on some arguments.

    Attributes
    ----------
    library : str
    tried : int
        Number of arguments.
    wrong : list of (argument, returned value, correct value)
    """

    library: str
    tried: int
    wrong: list[tuple[float, float, float]]

    def __repr__(self) -> str:
        return f"LibraryScore({self.library}: {len(self.wrong)} of {self.tried} wrong)"

    def _repr_html_(self) -> str:
        title = f"{self.library}: {len(self.wrong)} of {self.tried} wrong"
        rows = [(x.hex(), returned.hex(), y.hex()) for x, returned, y in self.wrong[:20]]
        return html_table(title, rows, ("argument", "returned", "correct"))


def round_correctly(f: Function, x: float) -> float:
    """Return f(x) rounded to the nearest binary64 number, as proven by balls.

    Raises
    ------
    TypeError, ValueError
        The argument is not a finite real number, or f has no value there.
    """
    argument = Fraction(validation.check_finite("arguments", x))
    for precision in BALL_PRECISIONS:
        with working_precision(precision + extra_precision(argument)):
            value = f.evaluate(argument)
            if not value.is_finite():
                continue
            ends = {_round_to_nearest(_to_fraction(end)) for end in (value.lower(), value.upper())}
            if len(ends) == 1:
                return ends.pop()
    raise ValueError(
        f"arguments: {f.name} has no value at {float(argument)!r} that balls can determine"
    )


def _to_fraction(end: Ball) -> Fraction:
    """Return the midpoint of a ball as a Fraction."""
    mantissa, power = end.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(power)


def _round_to_nearest(y: Fraction) -> float:
    """Round to nearest, ties to even, and to infinity in case of overflow."""
    try:
        return float(y)
    except OverflowError:
        return math.inf if y > 0 else -math.inf


def load_libraries(paths: Iterable[str] = ()) -> dict[str, Callable[[str], Callable | None]]:
    """Return the libraries by name: Python's math, NumPy, and the C libraries at `paths`.

    Each is a callable that returns the function with a given name, or None if it has none.
    """
    libraries = {
        "Python's math": lambda name: _wrap_math(getattr(math, name, None)),
        f"NumPy {np.__version__}": lambda name: _wrap_ufunc(getattr(np, name)),
    }
    for path in paths:
        libraries[str(path)] = _load_c_library(str(path))
    return libraries


def _wrap_math(function: Callable | None) -> Callable | None:
    """Let a function of `math` return infinity where it raises OverflowError."""

    if function is None:
        return None

    def call(x: float) -> float:
        try:
            return float(function(x))
        except OverflowError:
            return math.inf

    return call


def _wrap_ufunc(ufunc: Callable) -> Callable:
    """Let a ufunc take one number, but run its vector code."""

    @np.errstate(all="ignore")
    def call(x: float) -> float:
        return float(ufunc(np.full(8, x))[0])

    return call


def _load_c_library(path: str) -> Callable[[str], Callable | None]:
    """Load a C library with functions double f(double)."""
    try:
        handle = ctypes.CDLL(path)
    except OSError as error:
        raise ValueError(f"library {path!r} cannot be loaded: {error}") from None

    def find_function(name: str) -> Callable | None:
        try:
            f = getattr(handle, name)
        except AttributeError:
            return None
        f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double]
        return f

    return find_function


def check_libraries(
    name: str, arguments: Iterable[float | Fraction], paths: Iterable[str] = ()
) -> list[LibraryScore]:
    """Compare Python's `math`, NumPy and C libraries with correct rounding to nearest.

    Parameters
    ----------
    name : str
        A function in `tmd.functions.NAMES`.
    arguments : iterable of float
        For instance `[c.argument for c in result.cases.hardest(1000)]`.
    paths : iterable of str
        Paths of C libraries with `double name(double)`, such as "libm.so.6".

    Raises
    ------
    ValueError
        A library cannot be loaded, or the function has no value at an argument.
    """
    f = load_function(name)
    libraries = load_libraries(paths)
    pairs = [(float(x), round_correctly(f, float(x))) for x in arguments]
    scores = []
    for library, find_function in libraries.items():
        call = find_function(name)
        if call is None:
            continue
        wrong = [(x, returned, y) for x, y in pairs if (returned := call(x)) != y]
        scores.append(LibraryScore(library, len(pairs), wrong))
    return scores
