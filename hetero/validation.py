"""Checks of arguments that all public functions share: errors name argument, value and range."""

from __future__ import annotations

import math
import os
from math import isfinite, isnan
from numbers import Rational, Real
from pathlib import Path
from typing import Any

import numpy as np

MAX_ELEMENTS = 1 << 60
"""Number of elements from which on the bytes of an array cannot be counted in 64 bits."""


def describe(value: Any) -> str:
    """Return the value of an argument for an error message: short, whatever it is."""
    try:
        text = repr(value)
    except Exception:  # an integer of more than 4300 digits, or an object's own error
        if isinstance(value, int):
            return f"an integer of {value.bit_length()} bits"
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:160]} ... {text[-30:]}"


def check_finite(name: str, value: Any) -> float:
    """Return `value` as a finite float.

    Raises TypeError if it is not a real number, ValueError if it is NaN or infinite.
    """
    result = _as_float(name, value)
    if not isfinite(result):
        raise ValueError(f"{name} must be finite, got {describe(value)}")
    return result


def check_bound(name: str, value: Any) -> float:
    """Return an end of an interval as a float, which may be infinite but not NaN."""
    result = _as_float(name, value)
    if isnan(result):
        raise ValueError(f"{name} must not be NaN")
    return result


def _as_float(name: str, value: Any) -> float:
    number = python_number(name, value)
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{name} must be a real number, got {describe(value)}")
    try:
        return float(number)
    except OverflowError:
        raise ValueError(
            f"{name} must be within the range of float64, got {describe(value)}"
        ) from None


def require_unmasked(name: str, values: Any) -> None:
    """Raise ValueError for masked elements of numpy.ma, whose values mean nothing."""
    if _has_masked(values):
        dimensions = getattr(values, "ndim", None)
        remedy = f"fill the gaps, for example by {name}.filled(0.0)"
        if dimensions is None:
            remedy = "pass compressed() of each masked array, or fill the gaps"
        elif dimensions == 1:
            remedy = f"pass {name}.compressed(), or fill the gaps"
        raise ValueError(f"{name} must not be masked: {remedy}")


def _has_masked(values: Any) -> bool:
    if isinstance(values, list | tuple):
        return any(_has_masked(v) for v in values if not isinstance(v, float | int | np.number))
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.is_masked(values))


def python_number(name: str, value: Any) -> Any:
    """Return a NumPy or device scalar, not an array of one element, as a Python number."""
    require_unmasked(name, value)
    if isinstance(value, np.timedelta64):  # NumPy calls it an integer
        return value.item()
    is_scalar = getattr(value, "ndim", None) == 0 and getattr(value, "dtype", None) is not None
    return value.item() if is_scalar else value


