"""Sizes for a block, chosen from the truncation error, and the thresholds of the three phases.

Every threshold is the sum of the errors in the ledger of docs/tmd.md, rounded outwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tmd import _tests_math as tests
from tmd._scan_math import Shape
from tmd.blocks import Block
from tmd.formats import shown
from tmd.functions import Function, ball, working_precision
from tmd.taylor import POINT, Model, Scale, model

SPLITS = (3, 4, 5)  # binary logarithms of 8, 16, 32
LONGEST = tests.LONGEST.bit_length() - 1
SHORTEST = 8  # a sub-domain of phase 1 has 2^8 arguments at least: 32 lanes, 8 pieces
LARGEST_SUPER = 42
LEAST = 5  # a piece has 2^5 arguments: phase 3 gives each of 32 lanes one at least
MOST_PACKET = 9
MOST_BALLS = 1 << 20
MOST_BITS = 58
"""Distances are found to 2^-62; balls refine them, but do not look for them."""

ONE_BY_ONE = Shape(13, 8, 5, 0), 3
"""Sizes and degree in the plan of a block whose arguments are looked at by balls: not used."""

DEGREES = range(3, 25)
SPARE = 10
"""The model's error stays below the threshold by this many bits where the degree allows it."""

HALF = 1 << 62
"""Half a test unit, by 2^-63: no distance is larger."""

# Costs in instructions of a thread, as counted for one H200.
_TEST, _START, _VALUE = 60.0, 2000.0, 20.0
_FALSE = {"clipped": 1.25, "lefevre": 1.2, "swap": 1.2, "regular": 6.2, "alternating": 6.2}


@dataclass(frozen=True)
class Plan:
    """What the search of one block needs to know; the same on every device."""

    block: Block
    scale: Scale
    bits: int
    shape: Shape
    degree: int
    algorithm: str
    division: str

    @property
    def supers(self) -> int:
        """Super-blocks."""
        return -(-self.block.run.count >> self.shape.size)

    @property
    def limit(self) -> int:
        """The distance that makes a case, in units of 2^-128 of the test unit."""
        return _limit(self.scale, self.bits)


class Batch(NamedTuple):
    """Super-blocks that are searched together.

    Attributes
    ----------
    table : uint64 (blocks, degree + 1, 3)
    used : uint64 (blocks,): sub-domains of each, the last one partly filled
    offsets, bounds : (blocks,): what is added to b, by 2^-63, and the bound of the test, phase 1
    offsets2, bounds2 : the same, phase 2
    limits : uint64 (blocks,): the distance that makes a candidate, by 2^-63
    errors : int64 (blocks,): of the values of candidates, by 2^-63
    """

    first: int
    table: np.ndarray
    used: np.ndarray
    offsets: np.ndarray
    bounds: np.ndarray
    offsets2: np.ndarray
    bounds2: np.ndarray
    limits: np.ndarray
    errors: np.ndarray


def plan(function: Function, block: Block, bits: int, scale: Scale, algorithm, division) -> Plan:
    """Sizes for a block: the cheapest by a model of the costs."""
    sizes = _derivatives(function, block, scale)
    degree, size = _super(sizes, block.run.count, bits)
    size = _proven(function, block, bits, scale, degree, size)
    if size < SHORTEST + 5:
        return _one_by_one(block, bits, scale, division)
    best = None
    for domain in range(SHORTEST, min(LONGEST, size - 5) + 1):
        for split in SPLITS:
            if domain - split < LEAST:
                continue
            cost, share = _cost(sizes, bits, scale, domain, domain - split, algorithm)
            if best is None or cost < best[0]:
                best = cost, domain, split, share
    cost, domain, split, share = best
    size = min(size, domain + 30)
    if algorithm == "auto":
        algorithm = "exhaustive" if cost > _VALUE + _START / 32 else "clipped"
    packet = max(0, min(MOST_PACKET, size - domain - 5, _packet(sizes, domain)))
    shape = Shape(size, domain, domain - split, packet)
    return Plan(block, scale, bits, shape, degree, algorithm, division)


def possible(shape: Shape, degree: int) -> bool:
    """Whether a plan may have these sizes: the kernels rely on it."""
    size, domain, piece, packet = shape
    return (
        SHORTEST <= domain <= min(LONGEST, size - 5)
        and domain - piece in SPLITS
        and piece >= LEAST
        and 0 <= packet <= min(MOST_PACKET, size - domain - 5)
        and size <= min(LARGEST_SUPER, domain + 30)
        and degree in DEGREES
    )


def _one_by_one(block, bits, scale, division) -> Plan:
    """For arguments so far apart (next to poles) that no polynomial serves for 2^13 of them."""
    if block.run.count > MOST_BALLS:
        raise ValueError(
            f"domain: the arguments from {shown(block.run.argument(0))} on lie too far apart for "
            f"local polynomials, and at most {MOST_BALLS} are looked at one by one: take a "
            "smaller domain"
        )
    return Plan(block, scale, bits, *ONE_BY_ONE, "balls", division)


