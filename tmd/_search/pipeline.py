"""Search pipeline: turns planned blocks into cases, with several batches in flight at once."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from hetero import region
from hetero.devices import Device
from hetero.distributed.cancellation import raise_if_stopped
from tmd import _search
from tmd._search import Loops
from tmd._search.decisions import BlockCases, decide_candidates, decide_every_argument, join_batches
from tmd._search.planning import Batch, Plan, make_batch
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


class _StartedBatch(NamedTuple):
    plan: Plan
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
    """Yield the cases of each block, in order.

    The Taylor models of later batches are computed while the device searches. After each batch,
    `advance` is called with the number of its arguments.
    """
    loops = _search.loops(device)
    in_flight: collections.deque[_StartedBatch] = collections.deque()
    parts: list[BlockCases] = []
    with device.active():
        for plan, begin, count in _split_into_batches(plans, device):
            raise_if_stopped()
            if plan.algorithm == "balls":
                while in_flight:
                    yield from _collect_batch(function, loops, in_flight.popleft(), parts, advance)
                cases = decide_every_argument(function, plan)
                advance(plan.block.run.count)
                yield plan, cases
                continue
            with region("Taylor models"):
                batch = make_batch(function, plan, begin, count)
            with region("search"):
                ticket = loops.start_batch(batch, plan.shape, plan.algorithm, plan.division)
            in_flight.append(_StartedBatch(plan, batch, ticket))
            while len(in_flight) >= MAX_BATCHES_IN_FLIGHT[device.kind]:
                yield from _collect_batch(function, loops, in_flight.popleft(), parts, advance)
        while in_flight:
            yield from _collect_batch(function, loops, in_flight.popleft(), parts, advance)


def _split_into_batches(plans: Iterable[Plan], device: Device) -> Iterator[tuple[Plan, int, int]]:
    """Yield (plan, first super-block, number of super-blocks) for each batch.

    On the CPU the first batches are small, so that an estimate of the time is known within seconds.
    """
    share = FIRST_BATCH[device.kind]
    for plan in plans:
        shape = plan.shape
        if plan.algorithm == "exhaustive":
            size = EXHAUSTIVE_ARGUMENTS_PER_BATCH[device.kind] >> shape.super_block
        else:
            size = SUBDOMAINS_PER_BATCH[device.kind] >> (shape.super_block - shape.subdomain)
        begin = 0
        while begin < plan.super_blocks:
            count = min(max(1, int(size * share)), plan.super_blocks - begin)
            yield plan, begin, count
            begin, share = begin + count, min(1.0, 2.0 * share)


def _collect_batch(
    function: Function,
    loops: Loops,
    started: _StartedBatch,
    parts: list[BlockCases],
    advance: Callable[[float], None],
) -> Iterator[tuple[Plan, BlockCases]]:
    """Await a batch, add its cases to `parts`, and yield the block's cases if it was the last."""
    plan, batch, ticket = started
    with region("search"):
        result = loops.finish_batch(ticket)
    with region("decision"):
        parts.append(decide_candidates(function, plan, batch, result))
    begin, count = batch.first, batch.subdomain_counts.size
    end = min(plan.block.run.count, (begin + count) << plan.shape.super_block)
    advance(end - (begin << plan.shape.super_block))
    if begin + count == plan.super_blocks:
        yield plan, join_batches(parts)
        parts.clear()
