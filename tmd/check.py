"""Which hard cases the mathematical functions of this machine round wrongly."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hetero import errors
from tmd.decide import PRECISIONS, extra
from tmd.functions import Function, function, working_precision


@dataclass(frozen=True)
class Score:
    """What a library does with some arguments.

    Attributes
    ----------
    library : str
    tried : int
    wrong : list of (argument, got, correct)
    """

    library: str
    tried: int
    wrong: list


def correct(f: Function, x: float) -> float:
    """f(x) rounded to the nearest binary64 number, proven by balls.

    Raises
    ------
    TypeError, ValueError
        An argument that is no finite number, or at which f has no value.
    """
    x = Fraction(errors.real("arguments", x))
    for precision in PRECISIONS:
        with working_precision(precision + extra(x)):
            value = f.at(x)
            if not value.is_finite():
                continue
            ends = {_nearest(_fraction(end)) for end in (value.lower(), value.upper())}
            if len(ends) == 1:
                return ends.pop()
    raise ValueError(f"arguments: {f.name} has no value at {float(x)!r} that balls can find")


def _fraction(end) -> Fraction:
    mantissa, power = end.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(power)


def _nearest(y: Fraction) -> float:
    """To nearest, ties to even: Python's conversion does that for finite values."""
    try:
        return float(y)
    except OverflowError:
        return math.inf if y > 0 else -math.inf


def libraries(paths: Iterable[str] = ()) -> dict[str, Callable[[str], Callable | None]]:
    """Names, and functions from a function's name to the function or None."""
    found = {
        "Python's math": lambda name: _math(getattr(math, name, None)),
        f"NumPy {np.__version__}": lambda name: _numpy(getattr(np, name)),
    }
    for path in paths:
        found[str(path)] = _library(str(path))
    return found


def _math(function):
    """Python's function, infinite where Python raises instead."""

    def call(x):
        try:
            return function(x)
        except OverflowError:
            return math.inf

    return function and call


def _numpy(ufunc):
    @np.errstate(all="ignore")
    def call(x):
        return float(ufunc(np.full(8, x))[0])  # an array, so that the vector code runs

    return call


def _library(path: str):
    """A C library with functions double f(double)."""
    try:
        handle = ctypes.CDLL(path)
    except OSError as error:
        raise ValueError(f"library {path!r} cannot be loaded: {error}") from None

    def find(name):
        try:
            f = getattr(handle, name)
        except AttributeError:
            return None
        f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double]
        return f

    return find


def check(name: str, arguments, paths: Iterable[str] = ()) -> list[Score]:
    """Round-to-nearest results of Python's `math`, NumPy and C libraries on some arguments.

    Parameters
    ----------
    name : a function of `tmd.functions.NAMES`
    arguments : iterable of float
        Say `[c.argument for c in result.cases.hardest(1000)]`.
    paths : of C libraries with `double name(double)`, such as "libm.so.6"

    Raises
    ------
    ValueError
        A library that cannot be loaded; an argument at which the function has no value.
    """
    f = function(name)
    found = libraries(paths)
    pairs = [(float(x), correct(f, float(x))) for x in arguments]
    scores = []
    for library, find in found.items():
        call = find(name)
        if call is None:
            continue
        wrong = [(x, got, y) for x, y in pairs if (got := call(x)) != y]
        scores.append(Score(library, len(pairs), wrong))
    return scores
