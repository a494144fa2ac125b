"""Launches of the kernels of the three phases, which `_search.gpu.kernels` describes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetero.cuda import launch
from tmd._search.formulas.line_formulas import LANES, SuperBlocks
from tmd._search.gpu.buffers import Buffers
from tmd._search.gpu.kernels import THREADS, Candidates, Pieces, kernels_for, list_candidates
from tmd._search.gpu.translates import count_by_member, test_translates
from tmd._search.planning import Batch, Plan
from tmd._search.sizes import LATTICE

BLOCKS_PER_MULTIPROCESSOR = 16
"""Blocks of a launch per multiprocessor (not tuned)."""

_ZERO_COUNTERS = np.zeros(4, np.int64)


class Ticket(NamedTuple):
    """A batch that is searched, and the memory for it."""

    buffers: Buffers
    batch: Batch
    plan: Plan


def launch_phase_1(ticket: Ticket) -> tuple[Any, Any]:
    """Launch phase 1, unless the search is exhaustive.

    Returns the table and the numbers of sub-domains of the super-blocks, on the GPU.
    """
    buffers, batch, plan = ticket
    shape = plan.shape
    table = buffers.upload("table", batch.table)
    subdomain_counts = buffers.upload("subdomain_counts", batch.subdomain_counts)
    buffers.counters.copy_to_device(_ZERO_COUNTERS, stream=buffers.stream)
    if plan.algorithm != "exhaustive":
        offsets = buffers.upload("offsets", batch.offsets)
        bounds = buffers.upload("bounds", batch.bounds)
        number = batch.bounds.dtype.type
        log2_packets = shape.super_block - shape.subdomain - shape.packet - 5
        packets = (batch.subdomain_counts.size // batch.members) << log2_packets
        grid = min(_full_grid(), launch.blocks_for(packets * LANES, THREADS))
        kernel: Any = test_translates
        translates: tuple = batch.members, batch.step
        if plan.algorithm != LATTICE:
            kernel, translates = kernels_for(plan.algorithm, plan.division).test_subdomains, ()
        arguments = (
            SuperBlocks(table, subdomain_counts, offsets, bounds),
            shape,
            number(1 << shape.subdomain),
            *translates,
            np.uint64(packets),
            buffers.subdomains,
            buffers.counters,
        )
        launch.launch(kernel, grid, THREADS, buffers.stream, arguments)
    return table, subdomain_counts


def launch_phase_2(ticket: Ticket, table: Any) -> None:
    """Launch phase 2, which tests the pieces of failing sub-domains; see `launch_phase_1`."""
    buffers, batch, plan = ticket
    if plan.algorithm == "exhaustive":
        return
    number = batch.bounds.dtype.type
    arguments = (
        table,
        buffers.subdomains,
        buffers.upload("piece_offsets", batch.piece_offsets),
        buffers.upload("piece_bounds", batch.piece_bounds),
        plan.shape,
        number(1 << plan.shape.piece),
        buffers.pieces,
        buffers.counters,
    )
    kernel = kernels_for(plan.test, plan.division).test_pieces
    launch.launch(kernel, _full_grid(), THREADS, buffers.stream, arguments)


def launch_phase_3(ticket: Ticket, table: Any, subdomain_counts: Any) -> None:
    """Launch phase 3, which lists the candidates in failing pieces; see `launch_phase_1`."""
    buffers, batch, plan = ticket
    shape = plan.shape
    per_super_block = 1 << (shape.super_block - shape.piece)
    total = per_super_block * subdomain_counts.size
    listed = plan.algorithm != "exhaustive"
    arguments = (
        table,
        Pieces(buffers.pieces, listed, np.uint64(total), np.uint64(per_super_block)),
        subdomain_counts,
        buffers.upload("limits", batch.limits),
        shape,
        Candidates(buffers.counters, buffers.numbers, buffers.words),
    )
    launch.launch(list_candidates, _full_grid(), THREADS, buffers.stream, arguments)


def launch_counts(ticket: Ticket) -> Any:
    """Count the failing sub-domains and pieces of each translate; return the counts on the GPU."""
    buffers, batch, plan = ticket
    counts = buffers.upload("counts", np.zeros((2, batch.members), np.int64))
    per_member = np.uint64(batch.subdomain_counts.size // batch.members)
    sizes = plan.shape.subdomain, plan.shape.piece
    for phase, ids in enumerate((buffers.subdomains, buffers.pieces)):
        log2_ids = np.uint64(plan.shape.super_block - sizes[phase])
        arguments = ids, buffers.counters, phase, log2_ids, per_member, counts
        launch.launch(count_by_member, _full_grid(), THREADS, buffers.stream, arguments)
    return counts


def _full_grid() -> int:
    """Return the number of blocks of a launch that may use the whole GPU."""
    return BLOCKS_PER_MULTIPROCESSOR * launch.multiprocessors()
