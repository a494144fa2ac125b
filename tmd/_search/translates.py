"""Blocks that are searched together because they differ by constants, as those of logarithms do.

If f(2x) = f(x) + c, the blocks of the arguments m 2^e with the same m and any e have the same
polynomials but for the constant coefficient, as long as their values have one ulp: they are
translates of each other. The lines of phase 1 then differ by constants, too, so that what takes
longest, Euclid's algorithm on their slopes, is done once for all translates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from hetero import region
from hetero.devices import Device
from hetero.display.progress_bar import IGNORE, Advance
from hetero.distributed.cancellation import flag_of_caller, raise_if_stopped
from tmd._search import (
    MAX_BATCHES_IN_FLIGHT,
    batch_size,
    loops,
    make_batch,
    run_ahead,
    search_stretches,
)
from tmd._search.cases import BlockCases, decide_candidates, join_batches
from tmd._search.planning import Batch, Plan, Stretch
from tmd._search.sizes import LATTICE
from tmd._search.taylor_models import FRACTION_BITS
from tmd._search.translation_groups import CONSTANT_BITS, CommonParts, common_parts
from tmd.functions.function import Function, working_precision

MOST_MEMBERS = {"cpu": 64, "cuda": 512}
"""Most translates of a search. Those that end together are lost if it is interrupted."""

_WORD = (1 << 64) - 1


class _StartedBatch(NamedTuple):
    group: dict[int, Plan]
    batch: Batch
    ticket: Any


def search_in_groups(
    function: Function, stretches: Mapping[int, Stretch], device: Device, advance: Advance = IGNORE
) -> Iterator[tuple[int, BlockCases]]:
    """Yield the number and the cases of each stretch, those of translates first.

    See `search_stretches`.
    """
    plans = {i: stretch.plan for i, stretch in stretches.items()}
    translates = {i: plan for i, plan in plans.items() if plan.algorithm == LATTICE}
    yield from _search_translates(function, translates, device, advance)
    others = {i: stretch for i, stretch in stretches.items() if i not in translates}
    yield from zip(
        others, search_stretches(function, others.values(), device, advance), strict=True
    )


def _search_translates(
    function: Function, plans: Mapping[int, Plan], device: Device, advance: Advance
) -> Iterator[tuple[int, BlockCases]]:
    """Yield the numbers and the cases of the blocks of all groups, group by group."""
    phases, parts = loops(device), dict[int, list[BlockCases]]()
    started = _start_batches(function, plans, device)
    for group, batch, ticket in run_ahead(started, MAX_BATCHES_IN_FLIGHT[device.kind]):
        with region("search"):
            result = phases.finish_batch(ticket)
        first = next(iter(group.values()))
        size = first.shape.super_block
        with region("decision"):
            shares = _split_by_member(batch, size, result)
            for (i, plan), (share, found) in zip(group.items(), shares, strict=True):
                parts.setdefault(i, []).append(decide_candidates(function, plan, share, found))
        stop = batch.first + batch.subdomain_counts.size // batch.members
        end = min(first.block.run.count, stop << size)
        advance(len(group) * (end - (batch.first << size)))
        if stop == first.super_blocks:
            yield from ((i, join_batches(part)) for i, part in parts.items())
            parts.clear()


def _start_batches(
    function: Function, plans: Mapping[int, Plan], device: Device
) -> Iterator[_StartedBatch]:
    """Start the batches of all groups one after the other, and yield each."""
    flag = flag_of_caller.get()
    for group in _group_translates(plans, MOST_MEMBERS[device.kind]):
        first = next(iter(group.values()))
        size = batch_size(first, device.kind)
        for begin in range(0, first.super_blocks, size):
            if flag is not None:
                raise_if_stopped()
            with region("Taylor models"):
                base = make_batch(function, first, begin, min(size, first.super_blocks - begin))
                batch = _translate(function, base, first, len(group))
            with region("search"):
                ticket = loops(device).start_batch(batch, first)
            yield _StartedBatch(group, batch, ticket)


def _group_translates(plans: Mapping[int, Plan], most: int) -> Iterator[dict[int, Plan]]:
    """Yield groups of at most so many translates with successive exponents, the smallest first."""
    alike: dict[CommonParts, list[int]] = {}
    for i, plan in plans.items():
        alike.setdefault(common_parts(plan.block), []).append(i)
    for numbers in alike.values():
        numbers.sort(key=lambda i: plans[i].block.run.quantum)
        begin = 0
        for end in range(1, len(numbers) + 1):
            quanta = [plans[i].block.run.quantum for i in numbers[end - 1 : end + 1]]
            if end - begin == most or quanta[1:] != [quanta[0] + 1]:
                yield {i: plans[i] for i in numbers[begin:end]}
                begin = end


def _translate(function: Function, base: Batch, plan: Plan, members: int) -> Batch:
    """Return the batch of the first of some translates with the super-blocks of all of them."""
    words = _constants(function, plan, members)
    table = np.tile(base.table, (members, 1, 1))
    table[:, 0] = _add_words(table[:, 0], np.repeat(words, base.subdomain_counts.size, axis=0))
    step = int(words[1, 1]) if members > 1 else 0

    def widen(column: np.ndarray, units: int) -> np.ndarray:
        """Return thresholds for all members, wider because their constants are rounded."""
        return np.tile(column + column.dtype.type(units), members)

    return Batch(
        base.first,
        table,
        np.tile(base.subdomain_counts, members),
        widen(base.offsets, 2),
        widen(base.bounds, 2),
        widen(base.piece_offsets, 2),
        widen(base.piece_bounds, 2),
        widen(base.limits, 2),
        widen(base.errors, 2),
        members,
        np.uint64(step),
    )


def _constants(function: Function, plan: Plan, members: int) -> np.ndarray:
    """Return what is added to the constant coefficient of each member, as in `Model.words`.

    They are rounded down: by less than two units of 2^-128 test units.
    """
    assert function.doubling is not None
    words = np.empty((members, 3), np.uint64)
    with working_precision(CONSTANT_BITS):
        doubling = -function.doubling() if plan.block.negative else function.doubling()
        for k in range(members):
            mantissa, power = (k * doubling).mid().man_exp()
            shift = int(power) + int(plan.scale.doubled) - plan.block.ulp + FRACTION_BITS
            value = int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift
            words[k] = [value >> 64 * i & _WORD for i in (2, 1, 0)]
    return words


def _add_words(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return sums modulo 2^192; the last axis has three words, the highest first."""
    total = a + b
    carry = total[:, 2] < b[:, 2]
    middle = total[:, 1] + carry
    total[:, 0] += (total[:, 1] < b[:, 1]) | (middle < total[:, 1])
    total[:, 1] = middle
    return total


def _split_by_member(batch: Batch, size: int, result: tuple) -> Iterator[tuple[Batch, tuple]]:
    """Yield the batch and the result of each member; super-blocks have 2^size arguments."""
    survivors, pieces, numbers, words = result
    order = np.argsort(numbers)
    numbers, words = numbers[order], words[order]
    each = batch.subdomain_counts.size // batch.members
    starts = np.arange(batch.members + 1, dtype=np.uint64) * np.uint64(each << size)
    ends = np.searchsorted(numbers, starts)
    counts, errors = batch.subdomain_counts[:each], batch.errors[:each]
    share = batch._replace(subdomain_counts=counts, errors=errors, members=1)
    for k in range(batch.members):
        own = slice(ends[k], ends[k + 1])
        part = slice(k, k + 1)
        yield share, (survivors[part], pieces[part], numbers[own] - starts[k], words[own])
