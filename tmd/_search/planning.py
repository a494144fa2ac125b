"""Plans and batches of a search; the sizes of a block's search follow from truncation errors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tmd._search.blocks import Block
from tmd._search.formulas import boolean_test_formulas as tests
from tmd._search.formulas.line_formulas import Shape
from tmd._search.taylor_models import Models, Scale, make_model
from tmd.formats import Run, format_fraction
from tmd.functions.function import Function, ball, working_precision

T = TypeVar("T")

# Sizes are binary logarithms of numbers of arguments.
SPLITS = (3, 4, 5)  # phase 2 splits a sub-domain into 8, 16 or 32 pieces: at most one for each lane
SPLITS_NEAR_POLES = (1, 2)  # of the shortest sub-domains, into pieces of 2^MIN_PIECE arguments
MAX_SUBDOMAIN = tests.MAX_SUBDOMAIN_LENGTH.bit_length() - 1
MIN_SUBDOMAIN = 6  # the smallest that splits into pieces of 2^5 arguments
MAX_SUPER_BLOCK = 42  # not tuned
MIN_PIECE = 5  # phase 3 gives at least one argument to each of 32 lanes
MAX_PACKET = 9  # the ledger of errors in docs/packages/tmd.md holds up to here
MAX_BALL_ARGUMENTS = 1 << 20
"""Most arguments of a block that balls decide one after the other (not tuned)."""

MAX_BITS = 58
"""Largest `bits` of a search: candidates are found among values that are accurate to 2^-62."""

MAX_CASES = 1 << 27
"""Largest number of cases that a search may be expected to have, so that they fit into memory."""

ONE_BY_ONE = Shape(13, 8, 5, 0), 3
"""Placeholder for sizes and degree in the plan of a block that balls decide; nothing uses them."""

LATTICE = "lattice"
"""Algorithm of blocks that are searched together, because they differ by constants."""

FEWEST_TRANSLATES, LEAST_TRANSLATE = 3, 1 << 20
"""Fewest blocks that are searched together, and their fewest arguments (not tuned)."""

CONSTANT_BITS = 512
"""Working precision of the constants by which translates differ; 192 bits are used."""

DEGREES = range(3, 25)
SPARE_BITS = 10
"""Bits by which the model's error stays below the distance of a case where the degree allows it."""

_ROUND_COST, _START_COST, _VALUE_COST = 60.0, 2000.0, 20.0
"""Instructions of a thread for a round of a Boolean test, for the Taylor coefficients at a new
argument, and for the next value by differences, as counted for an H200."""

_BASIS_COST, _MEMBER_COST = 1500.0, 5.0
"""Instructions of a thread for the basis of a sub-domain, and for the test of each translate."""

_FALSE_ALARMS = {
    **{"clipped": 1.25, "lefevre": 1.2, "swap": 1.2, "regular": 6.2, "alternating": 6.2},
    LATTICE: 3.0,
}
"""Failing sub-domains as a multiple of those with a value near an integer, by algorithm."""


@dataclass(frozen=True)
class Plan:
    """Everything that determines the search of one block; the same on every device."""

    block: Block
    scale: Scale
    bits: int
    shape: Shape
    degree: int
    algorithm: str
    division: str

    @property
    def test(self) -> str:
        """The Boolean test of phase 2, and of phase 1 where no other blocks are searched, too."""
        return "clipped" if self.algorithm == LATTICE else self.algorithm

    @property
    def super_blocks(self) -> int:
        """Number of super-blocks, the last of which may be incomplete."""
        return -(-self.block.run.count >> self.shape.super_block)


class Stretch(NamedTuple):
    """Super-blocks first, ..., first + length - 1 of a block."""

    plan: Plan
    first: int
    length: int

    @classmethod
    def whole(cls, plan: Plan) -> Stretch:
        """Return a whole block."""
        return cls(plan, 0, plan.super_blocks)