def check_in_range(
    name: str, value: Any, low: float, high: float, *, closed: str = "both"
) -> float:
    """Return `value` as a float in [low, high]; `closed` says which ends belong to the range."""
    value = check_finite(name, value)
    above = value >= low if closed in ("both", "left") else value > low
    below = value <= high if closed in ("both", "right") else value < high
    if not (above and below):
        left = "[" if closed in ("both", "left") else "("
        right = "]" if closed in ("both", "right") else ")"
        raise ValueError(f"{name} must lie in {left}{low:g}, {high:g}{right}, got {value!r}")
    return value


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a finite float > 0."""
    value = check_finite(name, value)
    if value <= 0.0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return value


def check_integer(name: str, value: Any, least: int | None = 0, most: int | None = None) -> int:
    """Return `value` as an int of at least `least`, and at most `most`; None is no bound."""
    plain = python_number(name, value)
    is_number = isinstance(plain, Real) and not isinstance(plain, bool)
    if not is_number or not _is_whole(plain):
        raise TypeError(f"{name} must be an integer, got {describe(value)}")
    number = int(plain)
    if (least is not None and number < least) or (most is not None and number > most):
        low = "-inf" if least is None else least
        allowed = f">= {low}" if most is None else f"in [{low}, {most}]"
        raise ValueError(f"{name} must be an integer {allowed}, got {describe(value)}")
    return number


def _is_whole(number: Real) -> bool:
    """Return whether a real number, of any size, is an integer."""
    if isinstance(number, Rational):
        return number.denominator == 1
    return isfinite(number) and number == int(number)  # type: ignore[call-overload]  # a float


def check_executor(name: str, value: Any) -> None:
    """Raise TypeError unless `value` is None or can take tasks as `concurrent.futures` does."""
    if value is not None and not callable(getattr(value, "submit", None)):
        raise TypeError(
            f"{name} must be a concurrent.futures.Executor or None, got {describe(value)}"
        )


def require_iterable(name: str, value: Any, of: str) -> None:
    """Raise TypeError unless `value`, which should hold `of`, is an iterable and no text."""
    is_scalar = getattr(value, "ndim", 1) == 0
    if is_scalar or isinstance(value, str | bytes) or not np.iterable(value):
        raise TypeError(f"{name} must be a list of {of}, got {describe(value)}")


def check_path(name: str, value: Any) -> Path:
    """Return text or a path object as a Path that an operating system could have."""
    if not isinstance(value, str | os.PathLike) or isinstance(path := os.fspath(value), bytes):
        raise TypeError(f"{name} must be a path, got {describe(value)}")
    if not path or "\0" in path:
        raise ValueError(f"{name} must be the path of a file, got {describe(value)}")
    return Path(path)


def check_choice(name: str, value: Any, options: tuple[str, ...]) -> str:
    """Return `value` if it is one of `options`, else raise a ValueError that lists them."""
    if not isinstance(value, str) or value not in options:
        allowed = ", ".join(map(repr, options))
        raise ValueError(f"{name} must be one of {allowed}, got {describe(value)}")
    return value


def check_dtype(name: str, value: Any, options: tuple[str, ...]) -> np.dtype:
    """Return `value`, a dtype or its name, as the NumPy dtype that it stands for.

    Raises ValueError unless its name is one of `options`.
    """
    try:
        text = value if value is None else np.dtype(value).name
    except (TypeError, ValueError, SyntaxError):  # NumPy parses text as a structure of fields
        text = value
    if not isinstance(text, str) or text not in options:
        allowed = ", ".join(map(repr, options))
        raise ValueError(f"{name} must be one of {allowed}, got {describe(value)}")
    return np.dtype(text)


def check_shape(name: str, value: Any) -> tuple[int, ...]:
    """Return None, an int or a sequence of ints as an array shape; None is a scalar's ()."""
    if value is None:
        return ()
    plain = python_number(name, value)
    if isinstance(plain, str | bytes | set | frozenset | dict) or not (
        isinstance(plain, Real) or np.iterable(plain)
    ):
        raise TypeError(f"{name} must be an int or a tuple of ints, got {describe(value)}")
    sizes = (plain,) if isinstance(plain, Real) else tuple(python_number(name, n) for n in plain)
    if not all(isinstance(n, Rational) or (isinstance(n, Real) and isfinite(n)) for n in sizes):
        raise TypeError(f"{name} must be an int or a tuple of ints, got {describe(value)}")
    if not all(_is_whole(n) and n >= 0 for n in sizes):
        raise ValueError(f"{name} must hold integers >= 0, got {describe(value)}")
    shape = tuple(map(int, sizes))
    if len(shape) > 64 or math.prod(max(n, 1) for n in shape) >= MAX_ELEMENTS:
        raise ValueError(
            f"{name} must have at most 64 dimensions and fewer than 2^60 elements, got "
            f"{describe(value)}"
        )
    return shape


def check_output_path(name: str, path: Path | None, suffixes: tuple[str, ...] = ()) -> None:
    """Raise ValueError, before a long computation, if its result could not be written to `path`.

    The path must end with one of `suffixes`, if there are any, and lie in an existing folder. None
    stands for no file.
    """
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise ValueError(f"{name} must end with {', '.join(suffixes)}, got {str(path)!r}")
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"{name} must be a file in an existing folder, got {str(path)!r}")
