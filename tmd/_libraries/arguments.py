"""Arguments at which libraries are checked: numbers of a precision, and lists of them in files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hetero import validation
from tmd._certificates.case_lists import parse_line, read_lines
from tmd._libraries.callables import PRECISIONS, LibraryPrecision
from tmd._libraries.oracles import Oracle, find_oracle
from tmd._search.decisions import extra_precision
from tmd.errors import CertificateError
from tmd.functions.function import working_precision

Point = tuple[float, ...]
"""The arguments of a call: one or two numbers."""

_SPECIAL = re.compile(r"[+-]?([sq]?nan(\(.*\))?|inf(inity)?)", re.IGNORECASE)
_REMARK = re.compile(r"[A-Za-z_]\w*")


def read_arguments(
    path: str | Path, name: str, precision: int = 53, reference: str | Callable | None = None
) -> tuple[list[Any], dict[str, int]]:
    """Read a list of arguments for `check_libraries`, such as those of CORE-MATH.

    A line is a number, perhaps with a comma and a remark after it ("0x1p+10, ERANGE"), or with its
    kind and its identical bits; or two numbers with a comma between them, for a function of two
    arguments. `#` begins a comment.

    Parameters
    ----------
    path : str or Path
    name, reference
        As in `check_libraries`.
    precision : {53, 24}

    Returns
    -------
    arguments : list of Fraction, or of pairs
    skipped : dict of int
        Lines that say nothing about rounding, counted by the reason: NaN or infinity, numbers that
        the precision does not have, and those at which the function has no value.

    Raises
    ------
    CertificateError
        The file cannot be read, or a line is none of the above.
    """
    oracle, numbers = find_oracle(name, reference), check_precision(precision)
    skipped: Counter[str] = Counter()
    arguments: list[Any] = []
    for source, text in read_lines(path):
        number, _, remainder = text.partition(",")
        is_remark = oracle.arity != 2 and _REMARK.fullmatch(remainder.strip())
        others = [remainder] if remainder and not is_remark else []
        if oracle.arity not in (None, len(others) + 1):
            expected = "two arguments" if oracle.arity == 2 else "one argument"
            raise CertificateError(f"{source} must be {expected}: {text.strip()!r}")
        if any(_SPECIAL.fullmatch(part.strip()) for part in (number, *others)):
            skipped["NaN or infinity"] += 1
            continue
        point = tuple(parse_line(source, part).argument for part in (number, *others))
        if not all(_is_number_of(x, numbers) for x in point):
            skipped[f"no number of {numbers.name}"] += 1
        elif not _has_value(oracle, point):
            skipped[f"{name} has no value there"] += 1
        else:
            arguments.append(point if others else point[0])
    return arguments, dict(skipped)


def _has_value(oracle: Oracle, point: tuple[Fraction, ...]) -> bool:
    """Return whether a function has a value at a point, by balls."""
    with working_precision(64 + sum(map(extra_precision, point))):
        return bool(oracle.enclose(point).is_finite())


def check_precision(precision: int) -> LibraryPrecision:
    """Return the precision of 53 or 24 digits; raise ValueError for others."""
    digits = validation.check_integer("precision", precision)
    if digits not in PRECISIONS:
        raise ValueError(f"precision must be 53 or 24, got {validation.describe(precision)}")
    return PRECISIONS[digits]


def check_point(x: Any, precision: LibraryPrecision) -> Point:
    """Return one argument, or a pair, as floats, if they are numbers of the precision."""
    numbers = x if isinstance(x, tuple | list) else (x,)
    for number in numbers:
        if not _is_number_of(validation.python_number("arguments", number), precision):
            validation.check_finite("arguments", number)
            raise ValueError(
                f"arguments must be numbers of {precision.name}, got {validation.describe(number)}"
            )
    return tuple(validation.check_finite("arguments", number) for number in numbers)


def _is_number_of(x: Any, precision: LibraryPrecision) -> bool:
    """Return whether a finite number of Python is one of the precision."""
    try:
        with np.errstate(over="ignore"):
            return bool(float(precision.numpy(float(x))) == x)
    except (OverflowError, TypeError, ValueError):  # beyond binary64, or no number
        return False
