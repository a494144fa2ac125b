"""Search of batches on a GPU: three kernels, launched back to back without host synchronization.

`_search.cuda_kernels` describes the kernels and their arguments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetero.cuda import launch
from tmd._search.cuda_buffers import Buffers, enlarge_capacity, return_buffers, take_buffers
from tmd._search.cuda_kernels import THREADS, Candidates, Pieces, kernels_for, list_candidates
from tmd._search.line_formulas import LANES, Shape, SuperBlocks
from tmd._search.planning import Batch

BLOCKS_PER_MULTIPROCESSOR = 16
"""Blocks of a launch per multiprocessor (not tuned)."""

_ZERO_COUNTERS = np.zeros(4, np.int64)


class Ticket(NamedTuple):
    """A batch that is searched, and the memory for it."""

    buffers: Buffers
    batch: Batch
    shape: Shape
    algorithm: str
    division: str


def start_batch(batch: Batch, shape: Shape, algorithm: str, division: str) -> Ticket:
    """Start to search the super-blocks of a batch; `finish_batch` returns the candidates."""
    ticket = Ticket(take_buffers(), batch, shape, algorithm, division)
    table, subdomain_counts = launch_phase_1(ticket)
    launch_phase_2(ticket, table)
    launch_phase_3(ticket, table, subdomain_counts)
    buffers = ticket.buffers
    buffers.counters.copy_to_host(buffers.host_counters, stream=buffers.stream)
    return ticket


def launch_phase_1(ticket: Ticket) -> tuple[Any, Any]:
    """Launch phase 1, unless the search is exhaustive.

    Returns the table and the numbers of sub-domains of the super-blocks, on the GPU.
    """
    buffers, batch, shape, algorithm, division = ticket
    table = buffers.upload("table", batch.table)
    subdomain_counts = buffers.upload("subdomain_counts", batch.subdomain_counts)
    buffers.counters.copy_to_device(_ZERO_COUNTERS, stream=buffers.stream)
    if algorithm != "exhaustive":
        offsets = buffers.upload("offsets", batch.offsets)
        bounds = buffers.upload("bounds", batch.bounds)
        number = np.float64 if batch.bounds.dtype == np.float64 else np.uint64
        log2_packets = shape.super_block - shape.subdomain - shape.packet - 5
        packets = batch.subdomain_counts.size << log2_packets
        grid = min(_full_grid(), launch.blocks_for(packets * LANES, THREADS))
        kernels_for(algorithm, division).test_subdomains[grid, THREADS, buffers.stream](
            SuperBlocks(table, subdomain_counts, offsets, bounds),
            shape,
            number(1 << shape.subdomain),
            np.uint64(packets),
            buffers.subdomains,
            buffers.counters,
        )
    return table, subdomain_counts


def launch_phase_2(ticket: Ticket, table: Any) -> None:
    """Launch phase 2, which tests the pieces of failing sub-domains; see `launch_phase_1`."""
    buffers, batch, shape, algorithm, division = ticket
    if algorithm == "exhaustive":
        return
    number = np.float64 if batch.bounds.dtype == np.float64 else np.uint64
    kernels_for(algorithm, division).test_pieces[_full_grid(), THREADS, buffers.stream](
        table,
        buffers.subdomains,
        buffers.upload("piece_offsets", batch.piece_offsets),
        buffers.upload("piece_bounds", batch.piece_bounds),
        shape,
        number(1 << shape.piece),
        buffers.pieces,
        buffers.counters,
    )


def launch_phase_3(ticket: Ticket, table: Any, subdomain_counts: Any) -> None:
    """Launch phase 3, which lists the candidates in failing pieces; see `launch_phase_1`."""
    buffers, batch, shape, algorithm, _ = ticket
    per_super_block = 1 << (shape.super_block - shape.piece)
    total = per_super_block * subdomain_counts.size
    listed = algorithm != "exhaustive"
    list_candidates[_full_grid(), THREADS, buffers.stream](
        table,
        Pieces(buffers.pieces, listed, np.uint64(total), np.uint64(per_super_block)),
        subdomain_counts,
        buffers.upload("limits", batch.limits),
        shape,
        Candidates(buffers.counters, buffers.numbers, buffers.words),
    )


def _full_grid() -> int:
    """Return the number of blocks of a launch that may use the whole GPU."""
    return BLOCKS_PER_MULTIPROCESSOR * launch.multiprocessors()


def count_failing_subdomains(batch: Batch, shape: Shape, algorithm: str, division: str) -> int:
    """Run phase 1 alone, for measurements; return the number of sub-domains that fail."""
    buffers = take_buffers()
    launch_phase_1(Ticket(buffers, batch, shape, algorithm, division))
    buffers.counters.copy_to_host(buffers.host_counters, stream=buffers.stream)
    buffers.stream.synchronize()
    return_buffers(buffers)
    return int(buffers.host_counters[0])


def finish_batch(ticket: Ticket) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Await a batch and return its results, as `_search.cpu.finish_batch` does.

    A batch that exceeded its buffers is searched again with larger ones.
    """
    buffers, batch, shape, algorithm, division = ticket
    buffers.stream.synchronize()
    counts = [int(n) for n in buffers.host_counters[:3]]
    if any(n > capacity for n, capacity in zip(counts, buffers.capacity, strict=True)):
        enlarge_capacity(counts)
        return finish_batch(start_batch(batch, shape, algorithm, division))
    n = counts[2]
    numbers, words = np.empty(n, np.uint64), np.empty(n, np.uint64)
    if n:
        buffers.numbers[:n].copy_to_host(numbers, stream=buffers.stream)
        buffers.words[:n].copy_to_host(words, stream=buffers.stream)
        buffers.stream.synchronize()
    return_buffers(buffers)
    pieces = counts[1]
    if algorithm == "exhaustive":
        split = shape.subdomain - shape.piece
        pieces = sum(int(n) << split for n in batch.subdomain_counts)
    return counts[0], pieces, numbers, words
