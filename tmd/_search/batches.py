"""Batches of super-blocks: their coefficients, and the thresholds of the phases of a search.

Every threshold is the sum of the errors in the ledger of docs/packages/tmd.md, rounded outwards.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tmd._search.blocks import Block
from tmd._search.formulas import boolean_test_formulas as tests
from tmd._search.formulas.line_formulas import Shape
from tmd._search.model_groups import (
    EXACT_TERMS,
    SMALLEST_GROUP,
    Group,
    GroupArrays,
    ModelSettings,
    choose_log2_length,
    expand_group,
    to_words,
)
from tmd._search.planning import Plan
from tmd._search.taylor_models import FRACTION_BITS, Model, Scale, make_model
from tmd.functions.function import Function

HALF_UNIT = 1 << 62
"""Half a test unit in units of 2^-63: no distance from an integer is larger."""


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


def make_batch(function: Function, plan: Plan, first: int, count: int) -> Batch:
    """Compute the batch of the super-blocks first, ..., first + count - 1 of a block."""
    shape, run = plan.shape, plan.block.run
    table = np.empty((count, plan.degree + 1, 3), np.uint64)
    thresholds = np.empty((count, 6), np.uint64)
    groups = groups_of(
        function, plan.block, shape.super_block, plan.degree, plan.scale, first, count
    )
    for group, begin, end, arrays in groups:
        if arrays is not None:
            # Large searches alone need this compiled.
            from tmd._search.formulas.shifting_formulas import shift_models

            rows = slice(begin - first, end - first)
            positions = 2 * (np.arange(begin, end) - group.first) + 1 - group.length
            settings = _model_settings(plan)
            if shift_models(arrays, positions, settings, table[rows], thresholds[rows]):
                continue
        for i in range(begin, end):
            model = make_model(function, plan.block, i, shape.super_block, plan.degree, plan.scale)
            table[i - first], thresholds[i - first] = model.words, _thresholds(plan, model)
    arguments = [
        min(1 << shape.super_block, run.count - (i << shape.super_block))
        for i in range(first, first + count)
    ]
    subdomain_counts = [-(-n >> shape.subdomain) for n in arguments]
    number = np.float64 if tests.DIVISIONS[plan.division][1] is float else np.uint64
    types = (np.uint64, number, np.uint64, number, np.uint64, np.int64)
    columns = [column.astype(t) for column, t in zip(thresholds.T, types, strict=True)]
    return Batch(first, table, np.array(subdomain_counts, np.uint64), *columns)


def groups_of(
    function: Function, block: Block, size: int, degree: int, scale: Scale, first: int, count: int
) -> Iterator[tuple[Group, int, int, GroupArrays | None]]:
    """Yield the groups that super-blocks first, ..., first + count - 1 of a block belong to.

    Yields
    ------
    group : Group
    begin, end : int
        Numbers of the super-blocks that are wanted of the group.
    arrays : GroupArrays or None
        Its expansion; None where each super-block needs its own.
    """
    super_blocks = -(-block.run.count >> size)
    log2_length = choose_log2_length(function, block, size, degree, scale)
    begin = first
    while begin < first + count:
        start = begin >> log2_length << log2_length
        group = Group(start, min(1 << log2_length, super_blocks - start))
        end = min(first + count, group.first + group.length)
        arrays = None
        if group.length >= SMALLEST_GROUP:
            arrays = expand_group(function, block, size, degree, scale, group)
        yield group, begin, end, arrays
        begin = end


@functools.lru_cache(maxsize=64)
def _model_settings(plan: Plan) -> ModelSettings:
    """Return what compiled code needs to know of a plan for models and thresholds."""
    shape, degree = plan.shape, plan.degree
    binomials = [[math.comb(k, j) for k in range(degree + 1)] for j in (1, 2, 3)]
    others = [2**k - 1 - sum(row[k] for row in binomials) for k in range(degree + 1)]
    shifts = []
    for length, span in _lines(shape):
        inner = shape.super_block - length
        shifts += [2 * inner + 3, 3 * inner, 4 * (shape.super_block - span)]
    shifts += [4 * (shape.super_block - shape.piece + 5), _unit_bits(plan)]
    return ModelSettings(
        degree,
        plan.scale.half,
        np.array([*binomials, others], np.uint64),
        np.array([math.comb(degree + 1 + n, n) for n in range(EXACT_TERMS)], np.uint64),
        np.array(shifts, np.uint64),
        np.array([1 << length for length, _ in _lines(shape)], np.uint64),
        np.array(to_words(2 * plan.case_distance), np.uint64),
    )


def _unit_bits(plan: Plan) -> int:
    """Return the bits after the point of the numbers of a plan's Boolean test."""
    return tests.UNIT_BITS[tests.DIVISIONS[plan.division][1]]


def _lines(shape: Shape) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return log2 of the lengths of the lines of phases 1 and 2, and of the cubics they are on."""
    spans = shape.subdomain + shape.packet + 5, shape.subdomain
    return (shape.subdomain, spans[0]), (shape.piece, spans[1])


def _thresholds(plan: Plan, model: Model) -> Sequence[int]:
    """Return offset and bound of phases 1 and 2, limit and error of phase 3, as in `Batch`."""
    shape = plan.shape
    unit = _unit_bits(plan)
    twice = 2 * plan.case_distance
    thresholds = []
    for length, span in _lines(shape):
        error = twice + model.error + chord_error(model, shape.super_block, length)
        error += truncation_error(model, shape.super_block, span)
        # One more unit because b is rounded down. So is a, which counts once per argument.
        offset = -(-(error + (1 << (FRACTION_BITS - unit))) >> (FRACTION_BITS - 63))
        bound = (2 * offset >> (63 - unit)) + (1 << length) + 3
        thresholds += [min(offset, HALF_UNIT), min(bound, (1 << unit) - 1)]
    error = model.error + truncation_error(model, shape.super_block, shape.piece - 5)
    error = (error >> (FRACTION_BITS - 63)) + 3
    # From half a unit on every argument is a candidate, and balls decide them all.
    limit = min((twice >> (FRACTION_BITS - 63)) + error, HALF_UNIT)
    return (*thresholds, limit, min(error, HALF_UNIT))


def chord_error(model: Model, size: int, length: int) -> int:
    """Bound on the distance between the line and the cubic over 2^length arguments.

    It is c2 N^2/8 + |c3| N^3; the super-block has 2^size arguments.
    """
    second, third, _ = model.bounds
    inner = size - length
    return (second >> (2 * inner + 3)) + (third >> (3 * inner)) + 2


def truncation_error(model: Model, size: int, span: int) -> int:
    """Bound on the distance between the cubic and the polynomial over 2^span arguments.

    The super-block has 2^size arguments.
    """
    return (model.bounds[2] >> (4 * (size - span))) + 1
