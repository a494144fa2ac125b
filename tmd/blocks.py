"""A domain cut into blocks: arguments of one exponent whose values have one ulp."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tmd.formats import Format, Run, exponent, runs, shown
from tmd.functions import Function, ball, working_precision

LARGEST = 46
"""Binary logarithm of a block's arguments at most: the unit of certificates and checkpoints."""

_PRECISIONS = (64, 128, 256, 1024, 4096, 16384)


@dataclass(frozen=True)
class Block:
    """Arguments and the ulp 2^ulp of their values. `negative`: the values are below 0."""

    run: Run
    ulp: int
    negative: bool


def blocks(function: Function, lo: Fraction, hi: Fraction, fmt: Format, largest=LARGEST):
    """The blocks of the domain [lo, hi), by growing magnitude, and how many arguments are trivial.

    Raises
    ------
    ValueError
        An empty domain, 0 in it, a zero or a pole of the function.
    """
    if not lo < hi:
        raise ValueError(f"domain must be (lo, hi) with lo < hi, got {shown(lo)}, {shown(hi)}")
    if lo * hi > 0 and (hole := function.hole(lo, hi)) is not None:
        raise ValueError(
            f"domain [{shown(lo)}, {shown(hi)}) must not contain holes of {function.name}: it has "
            f"{hole}; search the parts beside it"
        )
    found, trivial = [], 0
    for run in runs(lo, hi, fmt):
        pieces = _merged(_pieces(function, run, fmt, 0, run.count))
        for begin, end, (ulp, negative) in pieces:
            if ulp is None:
                trivial += end - begin
                continue
            # Cut at multiples of `largest` from the beginning of the exponent's run.
            while begin < end:
                origin = run.first & ((1 << largest) - 1)
                stop = min(end, (((begin + origin) >> largest) + 1 << largest) - origin)
                found.append(Block(run.part(begin, stop), ulp, negative))
                begin = stop
    if not found and not trivial:
        raise ValueError(f"domain [{shown(lo)}, {shown(hi)}) contains no argument")
    return found, trivial


def _merged(pieces):
    kept = []
    for begin, end, what in pieces:
        if kept and kept[-1][2] == what:
            kept[-1] = kept[-1][0], end, what
        else:
            kept.append((begin, end, what))
    return kept


def _pieces(function, run, fmt, begin, end):
    """Parts of a run in which ulp and sign of the values are proven constant."""
    what = _constant(function, run, fmt, begin, end)
    if what is not None:
        yield begin, end, what
        return
    middle = (begin + end) // 2
    yield from _pieces(function, run, fmt, begin, middle)
    yield from _pieces(function, run, fmt, middle, end)


def _constant(function, run, fmt, begin, end):
    """(ulp, negative) over a part; None where a ball cannot tell and the part can be halved."""
    single = end - begin == 1
    ends = run.argument(begin), run.argument(end - 1)
    for precision in _PRECISIONS if single else _PRECISIONS[1:2]:
        with working_precision(precision + 2 * abs(exponent(ends[1]))):
            first, last = map(ball, ends)
            value = function.at(ends[0]) if single else function.value(first.union(last))
            if not value.is_finite() or value.contains(0):
                continue
            low, high = _exponents(value)
            if function.below_one:
                low, high = min(low, -1), min(high, -1)
        if low == high or fmt.ulp(low) == fmt.ulp(high):
            return fmt.ulp(high), bool(value < 0)
    if single:
        raise ValueError(f"{function.name} at {shown(ends[0])}: its exponent cannot be found")
    return None


def _exponents(value) -> tuple[int, int]:
    """Exponents of the ends of a ball without 0."""
    size = abs(value)
    found = []
    for end in (size.lower(), size.upper()):
        mantissa, power = end.mid().man_exp()
        found.append(int(mantissa).bit_length() + int(power) - 1)
    return found[0], found[1]
