"""Anything that computes a function, as a callable from float to float."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hetero import validation
from tmd._libraries.c_library import CLibrary


@dataclass(frozen=True)
class LibraryPrecision:
    """The type of numbers in which a library computes."""

    digits: int
    numpy: type
    c: type
    suffix: str  # of the names of C functions
    least_exponent: int  # of the smallest subnormal number
    name: str


_CTYPES_FUNCTION: Any = ctypes.CFUNCTYPE(None).__mro__[1]
"""Base class of all functions of ctypes, which has a private name."""

BINARY64 = LibraryPrecision(53, np.float64, ctypes.c_double, "", -1074, "binary64")
BINARY32 = LibraryPrecision(24, np.float32, ctypes.c_float, "f", -149, "binary32")
BINARY16 = LibraryPrecision(11, np.float16, ctypes.c_uint16, "f16", -24, "binary16")
PRECISIONS = {53: BINARY64, 24: BINARY32}


Library = tuple[str, Callable[..., float]]
"""A label and a function."""

_NAMES_IN_PYTHON = {"tgamma": "gamma"}
_NAMES_IN_NUMPY = {
    **{f"a{f}": f"arc{f}" for f in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{"atan2": "arctan2", "pow": "power"},
}


def libraries_of_python(name: str, precision: LibraryPrecision, arity: int = 1) -> list[Library]:
    """Return the functions of Python's `math`, which has binary64 only, and NumPy, if any."""
    libraries: list[Library] = []
    function = getattr(math, _NAMES_IN_PYTHON.get(name, name), None)
    if precision is BINARY64 and callable(function):
        is_odd = name in ("sinh", "expm1", "lgamma", "tgamma")
        libraries.append(("Python's math", wrap_callable("Python's math", function, is_odd)))
    if (ufunc := find_ufunc(name, arity)) is not None:
        libraries.append((f"NumPy {np.__version__}", wrap_ufunc(ufunc, precision, arity)))
    return libraries


def find_ufunc(name: str, arity: int = 1) -> np.ufunc | None:
    """Return NumPy's function of this name in C, if it has one."""
    ufunc = getattr(np, _NAMES_IN_NUMPY.get(name, name), None)
    is_one = isinstance(ufunc, np.ufunc) and (ufunc.nin, ufunc.nout) == (arity, 1)
    return ufunc if is_one else None


def load_libraries(
    libraries: Any, name: str, symbol: str | None, precision: LibraryPrecision, arity: int = 1
) -> list[Library]:
    """Return what users pass as libraries, in their order, with labels that may be equal.

    Parameters
    ----------
    libraries : mapping of labels to sources, or iterable of sources
        A source is the path of a C library, a ufunc, a ctypes function or a callable.
    name : str
        The function; its symbol in C libraries has the suffix of the precision.
    symbol : str, optional
        Symbol in the C libraries, instead of that.

    Raises
    ------
    TypeError, ValueError
        A source is of another kind, cannot be loaded, or lacks the function.
    """
    if isinstance(libraries, Mapping):
        pairs = [(str(label), source) for label, source in libraries.items()]
    else:
        validation.require_iterable("libraries", libraries, "paths and callables, or a mapping")
        pairs = [(_label_of(source), source) for source in libraries]
    if symbol is not None and not isinstance(symbol, str):
        raise TypeError(f"symbol must be a name, got {validation.describe(symbol)}")
    symbol = name + precision.suffix if symbol is None else symbol
    return [(label, _load(label, source, symbol, precision, arity)) for label, source in pairs]


def number_equal_labels(libraries: list[Library]) -> list[Library]:
    """Return libraries with unique labels: the second "exp" becomes "exp (2)"."""
    labelled: dict[str, Callable[..., float]] = {}
    for label, call in libraries:
        numbered = (f"{label} ({n})" for n in itertools.count(2))
        unique = next(text for text in itertools.chain([label], numbered) if text not in labelled)
        labelled[unique] = call
    return list(labelled.items())


def _label_of(source: Any) -> str:
    if isinstance(source, str | Path):
        return str(source)
    return str(getattr(source, "__name__", None) or type(source).__name__)


def _load(
    label: str, source: Any, symbol: str, precision: LibraryPrecision, arity: int
) -> Callable[..., float]:
    """Return one source as a callable."""
    if isinstance(source, str | Path):
        validation.check_path("libraries", source)
        return CLibrary(source).find(
            symbol, precision.c, arity
        )  # a Path has lost the "./" of its text
    if isinstance(source, np.ufunc):
        return wrap_ufunc(source, precision, arity)
    if isinstance(source, _CTYPES_FUNCTION):
        if source.restype not in (ctypes.c_double, ctypes.c_float):
            raise ValueError(
                f"libraries: the ctypes function {label} returns "
                f"{getattr(source.restype, '__name__', source.restype)}; set its restype and "
                "argtypes to ctypes.c_double or ctypes.c_float"
            )
        return source
    if callable(source):
        return wrap_callable(label, source)
    raise TypeError(
        "libraries must hold paths, ufuncs, ctypes functions and callables, got "
        f"{validation.describe(source)}"
    )


def wrap_callable(label: str, function: Callable, is_odd: bool = False) -> Callable[..., float]:
    """Let a function of Python return infinity where it raises OverflowError.

    Of an odd one, it has the sign of the argument.
    """

    def call(*x: float) -> float:
        try:
            value = function(*x)
        except OverflowError:
            return math.copysign(math.inf, x[0]) if is_odd else math.inf
        try:
            return float(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"libraries: {label} must return a number, got {validation.describe(value)}"
            ) from None

    return call


def wrap_ufunc(
    ufunc: np.ufunc, precision: LibraryPrecision, arity: int = 1
) -> Callable[..., float]:
    """Let a ufunc take numbers, but run its vector code."""
    if (ufunc.nin, ufunc.nout) != (arity, 1):
        inputs = "one input" if arity == 1 else "two inputs"
        raise ValueError(
            f"libraries: the ufunc {ufunc.__name__} must have {inputs} and one output, it has "
            f"{ufunc.nin} and {ufunc.nout}"
        )

    @np.errstate(all="ignore")
    def call(*x: float) -> float:
        return float(ufunc(*(np.full(8, v, precision.numpy) for v in x))[0])

    return call
