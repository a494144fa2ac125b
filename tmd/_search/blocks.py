"""Division of a domain into blocks: arguments of one exponent whose values have one ulp.

Domains are cut at special points. No search is needed, and none is made, of arguments outside the
domain of the function, at its poles and rational zeros, and where rounding is trivial because of
`trivial_rounding` or of the exponent of the value. All are counted.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tmd._search.trivial_rounding import INFINITY, Interval, start_of_trivial, trivial_near_zero
from tmd.formats import Format, Run, argument_runs, exponent, format_fraction
from tmd.functions.function import (
    Function,
    enclosures,
    exponents_of_balls,
    has_values,
    working_precision,
)

MAX_BLOCK_BITS = 46
"""log2 of the largest number of arguments in a block, the unit of certificates and checkpoints."""

MAX_EXPONENTS = 1 << 12
"""Largest number of exponents of values in a domain; binary64 has half as many."""

_PRECISIONS = (64, 128, 256, 1024, 4096, 16384)
"""Precisions, in bits, tried for balls of single arguments; longer parts use only the second."""

MAX_POINTS = 1 << 12
"""Most zeros and poles in a domain: each cuts it into about a hundred blocks."""

MAX_ARGUMENTS = 1 << 20
"""Most arguments of a domain with more of them: each block has at least one argument."""


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
        raise ValueError(f"domain: {function.name} {_describe_domain(first, last)}, got {interval}")
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


def _describe_domain(first: int | None, last: int | None) -> str:
    if last is None:
        return f"has no value at {first} and below" if first == 0 else f"needs x >= {first}"
    return f"needs {first} <= x <= {last}"


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
    trivial = list(trivial_near_zero(function, sign, near, far, fmt, bits))
    end = start_of_trivial(function, sign, far, fmt, bits)
    points = _points(function, max(lo, -end), min(hi, end), fmt)
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
    edges = sorted(x for x in cuts if lo <= x <= hi)
    blocks: list[Block] = []
    idle = 0
    for a, b in list(itertools.pairwise(edges))[::sign]:  # by magnitude, as blocks are
        if not (runs := argument_runs(a, b, fmt)):
            continue
        is_left_out = any(p <= a and b <= q for p, q in left_out)
        if is_left_out or not has_values(function, a, b, a in points):
            idle += sum(run.count for run in runs)
        else:
            new, skipped = _split_runs(function, runs, fmt, MAX_BLOCK_BITS)
            blocks, idle = blocks + new, idle + skipped
    return blocks, idle, bool(trivial)


def _points(function: Function, lo: Fraction, hi: Fraction, fmt: Format) -> set[Fraction]:
    """Return the points of a function in a domain, if they are not too many."""
    if not lo < hi:
        return set()
    lattice = function.lattices[lo >= 0]
    count = function.count_points
    number = int((hi - lo) / lattice) if lattice else count(lo, hi) if count else 0
    runs = argument_runs(lo, hi, fmt) if number > MAX_POINTS else []
    if sum(run.count for run in runs) > MAX_ARGUMENTS:
        raise ValueError(
            f"domain: {function.name} has about {number} zeros and poles in "
            f"[{format_fraction(lo)}, {format_fraction(hi)}), each of which is searched from both "
            f"sides: take domains with at most {MAX_POINTS}"
        )
    points = set(function.points(lo, hi) if function.points else ())
    if lattice:
        points |= {k * lattice for k in range(math.ceil(lo / lattice), int(hi // lattice) + 1)}
    return points


def split_into_blocks(
    function: Function, lo: Fraction, hi: Fraction, fmt: Format, largest: int = MAX_BLOCK_BITS
) -> tuple[list[Block], int]:
    """Split [lo, hi), in which all arguments have values but 0; see `_split_runs`."""
    return _split_runs(function, argument_runs(lo, hi, fmt), fmt, largest)


def _split_runs(
    function: Function, runs: list[Run], fmt: Format, largest: int
) -> tuple[list[Block], int]:
    """Split runs of arguments into blocks of at most 2^largest.

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
    for run in runs:
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

    def find_changes(first: int, last: int, interpolate: bool = True) -> list[int]:
        if ulp_and_sign_at(first) == ulp_and_sign_at(last):
            return []
        if last - first == 1:
            return [last]
        points = [(first + last) // 2]
        low, high = log2_at(first), log2_at(last)
        if interpolate and low != high:
            share = (round((low + high) / 2) - low) / (high - low)
            guess = first + int(min(1.0, max(0.0, share)) * (last - first))
            margin = (last - first >> 10) + 1
            points = sorted({max(guess - margin, first + 1), min(guess + margin, last - 1)})
        changes = []
        for left, right in itertools.pairwise([first, *points, last]):
            # Halve what interpolation has not made much shorter.
            shorter = right - left < last - first >> 4
            changes += find_changes(left, right, shorter or not interpolate)
        return changes

    changes = [begin, *find_changes(begin, end - 1), end]
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
