"""Floating-point formats, and the division of a domain into runs of arguments with one exponent."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeAlias

import numpy as np

from hetero import validation

FORMATS = {
    "bfloat16": (8, -126, 127),
    "binary16": (11, -14, 15),
    "binary32": (24, -126, 127),
    "binary64": (53, -1022, 1023),
    "x87": (64, -16382, 16383),
}
"""Binary digits, smallest and largest exponent of the normal numbers."""

_IEEE_EXPONENTS = {24: (-126, 127), 53: (-1022, 1023)}
"""What 24 and 53 digits stand for without a name."""

_MAX_EXPONENT = 1 << 13
"""Largest binary exponent of a number that is read: Python writes at most 4300 decimal digits."""

_MAX_DECIMALS = 2400
"""Largest decimal exponent of a number that is read."""

_HEXADECIMAL_PATTERN = re.compile(
    r"([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?[0-9]+))?", re.IGNORECASE
)


Precision: TypeAlias = int | str | Sequence[int]
"""Digits, the name of a format, or digits with the smallest and the largest exponent."""


@dataclass(frozen=True)
class Format:
    """Formats of the values (`precision` digits) and of the arguments (`argument_precision`).

    The digits are binary. 24 and 53 digits stand for binary32 and binary64. Exponents e of normal
    numbers, 2^e <= |y| < 2^(e+1), lie in `exponent_range` and `argument_exponent_range`, if these
    are not None; subnormal numbers have the ulp of the smallest normal number.
    """

    precision: int
    argument_precision: int
    exponent_range: tuple[int, int] | None = None
    argument_exponent_range: tuple[int, int] | None = None

    @classmethod
    def create(cls, precision: Precision, argument_precision: Precision | None = None) -> Format:
        """Return the format of values and arguments, which is by default that of the values.

        Each is a number of digits from 2 to 64, a name of `FORMATS`, or (digits, emin, emax).

        Raises
        ------
        TypeError, ValueError
            It is none of these.
        """
        digits, exponents = _parse_precision("precision", precision)
        if argument_precision is None:
            return cls(digits, digits, exponents, exponents)
        argument = _parse_precision("argument_precision", argument_precision)
        return cls(digits, argument[0], exponents, argument[1])

    @property
    def names(self) -> tuple[Any, Any]:
        """Names by which `create` takes the formats of the values and of the arguments."""
        return (
            _name_precision(self.precision, self.exponent_range),
            _name_precision(self.argument_precision, self.argument_exponent_range),
        )

    def quantum(self, exponent: int) -> int | None:
        """Return log2 of the spacing of the arguments in [2^exponent, 2^(exponent+1)).

        None if the format has no arguments there.
        """
        exponent = validation.check_integer("exponent", exponent, None)
        low, high = self.argument_exponent_range or (exponent, exponent)
        quantum = max(exponent, low) - self.argument_precision + 1
        return quantum if quantum <= exponent <= high else None

    def ulp(self, exponent: int) -> int | None:
        """Return log2 of the ulp of the values in [2^exponent, 2^(exponent+1)).

        None where rounding is trivial: the values overflow, or lie below a quarter of the smallest
        number.
        """
        exponent = validation.check_integer("exponent", exponent, None)
        if self.exponent_range is not None:
            low, high = self.exponent_range
            if exponent > high or exponent < low - self.precision - 1:
                return None
            exponent = max(exponent, low)
        return exponent - self.precision + 1


def _parse_precision(name: str, value: Any) -> tuple[int, tuple[int, int] | None]:
    """Return the digits and the exponents that a user has named."""
    if isinstance(value, str):
        validation.check_choice(name, value, tuple(FORMATS))
        value = FORMATS[value]
    if isinstance(value, list | tuple):
        if len(value) != 3:
            raise ValueError(
                f"{name} must be (digits, emin, emax), got {validation.describe(value)}"
            )
        digits, *ends = value
        low, high = (validation.check_integer(name, e, -(1 << 14), 1 << 14) for e in ends)
        if low > high:
            raise ValueError(f"{name} must be (digits, emin, emax) with emin <= emax, got {value}")
        exponents: tuple[int, int] | None = (low, high)
    else:
        digits, exponents = value, None
    digits = validation.check_integer(name, digits, 2, 64)
    return digits, exponents or _IEEE_EXPONENTS.get(digits)


def _name_precision(digits: int, exponents: tuple[int, int] | None) -> Any:
    """Return what `_parse_precision` takes, in the form that certificates have."""
    if exponents == _IEEE_EXPONENTS.get(digits):
        return digits
    assert exponents is not None
    numbers = [digits, *exponents]
    return next((name for name, form in FORMATS.items() if [*form] == numbers), numbers)


@dataclass(frozen=True)
class Run:
    """The arguments sign m 2^quantum for first <= m < first + count."""

    sign: int
    quantum: int
    first: int
    count: int

    def argument(self, index: int) -> Fraction:
        """Return argument number `index`, counted by growing magnitude."""
        m = self.sign * (self.first + int(index))
        return Fraction(m << self.quantum) if self.quantum >= 0 else Fraction(m, 1 << -self.quantum)

    def slice(self, begin: int, end: int) -> Run:
        """Return the run of the arguments with the numbers begin, ..., end - 1."""
        return Run(self.sign, self.quantum, self.first + begin, end - begin)


def to_fraction(name: str, value: Any) -> Fraction:
    """Convert a number, or text such as "0x1.8p+3", "1/3" or "2**-20", to a Fraction exactly.

    Messages of errors call the value `name`.
    """
    if isinstance(value, str):
        try:
            return _parse_number(value.strip())
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"{name} must be a number, got {validation.describe(value)}") from None
        except OverflowError:
            raise _too_long(name, value) from None
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > _MAX_DECIMALS:
        raise _too_long(name, value)
    if isinstance(value, Rational) and not isinstance(value, bool | np.timedelta64):
        fraction = Fraction(int(value.numerator), int(value.denominator))
        if _bits(fraction) > _MAX_EXPONENT:
            raise _too_long(name, value)
        return fraction
    with contextlib.suppress(AttributeError, TypeError, ValueError, OverflowError):
        if not isinstance(value, bool):  # floats of any length, and Decimals
            return Fraction(*map(int, value.as_integer_ratio()))
    return Fraction(validation.check_finite(name, value))


def to_interval(name: str, pair: Any) -> tuple[Fraction, Fraction]:
    """Convert a pair of numbers to Fractions exactly; see `to_fraction`."""
    try:
        lo, hi = pair
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a pair (lo, hi), got {pair!r}") from None
    return to_fraction(name, lo), to_fraction(name, hi)


def _too_long(name: str, value: Any) -> ValueError:
    return ValueError(
        f"{name} must be a number of at most 2^13 binary digits, got {validation.describe(value)}"
    )


def _bits(x: Fraction) -> int:
    """Return the number of binary digits of the numerator or denominator, whichever is longer."""
    return max(x.numerator.bit_length(), x.denominator.bit_length())


def _parse_number(text: str) -> Fraction:
    """Parse a number; raise ValueError, or OverflowError if it would not fit into memory."""
    if "**" in text:
        base, power = text.split("**")
        sign = -1 if base.startswith("-") else 1
        magnitude, exponent = _parse_decimal(base.lstrip("-")), _parse_exponent(power)
        if (_bits(magnitude) - 1) * abs(exponent) > _MAX_EXPONENT:
            raise OverflowError
        return sign * magnitude**exponent
    if "0x" in text.lower():
        return _parse_hexadecimal(text)
    return _parse_decimal(text)


def _parse_decimal(text: str) -> Fraction:
    """Parse decimal digits, or a quotient of integers."""
    _, marker, power = text.lower().partition("e")
    if marker and abs(int(power)) > _MAX_DECIMALS:
        raise OverflowError
    return Fraction(text)


def _parse_hexadecimal(text: str) -> Fraction:
    """Parse C's hexadecimal notation, with any number of digits."""
    match = _HEXADECIMAL_PATTERN.fullmatch(text)
    if match is None:
        raise ValueError
    sign, integer_digits, fraction_digits, power = match.groups()
    digits = Fraction(int(f"{sign}{integer_digits}{fraction_digits}", 16))
    return digits * Fraction(2) ** (_parse_exponent(power or "0") - 4 * len(fraction_digits))


