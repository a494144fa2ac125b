"""Search pipeline: turns planned blocks into cases, with several batches in flight at once."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hetero import region
from hetero.devices import Device
from hetero.distributed.cancellation import flag_of_caller, raise_if_stopped
from tmd import _search
from tmd._search import Loops
from tmd._search.batches import Batch, make_batch
from tmd._search.decisions import BlockCases, decide_candidates, decide_every_argument, join_batches
from tmd._search.planning import Plan
from tmd.functions.function import Function

SUBDOMAINS_PER_BATCH = {"cpu": 1 << 22, "cuda": 1 << 28}
"""Approximate number of sub-domains in a batch, which has at least one super-block (not tuned)."""

MAX_BATCHES_IN_FLIGHT = {"cpu": 1, "cuda": 3}
"""Number of batches that are started before the first result is awaited.

On the CPU a batch is done when `start_batch` returns, so that more would only take memory.
"""

FIRST_BATCH = {"cpu": 2.0**-10, "cuda": 1.0}
"""Size of the first batch of a search as a share of the others; each is twice as large as the last.

A batch takes a minute on a slow CPU, and 0.1 s on an H200."""

EXHAUSTIVE_ARGUMENTS_PER_BATCH = {"cpu": 1 << 27, "cuda": 1 << 36}
"""Number of arguments in a batch whose arguments are all checked (not tuned)."""


BATCHES_PER_TASK = 2, 64
"""Fewest and most batches that a worker searches between two results (not tuned).

The most are lost if a worker dies: 0.8 s of an H200, and many minutes of a core of a CPU."""


class Stretch(NamedTuple):
    """Super-blocks first, ..., first + length - 1 of a block."""

    plan: Plan
    first: int
    length: int

    @classmethod
    def whole(cls, plan: Plan) -> Stretch:
        """Return a whole block."""
        return cls(plan, 0, plan.super_blocks)


class _StartedBatch(NamedTuple):
    stretch: Stretch
    batch: Batch
    ticket: Any  # of `start_batch`, for `finish_batch`


def count_arguments(plans: Iterable[Plan]) -> int:
    """Return the number of arguments in the blocks."""
    return sum(plan.block.run.count for plan in plans)


def search_blocks(
    function: Function,
    plans: Iterable[Plan],
    device: Device,
    advance: Callable[[float], None] = lambda amount: None,
) -> Iterator[tuple[Plan, BlockCases]]:
    """Yield the cases of each block, in order; see `search_stretches`."""
    plans = list(plans)
    cases = search_stretches(function, [Stretch.whole(plan) for plan in plans], device, advance)
    yield from zip(plans, cases, strict=True)


def search_stretches(
    function: Function,
    stretches: Iterable[Stretch],
    device: Device,
    advance: Callable[[float], None] = lambda amount: None,
) -> Iterator[BlockCases]:
    """Yield the cases of each stretch, in order.

    The Taylor models of later batches are computed while the device searches. After each batch,
    `advance` is called with the number of its arguments.
    """
    loops, flag = _search.loops(device), flag_of_caller.get()
    in_flight: collections.deque[_StartedBatch] = collections.deque()
    parts: list[BlockCases] = []
    with device.active():
        for stretch, begin, count in _split_into_batches(stretches, device):
            plan = stretch.plan
            if flag is not None:
                raise_if_stopped()
            if plan.algorithm == "balls":
                cases = decide_every_argument(function, plan)  # while a GPU searches the last ones
                while in_flight:
                    yield from _collect_batch(function, loops, in_flight.popleft(), parts, advance)
                advance(plan.block.run.count)
                yield cases
                continue
            with region("Taylor models"):
                batch = make_batch(function, plan, begin, count)
            with region("search"):
                ticket = loops.start_batch(batch, plan.shape, plan.algorithm, plan.division)
            in_flight.append(_StartedBatch(stretch, batch, ticket))
            while len(in_flight) >= MAX_BATCHES_IN_FLIGHT[device.kind]:
                yield from _collect_batch(function, loops, in_flight.popleft(), parts, advance)
        while in_flight:
            yield from _collect_batch(function, loops, in_flight.popleft(), parts, advance)


def _batch_size(plan: Plan, kind: str) -> int:
    """Return the number of super-blocks in a batch on a device of this kind."""
    shape = plan.shape
    if plan.algorithm == "exhaustive":
        return max(1, EXHAUSTIVE_ARGUMENTS_PER_BATCH[kind] >> shape.super_block)
    return max(1, SUBDOMAINS_PER_BATCH[kind] >> (shape.super_block - shape.subdomain))


def share_out(
    plans: Mapping[int, Plan], kind: str, workers: int
) -> list[list[tuple[int, Stretch]]]:
    """Return tasks for workers that take one after the other: stretches, with their blocks' keys.

    The work of a task is a share of what remains, so that all workers end at nearly the same time
    whatever a block has cost.
    """
    sizes = {number: _batch_size(plan, kind) for number, plan in plans.items()}
    left = sum(-(-plan.super_blocks // sizes[number]) for number, plan in plans.items())
    tasks: list[list[tuple[int, Stretch]]] = []
    fewest, most = BATCHES_PER_TASK
    room = 0
    for number, plan in plans.items():
        begin, end = 0, plan.super_blocks
        while begin < end:
            if room < 1:
                room = max(fewest, min(most, left // (2 * workers)))
                tasks.append([])
            batches = min(room, -(-(end - begin) // sizes[number]))
            count = min(batches * sizes[number], end - begin)
            tasks[-1].append((number, Stretch(plan, begin, count)))
            begin, room, left = begin + count, room - batches, left - batches
    return tasks


def _split_into_batches(
    stretches: Iterable[Stretch], device: Device
) -> Iterator[tuple[Stretch, int, int]]:
    """Yield (stretch, first super-block, number of super-blocks) for each batch.

    On the CPU the first batches are small, so that an estimate of the time is known within seconds.
    """
    share = FIRST_BATCH[device.kind]
    for stretch in stretches:
        size, begin = _batch_size(stretch.plan, device.kind), stretch.first
        end = begin + stretch.length
        while begin < end:
            count = min(max(1, int(size * share)), end - begin)
            yield stretch, begin, count
            begin, share = begin + count, min(1.0, 2.0 * share)


def _collect_batch(
    function: Function,
    loops: Loops,
    started: _StartedBatch,
    parts: list[BlockCases],
    advance: Callable[[float], None],
) -> Iterator[BlockCases]:
    """Await a batch, add its cases to `parts`, and yield the stretch's if it was the last."""
    stretch, batch, ticket = started
    plan = stretch.plan
    with region("search"):
        result = loops.finish_batch(ticket)
    with region("decision"):
        parts.append(decide_candidates(function, plan, batch, result))
    begin, count = batch.first, batch.subdomain_counts.size
    end = min(plan.block.run.count, (begin + count) << plan.shape.super_block)
    advance(end - (begin << plan.shape.super_block))
    if begin + count == stretch.first + stretch.length:
        yield join_batches(parts)
        parts.clear()
