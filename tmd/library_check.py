"""Check of the mathematical functions of this machine on hard cases."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hetero import validation
from hetero.display.notebook import html_table
from hetero.equality import equal_by_value
from tmd._certificates.case_lists import parse_line, read_lines
from tmd._libraries.callables import (
    BINARY64,
    PRECISIONS,
    Precision,
    libraries_of_python,
    load_libraries,
    number_equal_labels,
)
from tmd._search.decisions import BALL_PRECISIONS, extra_precision
from tmd.errors import CertificateError
from tmd.functions import load_function
from tmd.functions.function import Ball, Function, working_precision


@equal_by_value
@dataclass(frozen=True, eq=False, repr=False)
class LibraryScore:
    """Results of one library on some arguments.

    Attributes
    ----------
    library : str
    tried : int
        Number of arguments.
    wrong : list of (argument, returned value, correct value)
        All are floats, also for functions of binary32.
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


def round_correctly(f: Function, x: float, precision: Precision = BINARY64) -> float:
    """Return f(x) rounded to the nearest number of binary64 (or binary32), as proven by balls.

    Raises
    ------
    TypeError, ValueError
        The argument is not a finite real number, or f has no value there.
    """
    argument = Fraction(validation.check_finite("arguments", x))
    for digits in BALL_PRECISIONS:
        with working_precision(digits + extra_precision(argument)):
            value = f.evaluate(argument)
            if not value.is_finite():
                continue
            ends = {_round_to_nearest(end, precision) for end in (value.lower(), value.upper())}
            if len(ends) == 1:
                return ends.pop()
    raise ValueError(
        f"arguments: {f.name} has no value at {float(argument)!r} that balls can determine"
    )


def _round_to_nearest(end: Ball, precision: Precision) -> float:
    """Round the midpoint of a ball to nearest, ties to even; to infinity in case of overflow."""
    mantissa, power = map(int, end.mid().man_exp())
    if mantissa == 0:
        return 0.0
    magnitude, sign = mantissa.bit_length() + power, 1.0 if mantissa > 0 else -1.0
    if magnitude > 1024 or magnitude < -1100:  # too many digits for a Fraction
        return math.copysign(math.inf if magnitude > 0 else 0.0, sign)
    quantum = max(magnitude - precision.digits, precision.least_exponent)
    rounded = round(Fraction(mantissa) * Fraction(2) ** (power - quantum)) * Fraction(2) ** quantum
    if abs(rounded) > Fraction(float(np.finfo(precision.numpy).max)):
        return math.copysign(math.inf, sign)
    return math.copysign(float(rounded), sign)


def check_libraries(
    name: str,
    arguments: Iterable[float | Fraction],
    libraries: Any = (),
    *,
    symbol: str | None = None,
    precision: int = 53,
) -> list[LibraryScore]:
    """Compare Python's `math`, NumPy and other libraries with correct rounding to nearest.

    Parameters
    ----------
    name : str
        A function in `tmd.functions.NAMES`.
    arguments : iterable of float
        For instance `[c.argument for c in result.cases.hardest(1000)]`. Fractions and integers are
        taken if they are numbers of the precision.
    libraries : iterable, or mapping of labels
        C libraries, ufuncs, ctypes functions with their types set, or callables from float to
        float. Text with a slash and Path objects are files, such as "./libm.so.6"; text without one
        is a name that the loader searches for, such as "libm.so.6".
    symbol : str, optional
        The name of the function in the C libraries: by default `name`, and with precision 24 `name`
        with an "f".
    precision : {53, 24}
        Binary digits: functions of binary64, double name(double), or of binary32, float
        namef(float). Python's `math` has none of binary32 and is left out then.

    Returns
    -------
    list of LibraryScore
        One for each library: Python's `math`, NumPy, and those in `libraries`. Equal labels are
        numbered: the second "exp" is "exp (2)".

    Raises
    ------
    TypeError, ValueError
        A library cannot be loaded, has changed since it was, or does not export the symbol itself;
        an argument is no number of the precision; or the function has no value there.
    """
    f = load_function(name)
    numbers = _check_precision(precision)
    given = load_libraries(libraries, name, symbol, numbers)
    found = number_equal_labels(libraries_of_python(name, numbers) + given)
    validation.require_iterable("arguments", arguments, "numbers")
    values = [_check_argument(x, numbers) for x in arguments]
    pairs = [(x, round_correctly(f, x, numbers)) for x in values]
    return [
        LibraryScore(
            library,
            len(pairs),
            [(x, returned, y) for x, y in pairs if (returned := call(x)) != y],
        )
        for library, call in found
    ]


_SPECIAL = re.compile(r"[+-]?([sq]?nan(\(.*\))?|inf(inity)?)", re.IGNORECASE)
_REMARK = re.compile(r"[A-Za-z_]\w*")


def read_arguments(
    path: str | Path, name: str, precision: int = 53
) -> tuple[list[Fraction], dict[str, int]]:
    """Read a list of arguments for `check_libraries`, such as those of CORE-MATH.

    A line is a number, perhaps with a comma and a remark after it ("0x1p+10, ERANGE"), or with its
    kind and its identical bits; `#` begins a comment.

    Parameters
    ----------
    path : str or Path
    name : str
        A function in `tmd.functions.NAMES`.
    precision : {53, 24}

    Returns
    -------
    arguments : list of Fraction
    skipped : dict of int
        Lines that say nothing about rounding, counted by the reason: NaN or infinity, numbers that
        the precision does not have, and those at which the function has no value.

    Raises
    ------
    CertificateError
        The file cannot be read, or a line is none of the above.
    """
    f, numbers = load_function(name), _check_precision(precision)
    skipped: Counter[str] = Counter()
    arguments = []
    for source, text in read_lines(path):
        number, _, remark = text.partition(",")
        if remark and not _REMARK.fullmatch(remark.strip()):
            raise CertificateError(f"{source} must be one argument: {text.strip()!r}")
        if _SPECIAL.fullmatch(number.strip()):
            skipped["NaN or infinity"] += 1
            continue
        x = parse_line(source, number).argument
        if not _is_number_of(x, numbers):
            skipped[f"no number of {numbers.name}"] += 1
        elif not _has_value(f, x):
            skipped[f"{name} has no value there"] += 1
        else:
            arguments.append(x)
    return arguments, dict(skipped)


def _has_value(f: Function, x: Fraction) -> bool:
    """Return whether f has a value at x, by balls."""
    with working_precision(64 + extra_precision(x)):
        return bool(f.evaluate(x).is_finite())


def require_libraries(name: str, libraries: Any, symbol: str | None, precision: int) -> None:
    """Raise what `check_libraries` would raise about the libraries, before a long search."""
    load_libraries(libraries, load_function(name).name, symbol, _check_precision(precision))


def _check_precision(precision: int) -> Precision:
    digits = validation.check_integer("precision", precision)
    if digits not in PRECISIONS:
        raise ValueError(f"precision must be 53 or 24, got {validation.describe(precision)}")
    return PRECISIONS[digits]


def _check_argument(x: Any, precision: Precision) -> float:
    """Return an argument as a float, if it is a number of the precision."""
    value = validation.check_finite("arguments", x)
    if not _is_number_of(validation.python_number("arguments", x), precision):
        raise ValueError(
            f"arguments must be numbers of {precision.name}, got {validation.describe(x)}"
        )
    return value


def _is_number_of(x: Any, precision: Precision) -> bool:
    """Return whether a finite number of Python is one of the precision."""
    try:
        with np.errstate(over="ignore"):
            return bool(float(precision.numpy(float(x))) == x)
    except OverflowError:  # beyond binary64
        return False