def _parse_exponent(text: str) -> int:
    """Parse an exponent; raise OverflowError if the power would not fit into memory."""
    power = int(text)
    if abs(power) > _MAX_EXPONENT:
        raise OverflowError
    return power


def exponent(x: Fraction) -> int:
    """Return the e with 2^e <= |x| < 2^(e+1)."""
    x = abs(x)
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x >= Fraction(2) ** e else e - 1


def argument_runs(lo: Fraction, hi: Fraction, fmt: Format) -> list[Run]:
    """Return the arguments in [lo, hi) in runs of one exponent, by growing magnitude.

    Raises
    ------
    ValueError
        The domain contains 0 or ends there.
    """
    if lo < 0 < hi or lo == 0 or hi == 0:
        raise ValueError(
            f"domain must not contain or end at 0, got [{format_fraction(lo)}, "
            f"{format_fraction(hi)}): search positive and negative arguments separately, each "
            "from the smallest magnitude that matters"
        )
    sign = 1 if lo > 0 else -1
    near, far = (lo, hi) if sign > 0 else (-hi, -lo)
    runs = []
    for e in range(exponent(near), exponent(far) + 1):
        quantum = fmt.quantum(e)
        if quantum is None:
            continue
        unit = Fraction(2) ** quantum
        ends = near / unit, far / unit
        # [near, far) for positive arguments, (near, far] mirrored for negative ones.
        begin, end = map(math.ceil, ends) if sign > 0 else (math.floor(x) + 1 for x in ends)
        begin = max(begin, 1 << (e - quantum))
        end = min(end, 2 << (e - quantum))
        if begin < end:
            runs.append(Run(sign, quantum, begin, end - begin))
    return runs


def format_hexadecimal(x: Fraction) -> str:
    """Write a binary fraction in C's hexadecimal notation, with all of its digits."""
    power = x.denominator.bit_length() - 1
    return _format_float(x) or f"{'-' if x < 0 else ''}0x{abs(x.numerator):x}p{-power}"


def format_fraction(x: Fraction) -> str:
    """Write x as a hexadecimal float if it is a float64, else as a fraction."""
    return _format_float(x) or str(x)


def _format_float(x: Fraction) -> str:
    """Write x as a hexadecimal float, or "" if it is no float64."""
    with contextlib.suppress(OverflowError):
        if Fraction(float(x)) == x:
            return float(x).hex()
    return ""
