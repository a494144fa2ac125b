"""Division of all arguments of binary32 into segments on which correct results are known.

Each segment has a rule, proven by balls:

- POLYNOMIAL: f(x) is closer than `bound` to what float64 arithmetic makes of the Taylor polynomial
  about the segment's centre;
- CONSTANT: no number and no midpoint of binary32 lies between the smallest and the largest value,
  so that all have the same results;
- NEXT_TO_X: f(x) = x (1 + d) with 0 < |d| < 2^-27 and d of one sign;
- PERIODIC: polynomials in the phase of x, for sin, cos and tan of large arguments;
- BALLS: few arguments, each decided by balls;
- NO_VALUE: f is not defined;
- NOT_JUDGED: too many segments would be needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tmd._exhaust.polynomials import (
    DEGREE,
    PERIODS,
    PRECISION,
    Period,
    expand,
    frequencies,
    phase_polynomials,
)
from tmd._libraries.callables import BINARY32
from tmd._libraries.environment import MODES
from tmd._libraries.judging import judge_number
from tmd._search.blocks import start_of_trivial
from tmd.formats import Format, exponent
from tmd.functions.function import Ball, Function, ball, working_precision

POLYNOMIAL, CONSTANT, NEXT_TO_X, PERIODIC, BALLS, NO_VALUE, NOT_JUDGED = range(7)

ACCURACY = 50
"""A polynomial is accepted if its bound is below 2^-50 of the smallest value."""

FEWEST = 64
"""Segments of at most so many arguments are left to balls."""

MOST = 1 << 15
"""Most segments of a binade; the whole binade is not judged if it needs more."""

INFINITY_BITS = 0x7F800000
SIGN_BIT = 0x80000000

SEGMENT = np.dtype(
    [
        ("start", np.uint32),
        ("count", np.uint32),
        ("rule", np.int64),
        ("centre", np.float64),  # of x; for PERIODIC the power of two of the argument's last digit
        ("scale", np.float64),
        ("bound", np.float64),
        ("coefficients", np.float64, DEGREE + 1),
        ("results", np.float64, len(MODES)),
    ]
)

CENTRE, SCALE, BOUND, COEFFICIENTS = range(4)
RESULTS = COEFFICIENTS + DEGREE + 1
"""Columns of `Table.arrays[1]`: those of SEGMENT with floating-point numbers."""


def argument_of(bits: int) -> Fraction:
    """Return the number with these bits."""
    return Fraction(float(np.uint32(bits).view(np.float32)))


@dataclass
class Table:
    """Segments, and what the loops need of a periodic function.

    Attributes
    ----------
    segments : array of SEGMENT
    phases : (PHASES, DEGREE + 3) float64
        Coefficients, bound, and whether they are those of 1/f.
    frequencies : (256, 2) uint64
        By exponent field: 2^q / period modulo 1, q that of the last digit, in units of 2^-128.
    quarters : (4,) float64
        Exact values at quarters of a period, NaN at poles and where there are none.
    """

    segments: np.ndarray
    phases: np.ndarray = field(default_factory=lambda: np.zeros((1, DEGREE + 3)))
    frequencies: np.ndarray = field(default_factory=lambda: np.zeros((256, 2), np.uint64))
    quarters: np.ndarray = field(default_factory=lambda: np.full(4, np.nan))

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Rules and numbers of the segments, and the phases, frequencies and quarters."""
        columns = ("centre", "scale", "bound", "coefficients", "results")
        numbers = np.column_stack([self.segments[name] for name in columns])
        rules = np.ascontiguousarray(self.segments["rule"])
        return rules, numbers, self.phases, self.frequencies, self.quarters


def make_table(f: Function, ranges: list[tuple[int, int]]) -> Table:
    """Return the segments of the arguments whose bits lie in ranges, each of one sign."""
    period = PERIODS.get(f.name)
    rows = []
    for first, end in ranges:
        for begin, stop in _binades(first, end):
            rows += _segments_of_binade(f, period, begin, stop)
    table = Table(np.array(rows, SEGMENT))
    if period is not None:
        table.phases = phase_polynomials(f, period)
        table.frequencies = frequencies(period)
        if period.is_rational:
            values = [f.exact(Fraction(k, 4) * int(period.length.unique_fmpz())) for k in range(4)]
            table.quarters = np.array([math.nan if v is None else float(v) for v in values])
    return table


