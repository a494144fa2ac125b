"""The search of blocks: Taylor models, the three phases of the Boolean test, and decisions.

`planning` decides how each block is searched. Blocks are cut into batches of super-blocks, of which
several are in flight on a GPU. `sharing` gives parts of blocks to workers.

Every threshold is the sum of the errors in the ledger of docs/packages/tmd.md, rounded outwards.
"""

from __future__ import annotations

import collections
import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from hetero import region
from hetero.devices import Device
from hetero.display.progress_bar import IGNORE, Advance
from hetero.distributed.cancellation import flag_of_caller, raise_if_stopped
from tmd._search.cases import BlockCases, decide_candidates, decide_every_argument, join_batches
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
from tmd._search.planning import Batch, Plan, Stretch
from tmd._search.taylor_models import FRACTION_BITS, Model, Models, make_model
from tmd.functions.function import Function

T = TypeVar("T")

HALF_UNIT = 1 << 62
"""Half a test unit in units of 2^-63: no distance from an integer is larger."""

SUBDOMAINS_PER_BATCH = {"cpu": 1 << 22, "cuda": 1 << 30}
"""Approximate number of sub-domains in a batch, which has at least one super-block.

A batch takes 50 ms of an H200 and some milliseconds with Python's lock, for which the threads of
four GPUs would wait if batches were smaller."""

MAX_BATCHES_IN_FLIGHT = {"cpu": 1, "cuda": 3}
"""Number of batches that are started before the first result is awaited.

On the CPU a batch is done when `start_batch` returns, so that more would only take memory.
"""

FIRST_BATCH = {"cpu": 2.0**-10, "cuda": 0.25}
"""Size of the first batch of a search as a share of the others; each is twice as large as the last.

A batch takes a minute on a slow CPU; a GPU waits for the models of its first one."""

EXHAUSTIVE_ARGUMENTS_PER_BATCH = {"cpu": 1 << 27, "cuda": 1 << 36}
"""Number of arguments in a batch whose arguments are all checked (not tuned)."""


