"""Checks of arguments that all public functions share: errors name argument, value and range."""

from __future__ import annotations

import math
from numbers import Real
from pathlib import Path
from typing import Any


def check_finite(name: str, value: Any) -> float:
    """Return `value` as a finite float.

    Raises TypeError if it is not a real number, ValueError if it is NaN or infinite.
    """
    number = _python_number(value)
    try:
        if isinstance(number, bool) or not isinstance(number, Real):
            raise TypeError
        value = float(number)
    except (TypeError, OverflowError):
        raise TypeError(f"{name} must be a real number, got {value!r}") from None
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return value


def _python_number(value: Any) -> Any:
    """Return a NumPy or device scalar, not an array of one element, as a Python number."""
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


def check_integer(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """Return `value` as an int of at least `least`, and at most `most`."""
    try:
        plain = _python_number(value)
        number = int(plain)
        if number != plain or isinstance(plain, bool):
            raise TypeError
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if number < least or (most is not None and number > most):
        allowed = f">= {least}" if most is None else f"in [{least}, {most}]"
        raise ValueError(f"{name} must be an integer {allowed}, got {value!r}")
    return number


def check_choice(name: str, value: Any, options: tuple[str, ...]) -> str:
    """Return `value` if it is one of `options`, else raise a ValueError that lists them."""
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}")
    return value


def check_shape(name: str, value: Any) -> tuple[int, ...]:
    """Return None, an int or a sequence of ints as an array shape; None is a scalar's ()."""
    if value is None:
        return ()
    try:
        sizes = tuple(value) if hasattr(value, "__iter__") else (value,)
        sizes = tuple(int(n) if n == int(n) else n for n in sizes)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be an int or a tuple of ints, got {value!r}") from None
    if not all(isinstance(n, int) and n >= 0 for n in sizes):
        raise ValueError(f"{name} must hold integers >= 0, got {value!r}")
    return sizes


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