def _binades(first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a range of bits that have one exponent."""
    while first < end:
        stop = min(end, ((first >> 23) + 1) << 23)
        yield first, stop
        first = stop


def _row(start: int, count: int, rule: int, **values: Any) -> tuple:
    return (
        start,
        count,
        rule,
        values.get("centre", 0.0),
        values.get("scale", 0.0),
        values.get("bound", 0.0),
        values.get("coefficients", (0.0,) * (DEGREE + 1)),
        values.get("results", (0.0,) * len(MODES)),
    )


def _segments_of_binade(f: Function, period: Period | None, begin: int, stop: int) -> list[tuple]:
    """Return the segments of arguments with one sign and exponent."""
    sign = -1 if begin & SIGN_BIT else 1
    field_of_exponent = begin >> 23 & 0xFF
    if (begin & ~SIGN_BIT) >= INFINITY_BITS:
        return [_row(begin, stop - begin, NOT_JUDGED)]
    if period is not None and field_of_exponent >= 127:
        return [_row(begin, stop - begin, PERIODIC)]
    fmt = Format.create(24)
    near, last = (abs(argument_of(b)) for b in (begin, stop - 1))
    limit = start_of_trivial(f, sign, last, fmt, 40)
    if near >= limit:
        with working_precision(PRECISION):
            results = _results_at_limit(f, sign, f.enclosure(ball(sign * limit)))
        if results is not None:
            return [_row(begin, stop - begin, CONSTANT, results=results)]
    rows: list[tuple] = []
    todo = [(begin, stop)]
    while todo:
        first, end = todo.pop()
        row = _prove(f, first, end)
        if row is not None:
            rows.append(row)
        elif end - first <= FEWEST:
            rows.append(_row(first, end - first, BALLS))
        else:
            middle = (first + end) // 2
            todo += [(middle, end), (first, middle)]
        if len(rows) > MOST:
            return [_row(begin, stop - begin, NOT_JUDGED)]
    return rows


def _results_at_limit(f: Function, sign: int, value: Ball) -> tuple[float, ...] | None:
    """Return the results next to the limit of f, or where it overflows or vanishes."""
    limit = f.limits[sign > 0]
    if limit in (0, math.inf):
        from flint import arb

        if not value.is_finite() or value.contains(0):
            return None
        size = arb(2) ** (-300 if limit == 0 else 300)
        value = size if value > 0 else -size
    return _constant_results(value)


def _constant_results(value: Ball) -> tuple[float, ...] | None:
    """Return the results in all modes if they are the same at both ends of a ball."""
    if not value.is_finite() or value.contains(0):
        return None
    low, high = (
        judge_number(end, False, BINARY32, MODES).values for end in (value.lower(), value.upper())
    )
    return tuple(low[mode] for mode in MODES) if low == high else None


def _prove(f: Function, first: int, end: int) -> tuple | None:
    """Return a segment with its rule, or None if it must be shorter."""
    count = end - first
    x0, x1 = argument_of(first), argument_of(end - 1)
    low, high = min(x0, x1), max(x0, x1)
    lower, upper = f.domain
    if (upper is not None and low > upper) or (lower is not None and high < lower):
        return _row(first, count, NO_VALUE)
    if low == 0 or high == 0 or not f.is_defined_between(low, high):
        return None
    with working_precision(PRECISION + 2 * max(0, -exponent(high if high > 0 else low))):
        ends = ball(low), ball(high)
        values = _enclose(f, low, high)
        if (results := _constant_results(values)) is not None:
            return _row(first, count, CONSTANT, results=results)
        if (side := _side_of_x(f, low, high)) is not None:
            return _row(first, count, NEXT_TO_X, bound=side)
        if count == 1:
            return None
        # A centre with at most 26 digits: x - centre is exact, and so is its scaled value.
        centre = (low + high) / 2
        half = (high - low) / 2
        power = half.numerator.bit_length() - half.denominator.bit_length() + 1
        unit = Fraction(2) ** power  # half <= unit
        polynomial = expand(f, ball(centre), ball(unit), ends[0].union(ends[1]))
        if polynomial is None:
            return None
        coefficients, bound = polynomial
        least = min(abs(values.lower()), abs(values.upper()), key=float)
        if values.contains(0):
            return None
        if not bound < float(least) * 2.0**-ACCURACY and not bound < 2.0 ** -(126 + ACCURACY):
            return None
    return _row(
        first,
        count,
        POLYNOMIAL,
        centre=float(centre),
        scale=float(1 / unit),
        bound=bound,
        coefficients=tuple(coefficients),
    )


def _enclose(f: Function, low: Fraction, high: Fraction) -> Ball:
    """Return a ball of the values between two arguments of one sign."""
    if f.monotone:
        return f.enclosure(ball(low)).union(f.enclosure(ball(high)))
    whole = ball(low).union(ball(high))
    is_tiny = max(abs(low), abs(high)) < Fraction(1, 1 << 8)
    if f.fixed_near_zero is None or f.fixed_near_zero[0] == "x" or not is_tiny:
        return f.enclosure(whole)
    value, n = f.fixed_near_zero  # f(x) = value + c x^n, where a ball of f alone is too wide
    powers = ball(low**n).union(ball(high**n))
    c = f.coefficients(ball(Fraction(0)).union(whole), n + 1)[n]
    return ball(Fraction(value)) + c * powers


def _side_of_x(f: Function, low: Fraction, high: Fraction) -> float | None:
    """Return the sign of |f(x)| - |x| if f(x)/x - 1 has one sign and is below 2^-27."""
    if f.fixed_near_zero is None or f.fixed_near_zero[0] != "x" or max(abs(low), abs(high)) >= 1:
        return None
    n = f.fixed_near_zero[1]
    far = low if abs(low) > abs(high) else high
    ratio = f.coefficients(ball(Fraction(0)).union(ball(far)), n + 2)[n + 1] * ball(far) ** n
    if not abs(ratio) < ball(Fraction(1, 1 << 27)):
        return None
    return 1.0 if ratio > 0 else -1.0 if ratio < 0 else None