class Loops(Protocol):
    """The three phases of a search, on the super-blocks of a batch of a planned block."""

    def start_batch(self, batch: Batch, plan: Plan) -> Any:
        """Start the search of a batch; return a ticket for `finish_batch`.

        A GPU works on it while the host goes on; a CPU has finished it.
        """

    def finish_batch(self, ticket: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Await a batch, and return its results.

        They are the numbers of sub-domains that failed phase 1 and of pieces that failed phase 2,
        of each translate, and the numbers of the candidates with the upper words of their values,
        unsorted.
        """

    def count_failing_subdomains(self, batch: Batch, plan: Plan) -> int:
        """Run phase 1 alone, for measurements; return the number of sub-domains that fail."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from tmd._search import cpu

        return cpu
    from tmd._search import cuda

    return cuda


class _StartedBatch(NamedTuple):
    stretch: Stretch
    batch: Batch | None  # None if the stretch is a block that balls have decided
    ticket: Any  # of `start_batch`, for `finish_batch`; or the cases of the block


def search_stretches(
    function: Function, stretches: Iterable[Stretch], device: Device, advance: Advance = IGNORE
) -> Iterator[BlockCases]:
    """Yield the cases of each stretch, in order; the device must be active.

    The Taylor models of later batches are computed while the device searches. After each batch,
    `advance` is called with the number of its arguments.
    """
    phases, parts = loops(device), []
    batches = _start_batches(function, stretches, device, phases)
    for stretch, batch, ticket in run_ahead(batches, MAX_BATCHES_IN_FLIGHT[device.kind]):
        plan = stretch.plan
        if batch is None:
            advance(plan.block.run.count)
            yield ticket
            continue
        with region("search"):
            result = phases.finish_batch(ticket)
        with region("decision"):
            parts.append(decide_candidates(function, plan, batch, result))
        stop = batch.first + batch.subdomain_counts.size
        end = min(plan.block.run.count, stop << plan.shape.super_block)
        advance(end - (batch.first << plan.shape.super_block))
        if stop == stretch.first + stretch.length:
            yield join_batches(parts)
            parts.clear()


def _start_batches(
    function: Function, stretches: Iterable[Stretch], device: Device, phases: Loops
) -> Iterator[_StartedBatch]:
    """Start the batches of the stretches one after the other, and yield each."""
    flag = flag_of_caller.get()
    for stretch, begin, count in _split_into_batches(stretches, device):
        plan = stretch.plan
        if flag is not None:
            raise_if_stopped()
        if plan.algorithm == "balls":
            yield _StartedBatch(stretch, None, decide_every_argument(function, plan))
            continue
        with region("Taylor models"):
            batch = make_batch(function, plan, begin, count)
        with region("search"):
            ticket = phases.start_batch(batch, plan)
        yield _StartedBatch(stretch, batch, ticket)


def run_ahead(batches: Iterable[T], count: int) -> Iterator[T]:
    """Yield started batches in order, each when `count` of them are started."""
    started: collections.deque[T] = collections.deque()
    for batch in batches:
        started.append(batch)
        if len(started) >= count:
            yield started.popleft()
    yield from started


def batch_size(plan: Plan, kind: str) -> int:
    """Return the number of super-blocks in a batch on a device of this kind."""
    shape = plan.shape
    if plan.algorithm == "exhaustive":
        return max(1, EXHAUSTIVE_ARGUMENTS_PER_BATCH[kind] >> shape.super_block)
    return max(1, SUBDOMAINS_PER_BATCH[kind] >> (shape.super_block - shape.subdomain))


def _split_into_batches(
    stretches: Iterable[Stretch], device: Device
) -> Iterator[tuple[Stretch, int, int]]:
    """Yield (stretch, first super-block, number of super-blocks) for each batch.

    The first batches are small, so that an estimate of the time of a CPU is known within seconds;
    and so are the last ones, because a GPU is idle while the candidates of the last are decided.
    """
    stretches, share = list(stretches), FIRST_BATCH[device.kind]
    for stretch in stretches:
        size, begin = batch_size(stretch.plan, device.kind), stretch.first
        end = begin + stretch.length
        smallest = max(1, int(size * FIRST_BATCH[device.kind]))
        while begin < end:
            count = min(max(1, int(size * share)), end - begin)
            if stretch is stretches[-1]:
                count = min(count, max(smallest, (end - begin) // 2))
            yield stretch, begin, count
            begin, share = begin + count, min(1.0, 2.0 * share)


def make_batch(function: Function, plan: Plan, first: int, count: int) -> Batch:
    """Compute the batch of the super-blocks first, ..., first + count - 1 of a block."""
    shape, run = plan.shape, plan.block.run
    table = np.empty((count, plan.degree + 1, 3), np.uint64)
    thresholds = np.empty((count, 6), np.uint64)
    models = Models(function, plan.block, plan.scale, shape.super_block, plan.degree)
    for group, begin, end, arrays in groups_of(models, first, count):
        if arrays is not None:
            # Large searches alone need this compiled.
            from tmd._search.formulas.shifting_formulas import shift_models

            rows = slice(begin - first, end - first)
            positions = 2 * (np.arange(begin, end) - group.first) + 1 - group.length
            settings = _model_settings(plan)
            if shift_models(arrays, positions, settings, table[rows], thresholds[rows]):
                continue
        for i in range(begin, end):
            model = make_model(models, i)
            table[i - first], thresholds[i - first] = model.words, _thresholds(plan, model)
    arguments = [
        min(1 << shape.super_block, run.count - (i << shape.super_block))
        for i in range(first, first + count)
    ]
    subdomain_counts = [-(-n >> shape.subdomain) for n in arguments]
    number = np.float64 if tests.DIVISIONS[plan.division][1] is float else np.uint64
    types = (np.uint64, number, np.uint64, number, np.uint64, np.int64)
    columns: Any = [column.astype(t) for column, t in zip(thresholds.T, types, strict=True)]
    return Batch(first, table, np.array(subdomain_counts, np.uint64), *columns)


def groups_of(
    models: Models, first: int, count: int
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
    super_blocks = -(-models.block.run.count >> models.size)
    log2_length = choose_log2_length(models)
    begin = first
    while begin < first + count:
        start = begin >> log2_length << log2_length
        group = Group(start, min(1 << log2_length, super_blocks - start))
        end = min(first + count, group.first + group.length)
        arrays = None
        if group.length >= SMALLEST_GROUP:
            arrays = expand_group(models, group)
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
        np.array(to_words(2 * plan.scale.case_distance(plan.bits)), np.uint64),
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
    twice = 2 * plan.scale.case_distance(plan.bits)
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