class Batch(NamedTuple):
    """Consecutive super-blocks of a block that are searched together.

    Offsets are added to the b of lines, and are in units of 2^-63 test units. Bounds are those of
    the Boolean test, in its own unit (2^-52 or 2^-63); float64 or uint64 like the test's numbers.

    Attributes
    ----------
    first : int
        Number of the first super-block in its block.
    table : uint64 (super-blocks, degree + 1, 3)
        Coefficients, as in `Model.words`.
    subdomain_counts : uint64 (super-blocks,)
        Number of sub-domains; the last one may be incomplete.
    offsets, bounds : (super-blocks,)
        For the sub-domains of phase 1.
    piece_offsets, piece_bounds : (super-blocks,)
        For the pieces of phase 2.
    limits : uint64 (super-blocks,)
        Distance below which an argument is a candidate, in units of 2^-63 test units.
    errors : int64 (super-blocks,)
        Bound of the errors of the candidates' values, in units of 2^-63 test units.
    members : int
        Number of translates: blocks, one after the other, of which the batch has as many
        super-blocks each.
    step : uint64
        What b grows by from each of them to the next, modulo 1, in units of 2^-64 test units.
    """

    first: int
    table: np.ndarray
    subdomain_counts: np.ndarray
    offsets: np.ndarray
    bounds: np.ndarray
    piece_offsets: np.ndarray
    piece_bounds: np.ndarray
    limits: np.ndarray
    errors: np.ndarray
    members: int = 1
    step: np.uint64 = np.uint64(0)


