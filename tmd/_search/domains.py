"""Division of any domain of a function into blocks: cuts at special points, and what is left out.

No search is needed, and none is made, of arguments

- outside the domain of the function, at its poles and at its rational zeros;
- near 0, if |f(x) - r| < 2^-bits ulp there for r = x or a constant r that is a float, by
  Lagrange's remainder over a ball from 0 on;
- from some |x| on, if f is that close to its limit there, overflows or vanishes, or if all
  arguments are points at which f is exact.

All are counted, with those at which rounding is trivial because of the exponent of the value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from tmd._search.blocks import MAX_BLOCK_BITS, Block, split_into_blocks
from tmd.formats import Format, argument_runs, exponent, format_fraction
from tmd.functions.function import Function, ball, working_precision

MAX_POINTS = 1 << 12
"""Most zeros and poles in a domain: each cuts it into about a hundred blocks."""

MAX_ARGUMENTS = 1 << 20
"""Most arguments of a domain with more of them: each block has at least one argument."""

_INFINITY = Fraction(1 << (1 << 15))
"""Larger than every argument."""

Interval = tuple[Fraction, Fraction]


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


def _count(lo: Fraction, hi: Fraction, fmt: Format) -> int:
    """Return the number of arguments in [lo, hi), both of one sign."""
    return sum(run.count for run in argument_runs(lo, hi, fmt))


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
    near, far = sorted((abs(lo), abs(hi)))
    trivial = list(_trivial_near_zero(function, sign, near, far, fmt, bits))
    end = start_of_trivial(function, sign, far, fmt, bits)
    points = _points(function, max(lo, -end), min(hi, end), fmt)
    # In [x, x + after) there is no argument but x; so [a, b) is (-b, -a] if mirrored and shifted.
    after = Fraction(2) ** (exponent(near) - 2 * fmt.argument_precision - 2)
    magnitudes = [*trivial, (end, _INFINITY)]
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
        if not (count := _count(a, b, fmt)):
            continue
        is_left_out = any(p <= a and b <= q for p, q in left_out)
        if is_left_out or not _has_values(function, a, b, points):
            idle += count
        else:
            new, skipped = split_into_blocks(function, a, b, fmt, MAX_BLOCK_BITS)
            blocks, idle = blocks + new, idle + skipped
    return blocks, idle, bool(trivial)


def _has_values(function: Function, a: Fraction, b: Fraction, points: set[Fraction]) -> bool:
    """Return whether f has values other than 0 in [a, b), which is a point or holds none."""
    if a not in points:
        return function.is_defined_between(a, b)
    with working_precision(64 + 2 * abs(exponent(a))):
        value = function.evaluate(a)
        return bool(value.is_finite() and value != 0)


def _points(function: Function, lo: Fraction, hi: Fraction, fmt: Format) -> set[Fraction]:
    """Return the points of a function in a domain, if they are not too many."""
    if not lo < hi:
        return set()
    lattice = function.lattices[lo >= 0]
    count = function.count_points
    number = int((hi - lo) / lattice) if lattice else count(lo, hi) if count else 0
    if number > MAX_POINTS and _count(lo, hi, fmt) > MAX_ARGUMENTS:
        raise ValueError(
            f"domain: {function.name} has about {number} zeros and poles in "
            f"[{format_fraction(lo)}, {format_fraction(hi)}), each of which is searched from both "
            f"sides: take domains with at most {MAX_POINTS}"
        )
    points = set(function.points(lo, hi))
    if lattice:
        points |= {k * lattice for k in range(math.ceil(lo / lattice), int(hi // lattice) + 1)}
    return points


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
            x = _last(is_trivial, begin, fmt)
            if x is not None:
                yield (begin if fixed == "x" else Fraction(0)), x
                if fixed != "x":
                    return


def _last(holds: Callable[[Fraction], bool], begin: Fraction, fmt: Format) -> Fraction | None:
    """Return the end of the part of a binade, from its begin on, in which a property holds."""
    if not holds(begin):
        return None
    low, high = 0, 1 << fmt.argument_precision
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(_step_from(begin, middle, fmt)) else (low, middle)
    return _step_from(begin, high, fmt)


def _step_from(begin: Fraction, steps: int, fmt: Format) -> Fraction:
    return begin * (1 + Fraction(steps, 1 << fmt.argument_precision))


def start_of_trivial(
    function: Function, sign: int, far: Fraction, fmt: Format, bits: int
) -> Fraction:
    """Return the magnitude from which on rounding is trivial, perhaps beyond all arguments."""
    ends = [_INFINITY]
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
        return _INFINITY

    def is_at_limit(x: Fraction) -> bool:
        value = function.enclosure(ball(sign * x))
        if limit in (0, math.inf):
            low, high = fmt.exponent_range or (0, 0)
            least, most = (Fraction(2) ** k for k in (low - fmt.precision - 1, high + 1))
            return bool(abs(value) < ball(least) if limit == 0 else abs(value) > ball(most))
        gap = abs(value) - ball(abs(limit))
        e = exponent(limit) - int(bool(abs(limit) == Fraction(2) ** exponent(limit) and gap < 0))
        ulp = fmt.ulp(e)
        return ulp is None or bool(abs(gap) < ball(Fraction(2) ** (ulp - bits)))

    with working_precision(2 * (fmt.precision + bits) + 256):
        low, high = 0, 1
        while not is_at_limit(Fraction(2) ** high):
            if high > exponent(far):
                return _INFINITY
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_at_limit(Fraction(2) ** middle) else (middle, high)
        last = None
        if limit not in (0, math.inf):
            last = _last(lambda x: not is_at_limit(x), Fraction(2) ** low, fmt)
        return Fraction(2) ** high if last is None else last
