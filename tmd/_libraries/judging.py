"""Correct results of a function at an argument, as balls prove them: values by mode, and flags."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from tmd._libraries.callables import LibraryPrecision
from tmd._libraries.oracles import Oracle
from tmd._search.decisions import BALL_PRECISIONS, extra_precision
from tmd.functions.function import Ball, working_precision

Point = tuple[float, ...]
"""The arguments of a call: one or two numbers."""


class Judgement(NamedTuple):
    """Right answer at an argument: its kind, its value by rounding mode, and its flags."""

    kind: str
    values: dict[str, float]
    flags: tuple[str, ...]
    has_flags: bool  # False where a machine may detect underflow before or after rounding


def judge(
    oracle: Oracle, x: Point, precision: LibraryPrecision, modes: Sequence[str] = ("nearest",)
) -> Judgement | None:
    """Return what is right at an argument, as proven by balls; None if they cannot decide.

    Raises
    ------
    ValueError
        The function has no value there.
    """
    point = tuple(map(Fraction, x))
    extra = sum(map(extra_precision, point))
    has_value = False
    for digits in BALL_PRECISIONS:
        with working_precision(digits + extra):
            value = oracle.enclose(point)
            if not value.is_finite():
                continue
            has_value = True
            ends = value.lower(), value.upper()
            judged = [judge_number(end, value.is_exact(), precision, modes) for end in ends]
            if judged[0] == judged[1]:
                return judged[0]
    if has_value:
        return None
    numbers = ", ".join(map(repr, x))
    raise ValueError(f"arguments: {oracle.name} has no value at {numbers} that balls can determine")


def judge_number(
    y: Ball, is_exact: bool, precision: LibraryPrecision, modes: Sequence[str]
) -> Judgement:
    """Return what is right for a value that lies next to y, or is y."""
    mantissa, power = map(int, y.mid().man_exp())
    if mantissa == 0:
        return Judgement("exact", dict.fromkeys(modes, 0.0), (), True)
    magnitude = mantissa.bit_length() + power
    digits, least = precision.digits, precision.least_exponent
    top = 3 - least - digits  # numbers of 2^top and more overflow
    if magnitude > top + 2 or magnitude < least - 2:  # a Fraction might have too many digits
        power = top + 1 if magnitude > 0 else least - 3
        mantissa, is_exact, magnitude = (1 if mantissa > 0 else -1), False, power + 1
    quantum = max(magnitude - digits, least)
    scaled = Fraction(mantissa) * Fraction(2) ** (power - quantum)
    most = (Fraction(2) ** digits - 1) * Fraction(2) ** (top - digits)
    values, overflows = {}, False
    for mode in modes:
        rounded = _ROUND[mode](scaled) * Fraction(2) ** quantum
        if abs(rounded) > most:
            overflows = True
            away = mode == "nearest" or mode == ("up" if rounded > 0 else "down")
            rounded_value = math.inf if away else float(most)
        else:
            rounded_value = float(abs(rounded))
        values[mode] = -rounded_value if mantissa < 0 else rounded_value
    is_exact = is_exact and scaled.denominator == 1 and not overflows
    normal = Fraction(2) ** (least + digits - 1)
    size = abs(scaled) * Fraction(2) ** quantum
    is_tiny = size < normal
    rounds_to_normal = is_tiny and size >= normal * (1 - Fraction(1, 1 << digits))
    flags = () if is_exact else ("inexact",)
    if overflows:
        flags = ("overflow", *flags)
    elif is_tiny and not is_exact:
        flags = ("underflow", *flags)
    if overflows or magnitude <= least - 1:
        kind = "range"
    elif is_exact:
        kind = "exact"
    else:
        kind = "M" if abs(scaled - round(scaled)) > Fraction(1, 4) else "F"
    return Judgement(kind, values, flags, not rounds_to_normal)


_ROUND: dict[str, Callable[[Fraction], int]] = {
    "nearest": round,
    "up": math.ceil,
    "down": math.floor,
    "zero": math.trunc,
}
