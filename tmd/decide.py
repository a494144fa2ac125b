"""Candidates become cases: by the error bound of the values; where that cannot tell, by balls."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tmd.blocks import Block
from tmd.formats import Format, exponent
from tmd.functions import Function, working_precision
from tmd.plan import Batch, Plan
from tmd.taylor import POINT, Scale

_FRACTION = np.uint64((1 << 63) - 1)
PRECISIONS = (256, 512, 1024, 2048, 4096, 8192)

DECIDED = 1 << 11
"""Error of a value that was a float64 of 62 bits, by 2^-63 test units."""


@dataclass
class Found:
    """The cases of one block, by growing magnitude of the argument.

    Attributes
    ----------
    index : uint64, numbers of the arguments in the block
    middle : bool, near a midpoint (else near a float)
    value, error : int64, signed distance from the breakpoint and its error, by 2^-63 test units
    counts : sub-domains, survivors of phase 1, failing pieces, candidates, decided by Arb
    undecided : numbers of arguments that balls of 8192 bits cannot decide
    """

    index: np.ndarray
    middle: np.ndarray
    value: np.ndarray
    error: np.ndarray
    counts: list[int] = field(default_factory=lambda: [0] * 5)
    undecided: list[int] = field(default_factory=list)

    @property
    def hash(self) -> str:
        """Hash of the numbers and kinds of all cases."""
        digest = hashlib.blake2b(digest_size=12)
        digest.update(self.index.astype("<u8").tobytes())
        digest.update(self.middle.astype(np.uint8).tobytes())
        digest.update(np.array(self.undecided, "<u8").tobytes())
        return digest.hexdigest()


def contradiction(plan: Plan, counts, cases: int, undecided: int) -> str:
    """Say what no search by `plan` can have counted; "" if everything fits together.

    `counts` are those of `Found`.
    """
    subdomains, survivors, pieces, candidates, balls = counts
    if plan.algorithm == "balls":
        expected = 0, 0, 0, plan.block.run.count, plan.block.run.count
        rules = [(tuple(counts) == expected, "balls look at every argument once")]
    else:
        whole = -(-plan.block.run.count >> plan.shape.domain)
        split = plan.shape.domain - plan.shape.piece
        rules = [
            (subdomains == whole, f"{subdomains} sub-domains of {whole}"),
            (survivors <= subdomains, "more survivors than sub-domains"),
            (pieces <= survivors << split, "more failing pieces than survivors have"),
            (candidates <= pieces << plan.shape.piece, "more candidates than arguments"),
            (balls <= candidates, "more decisions by balls than candidates"),
        ]
    if plan.algorithm == "exhaustive":
        rules[1:3] = [
            (survivors == 0, "survivors of a test that was not done"),
            (pieces == whole << split, "not all pieces"),
        ]
    rules += [
        (undecided <= balls, "more undecided arguments than decisions by balls"),
        (cases + undecided <= candidates, "more cases than candidates"),
    ]
    return next((text for holds, text in rules if not holds), "")


def settle(function: Function, plan: Plan, batch: Batch, ticket) -> Found:
    """The cases among the candidates of a batch. `ticket`: what the engine's `finish` gave."""
    survivors, pieces, numbers, words = ticket
    size = np.uint64(plan.shape.size)
    block = (numbers >> size).astype(np.int64)
    index = numbers + (np.uint64(batch.first) << size)
    keep = np.flatnonzero(index < np.uint64(plan.block.run.count))
    keep = keep[np.argsort(index[keep], kind="stable")]
    index, words, error = index[keep], words[keep], batch.errors[block[keep]]
    value = (words & _FRACTION).astype(np.int64)
    over = value >= 1 << 62
    value -= over.astype(np.int64) << np.int64(62) << np.int64(1)
    odd = ((words >> np.uint64(63)).astype(bool)) ^ over
    middle = odd if plan.scale.doubled else np.full(odd.shape, plan.scale.half)
    limit = plan.limit >> (POINT - 63)
    size_ = np.abs(value)
    case = size_ < limit - error
    unsure = np.flatnonzero(~case & (size_ - error < limit))
    undecided = []
    for i in unsure:
        verdict = decided(function, plan, int(index[i]))
        if verdict is None:
            undecided.append(int(index[i]))
            continue
        case[i], middle[i], value[i] = verdict
        error[i] = DECIDED
    sub = int(batch.used.sum())
    counts = [sub, survivors, pieces, keep.size, unsure.size]
    return Found(index[case], middle[case], value[case], error[case], counts, undecided)


