"""Division of a domain into blocks: arguments of one exponent whose values have one ulp.

Domains are cut at special points. No search is needed, and none is made, of arguments outside the
domain of the function, at its poles and rational zeros, and where rounding is trivial. All are
counted. Rounding is trivial

- near 0, where |f(x) - r| < 2^-bits ulp holds for r = x or a constant r that is a float, by
  Lagrange's remainder over a ball from 0 on;
- from some |x| on, where f is that close to its limit, overflows or vanishes, or all arguments are
  points at which it is exact;
- where the exponent of the value is too small.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tmd._search.bisections import find_changes, last_that_holds
from tmd.formats import Format, Run, argument_runs, exponent, format_fraction
from tmd.functions.function import (
    Function,
    ball,
    enclosures,
    exponents_of_balls,
    has_values,
    points_between,
    working_precision,
)

MAX_BLOCK_BITS = 46
"""log2 of the largest number of arguments in a block, the unit of certificates and checkpoints."""

MAX_EXPONENTS = 1 << 12
"""Largest number of exponents of values in a domain; binary64 has half as many."""

_PRECISIONS = (64, 128, 256, 1024, 4096, 16384)
"""Precisions, in bits, tried for balls of single arguments; longer parts use only the second."""

INFINITY = Fraction(1 << (1 << 15))
"""Larger than every argument."""

Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Block:
    """Arguments whose values all have the ulp 2^ulp and one sign (`negative`: below 0)."""

    run: Run
    ulp: int
    negative: bool


def split_domain(
    function: Function, lo: Fraction, hi: Fraction, fmt: Format, bits: int
) -> tuple[list[Block], int]:
    """Return the blocks that must be searched, and the number of arguments outside of them.

    They are sorted by magnitude, positive ones first. If the function is odd or even, the blocks
    of negative arguments mirror those of positive ones, as far as the domain does.

    Raises
    ------
    ValueError
        The domain is empty; it contains 0, but the format has numbers of any magnitude; the
        function is defined nowhere in it, or trivial everywhere because it is near 0; or it has
        too many zeros and poles there.
    """
    interval = f"[{format_fraction(lo)}, {format_fraction(hi)})"
    if not lo < hi:
        raise ValueError(f"domain must be (lo, hi) with lo < hi, got {interval[1:-1]}")
    first, last = function.domain
    if (first is not None and hi <= first) or (last is not None and lo > last):
        raise ValueError(f"domain: {function.name} {function.describe_domain()}, got {interval}")
    if lo <= 0 <= hi and fmt.argument_exponent_range is None:
        raise ValueError(
            f"domain must not contain or end at 0, got {interval}: numbers of "
            f"{fmt.argument_precision} digits may be arbitrarily small; begin at the smallest "
            "magnitude that matters, or name a format such as binary64 or (digits, emin, emax)"
        )
    blocks: list[Block] = []
    idle, near_zero = int(lo <= 0 < hi), False
    for sign in (1, -1):
        if (side := _side(lo, hi, sign, fmt)) is None:
            continue
        new, skipped, near = _split_side(function, *side, sign, fmt, bits, (lo, hi))
        blocks, idle, near_zero = blocks + new, idle + skipped, near_zero or near
    if not blocks and near_zero and not lo <= 0 < hi:
        raise ValueError(
            f"domain: rounding {function.name} is trivial near 0, where it is closer than "
            f"2^-{bits} ulp to {function.fixed_near_zero[0]}; search arguments of larger "  # type: ignore[index]
            f"magnitude than {interval}"
        )
    if not blocks and not idle:
        raise ValueError(f"domain {interval} contains no argument")
    return blocks, idle


def _side(lo: Fraction, hi: Fraction, sign: int, fmt: Format) -> Interval | None:
    """Return the positive (or negative) arguments of a domain as an interval without 0."""
    if (hi if sign > 0 else -lo) <= 0:
        return None
    tiny = Fraction(0)
    if fmt.argument_exponent_range is not None:
        tiny = Fraction(2) ** (fmt.argument_exponent_range[0] - fmt.argument_precision + 1)
    lo, hi = (max(lo, tiny), hi) if sign > 0 else (lo, min(hi, -tiny / 2))
    return (lo, hi) if lo < hi else None


def _split_side(
    function: Function,
    lo: Fraction,
    hi: Fraction,
    sign: int,
    fmt: Format,
    bits: int,
    whole: Interval,
) -> tuple[list[Block], int, bool]:
    """Return blocks, the number of other arguments, and whether there are any trivial near 0."""
    if not argument_runs(lo, hi, fmt):
        return [], 0, False
    near, far = sorted((abs(lo), abs(hi)))
    trivial = list(_trivial_near_zero(function, sign, near, far, fmt, bits))
    end = start_of_trivial(function, sign, far, fmt, bits)
    points = points_between(function, max(lo, -end), min(hi, end), fmt)
    # In [x, x + after) there is no argument but x; so [a, b) is (-b, -a] if mirrored and shifted.
    after = Fraction(2) ** (exponent(near) - 2 * fmt.argument_precision - 2)
    magnitudes = [*trivial, (end, INFINITY)]
    left_out = magnitudes if sign > 0 else [(after - b, after - a) for a, b in magnitudes]
    cuts = {lo, hi, *itertools.chain(*left_out)}
    for p in points:
        cuts |= {p, p + after}
        if function.is_singular and p:
            quantum = exponent(p) - fmt.argument_precision
            cuts |= {p + side * Fraction(2) ** k for k in range(quantum, 0) for side in (1, -1)}
    if function.symmetry and sign < 0:
        cuts |= {after - x for x in whole if x > 0}
    blocks: list[Block] = []
    idle = 0
    for a, b in list(itertools.pairwise(sorted(cuts)))[::sign]:  # by magnitude, as blocks are
        if a < lo or b > hi or not (runs := argument_runs(a, b, fmt)):
            continue
        with_values = has_values(function, a, b, a in points)
        if not with_values or any(p <= a and b <= q for p, q in left_out):
            idle += sum(run.count for run in runs)
        else:
            new, skipped = split_into_blocks(function, a, b, fmt)
            blocks, idle = blocks + new, idle + skipped
    return blocks, idle, bool(trivial)


def _trivial_near_zero(
    function: Function, sign: int, near: Fraction, far: Fraction, fmt: Format, bits: int
) -> Iterator[Interval]:
    """Yield intervals of |x| in which f(x) is closer than 2^-bits ulp to its fixed value.

    Where that is x, it is the ulp of x, and each binade has an interval of its own.
    """
    if function.fixed_near_zero is None:
        return
    fixed, n = function.fixed_near_zero
    k = n + 1 if fixed == "x" else n
    for e in range(min(-1, exponent(far)), exponent(near) - 1, -1):

        def is_trivial(x: Fraction, e: int = e) -> bool:
            coefficient = function.coefficients(ball(Fraction(0)).union(ball(sign * x)), k + 1)[k]
            if fixed == "x":
                ulp = fmt.ulp(e)
            else:
                falls = bool(coefficient * sign**k < 0)
                ulp = fmt.ulp(exponent(Fraction(fixed)) - int(falls))
            return ulp is None or bool(
                abs(coefficient) * ball(x**k) < ball(Fraction(2) ** (ulp - bits))
            )

        with working_precision(128):
            begin, end = Fraction(2) ** e, Fraction(2) ** (e + 1)
            if is_trivial(end):
                yield Fraction(0), end
                return
            x = last_that_holds(is_trivial, begin, fmt)
            if x is not None:
                yield (begin if fixed == "x" else Fraction(0)), x
                if fixed != "x":
                    return


def start_of_trivial(
    function: Function, sign: int, far: Fraction, fmt: Format, bits: int
) -> Fraction:
    """Return the magnitude from which on rounding is trivial, perhaps beyond all arguments."""
    ends = [INFINITY]
    if lattice := function.lattices[sign > 0]:
        ends.append(lattice * Fraction(2) ** (fmt.argument_precision - 1))
    if (limit := function.limits[sign > 0]) is not None:
        ends.append(_start_of_limit(function, sign, far, limit, fmt, bits))
    return min(ends)


def _start_of_limit(
    function: Function, sign: int, far: Fraction, limit: Any, fmt: Format, bits: int
) -> Fraction:
    """Return the magnitude from which on f is at its limit, as rounding is concerned.

    |f| or |f - limit| is monotone there.
    """
    if limit in (0, math.inf) and fmt.exponent_range is None:
        return INFINITY

    def is_at_limit(x: Fraction) -> bool:
        with working_precision(2 * (fmt.precision + bits) + 256):
            value = function.enclosure(ball(sign * x))
            if limit in (0, math.inf):
                low, high = fmt.exponent_range or (0, 0)
                if limit == 0:
                    return bool(abs(value) < ball(Fraction(2) ** (low - fmt.precision - 1)))
                return bool(abs(value) > ball(Fraction(2) ** (high + 1)))
            gap, e = abs(value) - ball(abs(limit)), exponent(limit)
            ulp = fmt.ulp(e - int(bool(abs(limit) == Fraction(2) ** e and gap < 0)))
            return ulp is None or bool(abs(gap) < ball(Fraction(2) ** (ulp - bits)))

    low, high = 0, 1
    while not is_at_limit(Fraction(2) ** high):
        if high > exponent(far):
            return INFINITY
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_at_limit(Fraction(2) ** middle) else (middle, high)
    last = None
    if limit not in (0, math.inf):
        last = last_that_holds(lambda x: not is_at_limit(x), Fraction(2) ** low, fmt)
    return Fraction(2) ** high if last is None else last


def split_into_blocks(
    function: Function, lo: Fraction, hi: Fraction, fmt: Format, largest: int = MAX_BLOCK_BITS
) -> tuple[list[Block], int]:
    """Split [lo, hi), in which all arguments have values but 0, into blocks of at most 2^largest.

    Returns
    -------
    blocks : list of Block
        By growing magnitude of the arguments.
    trivial : int
        Number of arguments in no block, because rounding is trivial there.

    Raises
    ------
    ValueError
        Values have too many exponents, or the exponent of one cannot be determined.
    """
    blocks, trivial = [], 0
    for run in argument_runs(lo, hi, fmt):
        parts = _split_run(function, run, fmt, 0, run.count)
        for (ulp, negative), alike in itertools.groupby(parts, key=operator.itemgetter(2)):
            merged = list(alike)
            begin, end = merged[0][0], merged[-1][1]
            if ulp is None:
                trivial += end - begin
                continue
            # Cut at multiples of 2^largest, counted from the beginning of the exponent's run.
            while begin < end:
                origin = run.first & ((1 << largest) - 1)
                stop = min(end, (((begin + origin) >> largest) + 1 << largest) - origin)
                blocks.append(Block(run.slice(begin, stop), ulp, negative))
                begin = stop
    return blocks, trivial


def _split_run(
    function: Function, run: Run, fmt: Format, begin: int, end: int
) -> Iterator[tuple[int, int, tuple[int | None, bool]]]:
    """Yield parts of a run in which ulp and sign of the values are proven constant."""
    ulp_and_sign = _constant_ulp_and_sign(function, run, fmt, begin, end)
    if ulp_and_sign is not None:
        yield begin, end, ulp_and_sign
        return
    if function.monotone:
        yield from _split_by_values(function, run, fmt, begin, end)
        return
    middle = (begin + end) // 2
    yield from _split_run(function, run, fmt, begin, middle)
    yield from _split_run(function, run, fmt, middle, end)


def _split_by_values(
    function: Function, run: Run, fmt: Format, begin: int, end: int
) -> Iterator[tuple[int, int, tuple[int | None, bool]]]:
    """Yield the same as `_split_run` for a monotone function: two values enclose all between."""

    @functools.cache
    def ulp_and_sign_at(i: int) -> tuple[int | None, bool]:
        ulp_and_sign = _constant_ulp_and_sign(function, run, fmt, i, i + 1)
        assert ulp_and_sign is not None  # that of a single argument is always decided
        return ulp_and_sign

    @functools.cache
    def log2_at(i: int) -> float:
        x = run.argument(i)
        with working_precision(64 + 2 * abs(exponent(x))):
            mantissa, power = function.evaluate(x).mid().man_exp()
        return math.log2(abs(int(mantissa)) or 1) + int(power)

    changes = [begin, *find_changes(begin, end - 1, ulp_and_sign_at, log2_at), end]
    for first, last in itertools.pairwise(changes):
        yield first, last, ulp_and_sign_at(first)


def _constant_ulp_and_sign(
    function: Function, run: Run, fmt: Format, begin: int, end: int
) -> tuple[int | None, bool] | None:
    """Return (ulp, negative) if balls prove both constant over a part, else None.

    A part of one argument is always decided; the caller halves longer ones.
    """
    single = end - begin == 1
    ends = run.argument(begin), run.argument(end - 1)
    for precision in _PRECISIONS if single else _PRECISIONS[1:2]:
        with working_precision(precision + 2 * abs(exponent(ends[1]))):
            values = enclosures(function, *ends)
            if (exponents := exponents_of_balls(values)) is None:
                continue
            low, high = exponents
            if function.below_one and not (single and values[0].is_exact()):
                low, high = min(low, -1), min(high, -1)
        if low == high or fmt.ulp(low) == fmt.ulp(high):
            return fmt.ulp(high), bool(values[0] < 0)
        if fmt.exponent_range is None and high - low > MAX_EXPONENTS and function.monotone:
            raise ValueError(
                f"domain: {function.name} has values of {high - low} exponents from "
                f"{format_fraction(ends[0])} to {format_fraction(ends[1])}, each of which is a "
                f"search of its own: take a domain with at most {MAX_EXPONENTS}"
            )
    if single:
        raise ValueError(
            f"domain: the exponent of {function.name}({format_fraction(ends[0])}) cannot be "
            f"determined with {_PRECISIONS[-1]} bits"
        )
    return None
