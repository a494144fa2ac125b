"""Formats of floating-point numbers, and domains cut into runs of arguments of one exponent."""

from __future__ import annotations

import contextlib
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational

from hetero import errors

_IEEE = {24: (-126, 127), 53: (-1022, 1023)}
_LARGEST_POWER = 1 << 20
_HEXADECIMAL = re.compile(r"([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?[0-9]+))?", re.IGNORECASE)


@dataclass(frozen=True)
class Format:
    """Arguments of `arguments` digits, values of `precision` digits.

    24 and 53 digits are those of binary32 and binary64, with their range of exponents and their
    subnormal numbers (which have the ulp of the smallest normal one); other precisions have no
    limits.
    """

    precision: int
    arguments: int

    @classmethod
    def checked(cls, precision, arguments=None) -> Format:
        """Raises TypeError, ValueError for what is no integer from 2 to 64."""
        precision = errors.whole("precision", precision, 2)
        arguments = precision if arguments is None else arguments
        arguments = errors.whole("argument_precision", arguments, 2)
        for name, value in (("precision", precision), ("argument_precision", arguments)):
            if value > 64:
                raise ValueError(f"{name} must lie in [2, 64], got {value}")
        return cls(precision, arguments)

    @property
    def range(self) -> tuple[int, int] | None:
        """Smallest and largest exponent, 2^e <= |y| < 2^(e+1), of normal values; None: none."""
        return _IEEE.get(self.precision)

    def quantum(self, exponent: int) -> int | None:
        """Binary logarithm of the distance of arguments in [2^exponent, 2^(exponent+1)).

        None where there are none.
        """
        low, high = _IEEE.get(self.arguments, (exponent, exponent))
        quantum = max(exponent, low) - self.arguments + 1
        return quantum if quantum <= exponent <= high else None

    def ulp(self, exponent: int) -> int | None:
        """Binary logarithm of the ulp of values in [2^exponent, 2^(exponent+1)).

        None where rounding is trivial: overflow, or less than half of half the smallest number.
        """
        if self.range is not None:
            low, high = self.range
            if exponent > high or exponent < low - self.precision - 1:
                return None
            exponent = max(exponent, low)
        return exponent - self.precision + 1


@dataclass(frozen=True)
class Run:
    """The arguments sign m 2^quantum for first <= m < first + count."""

    sign: int
    quantum: int
    first: int
    count: int

    def argument(self, index: int) -> Fraction:
        """Argument number `index`, by growing magnitude."""
        return Fraction(self.sign * (self.first + int(index))) * Fraction(2) ** self.quantum

    def part(self, begin: int, end: int) -> Run:
        """The arguments with the numbers begin, ..., end - 1."""
        return Run(self.sign, self.quantum, self.first + begin, end - begin)


def exact(name: str, value) -> Fraction:
    """`value` (a number, or text such as "0x1.8p+3", "1/3", "2**-20") as a Fraction."""
    if isinstance(value, str):
        try:
            return _parsed(value.strip())
        except (ValueError, ZeroDivisionError, OverflowError):
            raise ValueError(f"{name} must be a number, got {value!r}") from None
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(int(value.numerator), int(value.denominator))
    with contextlib.suppress(AttributeError, ValueError, OverflowError):
        if not isinstance(value, bool):  # floats of any length, and Decimals
            return Fraction(*map(int, value.as_integer_ratio()))
    return Fraction(errors.real(name, value))


def _parsed(text: str) -> Fraction:
    if "**" in text:
        base, power = text.split("**")
        sign = -1 if base.startswith("-") else 1
        return sign * Fraction(base.lstrip("-")) ** _power(power)
    if "0x" in text.lower():
        return _hexadecimal(text)
    return Fraction(text)


def _hexadecimal(text: str) -> Fraction:
    """C's notation, of any length."""
    match = _HEXADECIMAL.fullmatch(text)
    if match is None:
        raise ValueError
    sign, whole, rest, power = match.groups()
    digits = Fraction(int(f"{sign}{whole}{rest}", 16))
    return digits * Fraction(2) ** (_power(power or "0") - 4 * len(rest))


def _power(text: str) -> int:
    """An exponent whose power fits into memory."""
    power = int(text)
    if abs(power) > _LARGEST_POWER:
        raise OverflowError
    return power


def exponent(x: Fraction) -> int:
    """e with 2^e <= |x| < 2^(e+1)."""
    x = abs(x)
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x >= Fraction(2) ** e else e - 1


def runs(lo: Fraction, hi: Fraction, fmt: Format) -> list[Run]:
    """The arguments in [lo, hi), 0 not among them, in runs of one exponent, the smallest first.

    Raises
    ------
    ValueError
        A domain with 0.
    """
    if lo < 0 < hi or lo == 0 or hi == 0:
        raise ValueError(
            f"domain must not contain or end at 0, got [{shown(lo)}, {shown(hi)}): search both "
            "signs apart, from the smallest argument that matters"
        )
    sign = 1 if lo > 0 else -1
    near, far = (lo, hi) if sign > 0 else (-hi, -lo)
    found = []
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
            found.append(Run(sign, quantum, begin, end - begin))
    return found


def hexadecimal(x: Fraction) -> str:
    """Write a binary fraction as C does, with as many digits as it has."""
    with contextlib.suppress(OverflowError):
        if Fraction(float(x)) == x:
            return float(x).hex()
    power = x.denominator.bit_length() - 1
    return f"{'-' if x < 0 else ''}0x{abs(x.numerator):x}p{-power}"


def shown(x: Fraction) -> str:
    """A Fraction as Python's hexadecimal float where it is one."""
    try:
        if Fraction(float(x)) == x:
            return float(x).hex()
    except OverflowError:
        pass
    return str(x)