def count_by_member(batch: Batch, super_blocks: np.ndarray) -> np.ndarray:
    """Return how often each translate occurs among numbers of super-blocks of a batch."""
    each = np.uint64(batch.subdomain_counts.size // batch.members)
    return np.bincount((super_blocks // each).astype(np.int64), minlength=batch.members)


def count_arguments(plans: Iterable[Plan]) -> int:
    """Return the number of arguments in the blocks."""
    return sum(plan.block.run.count for plan in plans)


@dataclass(frozen=True)
class SearchPlan:
    """The plans of all blocks of a domain.

    Attributes
    ----------
    plans : list of Plan
        In the order of the blocks.
    images : dict of int to int
        Numbers of the blocks that mirror another one of an odd or even function, and of that one.
    searched : list of Stretch
        The other blocks, as a whole.
    """

    plans: list[Plan]
    images: dict[int, int]
    searched: list[Stretch]

    @property
    def searched_plans(self) -> list[Plan]:
        """The plans of the blocks that are searched."""
        return [stretch.plan for stretch in self.searched]

    def describe_algorithms(self) -> str:
        """Return how many blocks each algorithm searches."""
        counts = Counter(plan.algorithm for plan in self.plans)
        return ", ".join(f"{count} {algorithm}" for algorithm, count in counts.items())

    def pair_with(self, results: Mapping[int, T]) -> list[tuple[Plan, T]]:
        """Return all plans with their results, from those of the searched ones by number."""
        numbers = (i for i in range(len(self.plans)) if i not in self.images)
        result_of = {i: results[k] for k, i in enumerate(numbers)}
        return [(plan, result_of[self.images.get(i, i)]) for i, plan in enumerate(self.plans)]


def plan_search(
    function: Function,
    blocks: Sequence[Block],
    bits: int,
    scale: Scale,
    algorithm: str,
    division: str,
    join_translates: bool = False,
) -> SearchPlan:
    """Plan the search of all blocks; see `make_plan`.

    With `join_translates` those that differ by constants may be searched together. Raises
    ValueError if more cases are to be expected than fit into memory.
    """
    _require_few_cases(sum(block.run.count for block in blocks), bits, scale)
    joined: dict[int, Plan] = {}
    if join_translates and algorithm == "auto" and tests.DIVISIONS[division][1] is float:
        for group in _find_translates(function, blocks):
            first, members = blocks[group[0]], len(group)
            plan = make_plan(function, first, bits, scale, LATTICE, division, members)
            if plan.algorithm == LATTICE:
                joined |= {i: replace(plan, block=blocks[i]) for i in group}
    plans = [
        joined.get(i) or make_plan(function, block, bits, scale, algorithm, division)
        for i, block in enumerate(blocks)
    ]
    images = _find_mirror_images(blocks) if function.symmetry else {}
    searched = [Stretch.whole(plan) for i, plan in enumerate(plans) if i not in images]
    return SearchPlan(plans, images, searched)


def _find_translates(function: Function, blocks: Sequence[Block]) -> list[list[int]]:
    """Return the numbers of the blocks of each group that is worth a search together."""
    groups: dict[Any, list[int]] = {}
    for i, block in enumerate(blocks):
        if function.doubling and block.run.sign > 0 and block.run.count >= LEAST_TRANSLATE:
            groups.setdefault(block.shape, []).append(i)
    found = [group for group in groups.values() if len(group) >= FEWEST_TRANSLATES]
    for group in found:
        _check_doubling(function, blocks[group[0]].run, blocks[group[-1]].run)
    return found


def _check_doubling(function: Function, first: Run, last: Run) -> None:
    """Refuse a function of a user whose values do not differ as it says."""
    assert function.doubling is not None
    with working_precision(CONSTANT_BITS):
        if (accuracy := function.doubling().rel_accuracy_bits()) < CONSTANT_BITS // 2:
            raise ValueError(
                f"function {function.name}: doubling() has {accuracy} accurate bits, but must have "
                f"{CONSTANT_BITS // 2}: compute it anew in each call, at the precision of flint.ctx"
            )
        low, high = (function.enclosure(ball(run.argument(0))) for run in (first, last))
        if not (high - low).overlaps((last.quantum - first.quantum) * function.doubling()):
            raise ValueError(f"function {function.name}: doubling() must be f(2x) - f(x)")


def _require_few_cases(arguments: int, bits: int, scale: Scale) -> None:
    """Raise ValueError if more cases are to be expected than fit into memory."""
    log2_breakpoints = 1 + int(scale.doubled)
    expected = 2 * arguments * 2.0 ** (log2_breakpoints - bits)
    if expected > MAX_CASES:
        sufficient = math.ceil(math.log2(2 * arguments / MAX_CASES)) + log2_breakpoints
        raise ValueError(
            f"bits={bits} would give about {expected:.2g} cases among {arguments:.2g} "
            f"arguments, too many to store: use bits >= {sufficient} or a smaller domain"
        )


def _find_mirror_images(blocks: Sequence[Block]) -> dict[int, int]:
    """Return the numbers of the blocks that mirror another one, and of that one.

    Arguments are counted by magnitude, so that both have the same cases.
    """
    positive = {block.run: i for i, block in enumerate(blocks) if block.run.sign > 0}
    mirrored = ((i, replace(block.run, sign=1)) for i, block in enumerate(blocks))
    return {i: positive[run] for i, run in mirrored if positive.get(run, i) != i}


def make_plan(
    function: Function,
    block: Block,
    bits: int,
    scale: Scale,
    algorithm: str,
    division: str,
    members: int = 1,
) -> Plan:
    """Choose the sizes for a block that are cheapest by a model of the costs.

    It may be the first of several `members` that are searched together.
    """
    if block.run.count == 1:  # f may have no derivatives there
        return _plan_one_by_one(block, bits, scale, division)
    logs = _log2_coefficients(function, block, scale)
    degree, super_block = _choose_super_block(logs, block.run.count, bits)
    super_block = _shrink_until_proven(function, block, bits, scale, degree, super_block)
    if super_block < MIN_SUBDOMAIN + 5:
        return _plan_one_by_one(block, bits, scale, division)
    candidates = (
        (subdomain, split)
        for subdomain in range(MIN_SUBDOMAIN, min(MAX_SUBDOMAIN, super_block - 5) + 1)
        for split in (*SPLITS_NEAR_POLES, *SPLITS)
        if _is_valid_split(subdomain, subdomain - split)
    )

    def estimate(sizes: tuple[int, int]) -> float:
        subdomain, split = sizes
        return _estimate_cost(logs, bits, scale, subdomain, subdomain - split, algorithm, members)

    subdomain, split = min(candidates, key=estimate)
    cost = estimate((subdomain, split))
    super_block = min(super_block, subdomain + 30)
    if algorithm == "auto":
        algorithm = "exhaustive" if cost > _VALUE_COST + _START_COST / 32 else "clipped"
    packet = _choose_packet(logs, subdomain)
    packet = max(0, min(MAX_PACKET, super_block - subdomain - 5, packet))
    shape = Shape(super_block, subdomain, subdomain - split, packet)
    return Plan(block, scale, bits, shape, degree, algorithm, division)


def is_valid_shape(shape: Shape, degree: int) -> bool:
    """Return whether a plan may have these sizes; the kernels rely on it."""
    super_block, subdomain, piece, packet = shape
    return (
        MIN_SUBDOMAIN <= subdomain <= min(MAX_SUBDOMAIN, super_block - 5)
        and _is_valid_split(subdomain, piece)
        and 0 <= packet <= min(MAX_PACKET, super_block - subdomain - 5)
        and super_block <= min(MAX_SUPER_BLOCK, subdomain + 30)
        and degree in DEGREES
    )


def _is_valid_split(subdomain: int, piece: int) -> bool:
    """Return whether sub-domains of 2^subdomain arguments may have pieces of 2^piece."""
    splits = SPLITS if piece > MIN_PIECE else (*SPLITS_NEAR_POLES, *SPLITS)
    return piece >= MIN_PIECE and subdomain - piece in splits


def _plan_one_by_one(block: Block, bits: int, scale: Scale, division: str) -> Plan:
    """Plan a block by balls: its arguments, near a pole, are too far apart for a polynomial."""
    if block.run.count > MAX_BALL_ARGUMENTS:
        raise ValueError(
            f"domain: the arguments from {format_fraction(block.run.argument(0))} on are too far "
            f"apart for local polynomials, and at most {MAX_BALL_ARGUMENTS} can be checked one by "
            "one: use a smaller domain"
        )
    return Plan(block, scale, bits, *ONE_BY_ONE, "balls", division)


def _log2_coefficients(function: Function, block: Block, scale: Scale) -> list[float]:
    """Return log2 |f^(k)/k!| for k = 0, 1, ..., in test units per argument^k.

    Each is the largest at three points: the first, the middle and the last argument.
    """
    run, shift = block.run, int(scale.doubled) - block.ulp
    logs = [-1e9] * (DEGREES[-1] + 2)
    for index in (0, run.count // 2, run.count - 1):
        with working_precision(96 + max(0, run.quantum + 64) * 2):
            coefficients = function.coefficients(ball(run.argument(index)), len(logs))
            for k, c in enumerate(coefficients):
                mantissa, e = c.abs_upper().mid().man_exp()
                if mantissa:
                    log = math.log2(int(mantissa)) + int(e) + shift + k * run.quantum
                    logs[k] = max(logs[k], log)
    return logs


def _choose_super_block(logs: list[float], count: int, bits: int) -> tuple[int, int]:
    """Choose degree and size of super-blocks: few of them, with a sufficiently small remainder."""
    desired = max(MIN_SUBDOMAIN + 5, min(MAX_SUPER_BLOCK, (count - 1).bit_length()))
    target = -float(bits + SPARE_BITS)
    best = 0, 0
    for degree in DEGREES:
        size = int((target - 1 - logs[degree + 1]) / (degree + 1)) + 1
        size = min(size, int(60 - logs[1]), desired)
        if size > best[1]:
            best = degree, size
        if best[1] >= max(MIN_SUBDOMAIN + 5, desired - 2):
            break
    return best


def _shrink_until_proven(
    function: Function, block: Block, bits: int, scale: Scale, degree: int, size: int
) -> int:
    """Return the largest size up to `size` at which the models at both ends are good enough.

    Their errors must be below the distance of a case. Derivatives at three points are only a guess,
    because the super-block of a short block reaches far beyond it.
    """
    while size >= MIN_SUBDOMAIN + 5:
        ends = {0, (block.run.count - 1) >> size}
        try:
            models = Models(function, block, scale, size, degree)
            if all(make_model(models, i).error <= scale.case_distance(bits) for i in ends):
                break
        except ArithmeticError:
            pass
        size -= 1
    return size


def _estimate_error(logs: list[float], bits: int, scale: Scale, length: int) -> float:
    """Estimate the sum of the errors of a line over 2^length arguments, in test units."""
    sagitta = 2.0 ** (logs[2] + 2 * length - 3)
    return sagitta + 2.0 ** (1 + int(scale.doubled) - bits) + 2.0 ** (length - 52)


def _estimate_cost(
    logs: list[float],
    bits: int,
    scale: Scale,
    subdomain: int,
    piece: int,
    algorithm: str,
    members: int,
) -> float:
    """Estimate the instructions of a search per argument."""
    factor = _FALSE_ALARMS.get(algorithm, 1.25)
    failing_subdomains, failing_pieces = (
        min(1.0, factor * 2 * _estimate_error(logs, bits, scale, length) * 2.0**length)
        for length in (subdomain, piece)
    )
    # A test takes about one round for each binary digit of the length.
    phase_1 = _ROUND_COST * (subdomain - 1)
    if algorithm == LATTICE:
        phase_1 = _BASIS_COST / members + _MEMBER_COST
    phase_2 = _START_COST + 2.0 ** (subdomain - piece) * _ROUND_COST * (piece + 1)
    phase_3 = failing_pieces * (_VALUE_COST + 32 * _START_COST / 2.0**piece)
    return (phase_1 + failing_subdomains * phase_2) / 2.0**subdomain + phase_3


def _choose_packet(logs: list[float], subdomain: int) -> int:
    """Return log2 of the number of sub-domains per thread over which a cubic is accurate enough.

    Its truncation error stays below a 64th of the sagitta.
    """
    allowed = logs[2] + 2 * subdomain - 3 - 6
    return int((allowed - logs[4]) / 4 - subdomain - 5)
