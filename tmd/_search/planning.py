"""Plans and batches of a search."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from tmd._search.blocks import Block
from tmd._search.formulas import boolean_test_formulas as tests
from tmd._search.formulas.line_formulas import Shape
from tmd._search.sizes import (
    EXHAUSTIVE_COST,
    LATTICE,
    MAX_PACKET,
    MAX_SUBDOMAIN,
    MIN_SUBDOMAIN,
    SPLITS,
    SPLITS_NEAR_POLES,
    choose_packet,
    choose_super_block,
    estimate_cost,
    is_valid_split,
    log2_coefficients,
    shrink_until_proven,
)
from tmd._search.taylor_models import Scale
from tmd._search.translation_groups import find_translates
from tmd.formats import format_fraction
from tmd.functions.function import Function

T = TypeVar("T")

MAX_BALL_ARGUMENTS = 1 << 20
"""Most arguments of a block that balls decide one after the other (not tuned)."""

MAX_BITS = 58
"""Largest `bits` of a search: candidates are found among values that are accurate to 2^-62."""

MAX_CASES = 1 << 27
"""Largest number of cases that a search may be expected to have, so that they fit into memory."""

ONE_BY_ONE = Shape(13, 8, 5, 0), 3
"""Placeholder for sizes and degree in the plan of a block that balls decide; nothing uses them."""


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
        """The Boolean test of phase 2, and of phase 1 if the block is searched alone."""
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
        for group in find_translates(function, blocks):
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
    logs = log2_coefficients(function, block, scale)
    degree, super_block = choose_super_block(logs, block.run.count, bits)
    super_block = shrink_until_proven(function, block, bits, scale, degree, super_block)
    if super_block < MIN_SUBDOMAIN + 5:
        return _plan_one_by_one(block, bits, scale, division)
    candidates = (
        (subdomain, split)
        for subdomain in range(MIN_SUBDOMAIN, min(MAX_SUBDOMAIN, super_block - 5) + 1)
        for split in (*SPLITS_NEAR_POLES, *SPLITS)
        if is_valid_split(subdomain, subdomain - split)
    )

    def estimate(sizes: tuple[int, int]) -> float:
        subdomain, split = sizes
        return estimate_cost(logs, bits, scale, subdomain, subdomain - split, algorithm, members)

    subdomain, split = min(candidates, key=estimate)
    cost = estimate((subdomain, split))
    super_block = min(super_block, subdomain + 30)
    if algorithm == "auto":
        algorithm = "exhaustive" if cost > EXHAUSTIVE_COST else "clipped"
    packet = choose_packet(logs, subdomain)
    packet = max(0, min(MAX_PACKET, super_block - subdomain - 5, packet))
    shape = Shape(super_block, subdomain, subdomain - split, packet)
    return Plan(block, scale, bits, shape, degree, algorithm, division)


def _plan_one_by_one(block: Block, bits: int, scale: Scale, division: str) -> Plan:
    """Plan a block by balls: its arguments, near a pole, are too far apart for a polynomial."""
    if block.run.count > MAX_BALL_ARGUMENTS:
        raise ValueError(
            f"domain: the arguments from {format_fraction(block.run.argument(0))} on are too far "
            f"apart for local polynomials, and at most {MAX_BALL_ARGUMENTS} can be checked one by "
            "one: use a smaller domain"
        )
    return Plan(block, scale, bits, *ONE_BY_ONE, "balls", division)