def joined(parts: list[Found]) -> Found:
    """The cases of consecutive batches of one block."""
    arrays = [
        np.concatenate([getattr(p, name) for p in parts])
        for name in ("index", "middle", "value", "error")
    ]
    counts = [sum(c) for c in zip(*(p.counts for p in parts), strict=True)]
    return Found(*arrays, counts, [i for p in parts for i in p.undecided])


def by_balls(function: Function, plan: Plan) -> Found:
    """The cases of a short block, every argument by balls."""
    rows, undecided = [], []
    for i in range(plan.block.run.count):
        verdict = decided(function, plan, i)
        if verdict is None:
            undecided.append(i)
        elif verdict[0]:
            rows.append((i, *verdict[1:], DECIDED))
    columns = list(zip(*rows, strict=True)) or [()] * 4
    types = (np.uint64, bool, np.int64, np.int64)
    arrays = [np.array(c, t) for c, t in zip(columns, types, strict=True)]
    count = plan.block.run.count
    return Found(*arrays, [0, 0, 0, count, count], undecided)


def decided(function: Function, plan: Plan, index: int) -> tuple[bool, bool, int] | None:
    """By balls: (whether an argument is a case, near a midpoint, its value by 2^-63 test units).

    None if 8192 bits do not tell.
    """
    from flint import arb

    x = plan.block.run.argument(index)
    limit = arb(2) ** (int(plan.scale.doubled) - plan.bits)
    for precision in PRECISIONS:
        with working_precision(precision + extra(x)):
            y = test_units(function, plan.block, plan.scale, x)
            nearest = (y + arb(0.5)).floor().unique_fmpz()
            if nearest is None:
                continue
            off = y - arb(nearest)
            if abs(off) < limit or abs(off) >= limit:
                middle = bool(int(nearest) & 1) if plan.scale.doubled else plan.scale.half
                return abs(off) < limit, middle, round(float(off.mid() * arb(2) ** 63))
    return None


def extra(x: Fraction) -> int:
    """Digits that large arguments of periodic functions cost, with room for the value's own."""
    return 64 + 2 * max(0, exponent(x)) + (64 if x else 0)


def test_units(function: Function, block: Block, scale: Scale, x: Fraction):
    """The value at x as a ball, in units in which the breakpoints are the integers."""
    from flint import arb

    value = abs(function.at(x)) * arb(2) ** (int(scale.doubled) - block.ulp)
    return value + arb(0.5) if scale.half else value


@dataclass(frozen=True)
class Distance:
    """How far a value is from a breakpoint, in ulps of the value: a proven interval."""

    lower: float
    upper: float

    def __iter__(self):
        return iter((self.lower, self.upper))


def measure(function: Function, fmt: Format, x: Fraction, middle: bool):
    """(distance from the nearest float or midpoint, identical bits after the round bit).

    A value that is the breakpoint has the distance 0 and None for the bits.
    """
    from flint import arb

    for precision in PRECISIONS:
        with working_precision(precision + extra(x)):
            value = abs(function.at(x))
            ulp = _ulp(fmt, value)
            if ulp is None:
                continue
            y = value * arb(2) ** -ulp + arb(0.5 if middle else 0.0)
            nearest = (y + arb(0.5)).floor().unique_fmpz()
            if nearest is None:
                continue
            distance = abs(y - arb(nearest))
            if distance == 0:
                return Distance(0.0, 0.0), None
            bits = {_leading_zeros(end) for end in (distance.lower(), distance.upper())}
            if len(bits) == 1 and distance > 0:
                lower = math.nextafter(float(distance.lower()), 0.0)
                upper = math.nextafter(float(distance.upper()), 1.0)
                return Distance(lower, upper), bits.pop() - 1
    raise ArithmeticError(f"the distance at {x} is not found with 8192 bits")


def _leading_zeros(number) -> int | None:
    """floor(-log2) of a positive number with a finite mantissa; None for others."""
    mantissa, power = number.mid().man_exp()
    return -((int(mantissa) - 1).bit_length() + int(power)) if mantissa > 0 else None


def _ulp(fmt, value):
    """log2 of the ulp of the ball of a value; None if the ball is too wide."""
    ends = []
    for end in (value.lower(), value.upper()):
        mantissa, power = end.mid().man_exp()
        if not mantissa:
            return None
        ends.append(fmt.ulp(int(mantissa).bit_length() + int(power) - 1))
    return ends[0] if ends[0] == ends[1] else None