def _derivatives(function, block, scale) -> list[float]:
    """log2 |f^(k)/k!| in test units by argument, the largest of three places; k from 0."""
    run, shift = block.run, int(scale.doubled) - block.ulp
    logs = [-1e9] * (DEGREES[-1] + 2)
    for index in (0, run.count // 2, run.count - 1):
        with working_precision(96 + max(0, run.quantum + 64) * 2):
            found = function.coefficients(ball(run.argument(index)), len(logs))
            for k, c in enumerate(found):
                mantissa, e = c.abs_upper().mid().man_exp()
                if mantissa:
                    log = math.log2(int(mantissa)) + int(e) + shift + k * run.quantum
                    logs[k] = max(logs[k], log)
    return logs


def _super(logs, count: int, bits: int) -> tuple[int, int]:
    """Degree and size of super-blocks: few of them, with a remainder below the threshold."""
    wanted = max(SHORTEST + 5, min(LARGEST_SUPER, (count - 1).bit_length()))
    target = -float(bits + SPARE)
    best = 0, 0
    for degree in DEGREES:
        size = int((target - 1 - logs[degree + 1]) / (degree + 1)) + 1
        size = min(size, int(60 - logs[1]), wanted)
        if size > best[1]:
            best = degree, size
        if best[1] >= max(SHORTEST + 5, wanted - 2):
            break
    return best


def _proven(function, block, bits, scale, degree, size: int) -> int:
    """The largest size up to `size` whose models at both ends err by less than the distance.

    Derivatives at three places are a guess: a short block's super-block reaches far beyond it.
    """
    while size >= SHORTEST + 5:
        ends = {0, (block.run.count - 1) >> size}
        try:
            if all(
                model(function, block, i, size, degree, scale).error <= _limit(scale, bits)
                for i in ends
            ):
                break
        except ArithmeticError:
            pass
        size -= 1
    return size


def _limit(scale: Scale, bits: int) -> int:
    """The distance that makes a case, in units of 2^-128 of the test unit."""
    return 1 << (POINT + int(scale.doubled) - bits)


def _errors(logs, bits, scale, domain, unit=52) -> float:
    sagitta = 2.0 ** (logs[2] + 2 * domain - 3)
    return sagitta + 2.0 ** (1 + int(scale.doubled) - bits) + 2.0 ** (domain - unit)


def _cost(logs, bits, scale, domain, piece, algorithm) -> tuple[float, float]:
    """Instructions an argument, and the share of sub-domains that fail."""
    factor = _FALSE.get(algorithm, 1.25)
    first = min(1.0, factor * 2 * _errors(logs, bits, scale, domain) * 2.0**domain)
    second = min(1.0, factor * 2 * _errors(logs, bits, scale, piece) * 2.0**piece)
    test = _TEST * (domain - 1)  # by a round for each few digits of the length
    inner = _START + 2.0 ** (domain - piece) * _TEST * (piece + 1)
    values = second * (_VALUE + 32 * _START / 2.0**piece)
    return (test + first * inner) / 2.0**domain + values, first


def _packet(logs, domain: int) -> int:
    """log2 of sub-domains a thread takes, so that a cubic does for them."""
    allowed = logs[2] + 2 * domain - 3 - 6  # a 64th of the sagitta
    return int((allowed - logs[4]) / 4 - domain - 5)


def batch(function: Function, plan: Plan, first: int, count: int) -> Batch:
    """The super-blocks first, ..., first + count - 1 of a block."""
    shape, run = plan.shape, plan.block.run
    models = [
        model(function, plan.block, i, shape.size, plan.degree, plan.scale)
        for i in range(first, first + count)
    ]
    left = [
        min(1 << shape.size, run.count - (i << shape.size)) for i in range(first, first + count)
    ]
    used = [-(-n >> shape.domain) for n in left]
    rows = [_thresholds(plan, m) for m in models]
    kind = np.float64 if tests.DIVISIONS[plan.division][1] is float else np.uint64
    columns = list(zip(*rows, strict=True))
    types = (np.uint64, kind, np.uint64, kind, np.uint64, np.int64)
    arrays = [np.array(c, dtype=t) for c, t in zip(columns, types, strict=True)]
    table = np.stack([m.words for m in models])
    return Batch(first, table, np.array(used, np.uint64), *arrays)


def _thresholds(plan: Plan, model: Model) -> tuple[int, ...]:
    """Offset and bound of phases 1 and 2, limit and error of phase 3."""
    shape = plan.shape
    unit = tests.UNIT_BITS[tests.DIVISIONS[plan.division][1]]
    twice = 2 * plan.limit
    found = []
    spans = shape.domain + shape.packet + 5, shape.domain
    for length, span in zip((shape.domain, shape.piece), spans, strict=True):
        error = twice + model.error + chord(model, shape.size, length)
        error += truncation(model, shape.size, span)
        # One unit more for b, rounded down; a is rounded down and counts once per argument.
        offset = -(-(error + (1 << (POINT - unit))) >> (POINT - 63))
        bound = (2 * offset >> (63 - unit)) + (1 << length) + 3
        found += [min(offset, HALF), min(bound, (1 << unit) - 1)]
    error = model.error + truncation(model, shape.size, shape.piece - 5)
    error = (error >> (POINT - 63)) + 3
    # From half a unit on every argument is a candidate, and balls decide them all.
    limit = min((twice >> (POINT - 63)) + error, HALF)
    return (*found, limit, min(error, HALF))


def chord(model: Model, size: int, length: int) -> int:
    """Of a line against the cubic over 2^length arguments: c2 N^2 / 8 + |c3| N^3."""
    second, third, _ = model.bounds
    inner = size - length
    return (second >> (2 * inner + 3)) + (third >> (3 * inner)) + 2


def truncation(model: Model, size: int, span: int) -> int:
    """Of a cubic over 2^span arguments against the polynomial."""
    return (model.bounds[2] >> (4 * (size - span))) + 1
