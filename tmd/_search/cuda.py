"""Three kernels, one per phase, launched back to back without host synchronization.

A warp processes packets: its lanes test neighbouring sub-domains side by side, whose similar slopes
keep the control flow together. A warp collects the numbers of failing sub-domains and stores 32 of
them after one atomic addition.

Arguments of the kernels are those of the loops in `_search.cpu`, with these differences: results of
all warps go into one array, in any order; `counters` (int64) counts failing sub-domains [0],
failing pieces [1] and candidates [2]. What exceeds an array is counted but not stored.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import uint64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from tmd._search import boolean_test_formulas as tests
from tmd._search.line_formulas import (
    LANES,
    Shape,
    SuperBlocks,
    fraction_as_float,
    fraction_as_word,
    is_near_integer,
    line_differences,
    taylor_coefficients,
    taylor_coefficients_u32,
    value_after_steps,
    value_differences,
)
from tmd._search.planning import Batch
from tmd._search.wide_integer_formulas import add

THREADS = 128
"""Threads of a block (not tuned)."""

WARPS = THREADS // 32

RESIDENT_BLOCKS = 5
"""Blocks per multiprocessor for which the registers of phases 1 and 2 have to suffice."""

BLOCKS_PER_MULTIPROCESSOR = 16
"""Blocks of a launch per multiprocessor (not tuned)."""

_FULL_MASK = 0xFFFFFFFF
_ZERO = (np.uint64(0), np.uint64(0))


class Kernels(NamedTuple):
    """The kernels of phases 1 and 2 for one Boolean test."""

    test_subdomains: Any
    test_pieces: Any


@functools.cache
def kernels_for(algorithm: str, division: str) -> Kernels:
    """Return the kernels for the test of `algorithm` with quotients by `division`."""
    number = tests.DIVISIONS[division][1]
    test = tests.compile_test(algorithm, division)
    read = fraction_as_float if number is float else fraction_as_word
    return Kernels(
        *(
            kernel(function, cache=False, launch_bounds=(THREADS, RESIDENT_BLOCKS))
            for function in (_make_test_subdomains(test, read), _make_test_pieces(test, read))
        )
    )


def _make_test_subdomains(test: Callable, read: Callable) -> Callable:
    """Make the kernel of phase 1, to be compiled."""

    def test_subdomains(super_blocks, shape, count, packets, failing, counters):
        """Test the sub-domains of `packets` packets; store the numbers of the failing ones."""
        table, subdomain_counts, offsets, bounds = super_blocks
        queue = cuda.shared.array((WARPS, 64), uint64)
        warp_in_block = cuda.threadIdx.x >> 5
        size, subdomain = uint64(shape.super_block), uint64(shape.subdomain)
        log2_subdomains = size - subdomain
        lane = uint64(cuda.threadIdx.x & 31)
        lower_lanes = (uint64(1) << lane) - uint64(1)
        warp = uint64((cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) >> 5)
        warps = uint64((cuda.gridDim.x * cuda.blockDim.x) >> 5)
        log2_packet = uint64(shape.packet + 5)
        queued = 0
        for packet in range(warp, packets, warps):
            block = packet >> (log2_subdomains - log2_packet)
            i = (packet << log2_packet) & ((uint64(1) << log2_subdomains) - uint64(1))
            end = subdomain_counts[block]
            if i >= end:
                continue
            bound = bounds[block]
            i += lane
            t = taylor_coefficients_u32(table, block, i, log2_subdomains)
            b, b1, b2, b3, a, a1, a2 = line_differences(
                t, log2_subdomains - uint64(5), size, subdomain
            )
            b = b[0] + offsets[block], b[1]
            for _ in range(1 << shape.packet):
                failed = test(read(a[0]), read(b[0]), count, bound)[0] and i < end
                votes = cuda.ballot_sync(_FULL_MASK, failed)
                if votes:
                    # The warp collects 32 numbers before it stores them: that takes few atomic
                    # additions, and no warp waits for another.
                    if failed:
                        number = (block << log2_subdomains) + i
                        slot = queued + cuda.popc(uint64(votes) & lower_lanes)
                        queue[warp_in_block, slot] = number
                    queued += cuda.popc(votes)
                    cuda.syncwarp()
                    if queued >= 32:
                        base = 0
                        if lane == 0:
                            base = cuda.atomic.add(counters, 0, 32)
                        index = cuda.shfl_sync(_FULL_MASK, base, 0) + lane
                        if index < failing.size:
                            failing[index] = queue[warp_in_block, lane]
                        queued -= 32
                        remaining = queue[warp_in_block, lane + uint64(32)]
                        cuda.syncwarp()
                        queue[warp_in_block, lane] = remaining
                        cuda.syncwarp()
                i += uint64(32)
                b, b1, b2 = add(b, b1), add(b1, b2), add(b2, b3)
                a, a1 = add(a, a1), add(a1, a2)
        if queued > 0:
            base = 0
            if lane == 0:
                base = cuda.atomic.add(counters, 0, queued)
            index = cuda.shfl_sync(_FULL_MASK, base, 0) + lane
            if lane < queued and index < failing.size:
                failing[index] = queue[warp_in_block, lane]

    return test_subdomains


def _make_test_pieces(test: Callable, read: Callable) -> Callable:
    """Make the kernel of phase 2, to be compiled."""

    def test_pieces(table, ids, offsets, bounds, shape, count, failing, counters):
        """Test the pieces of the counters[0] sub-domains in `ids`; store the failing ones.

        A warp takes 32 sub-domains. First each lane computes the line of one sub-domain's first
        piece; then the lanes test the pieces of a few sub-domains side by side, whose similar
        slopes keep the control flow together.
        """
        first_lines = cuda.shared.array((WARPS, 14, 32), uint64)
        size, piece = uint64(shape.super_block), uint64(shape.piece)
        log2_subdomains = size - uint64(shape.subdomain)
        split = uint64(shape.subdomain - shape.piece)
        lane = uint64(cuda.threadIdx.x & 31)
        w = cuda.threadIdx.x >> 5  # the warp's number in its block
        warp = uint64((cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) >> 5)
        warps = uint64((cuda.gridDim.x * cuda.blockDim.x) >> 5)
        n = uint64(min(counters[0], ids.size))
        j = lane & ((uint64(1) << split) - uint64(1))
        for begin in range(warp * uint64(32), n, warps * uint64(32)):
            i = begin + lane
            if i < n:
                block = ids[i] >> log2_subdomains
                x = ids[i] & ((uint64(1) << log2_subdomains) - uint64(1))
                t = taylor_coefficients_u32(table, block, x, log2_subdomains)
                b, b1, b2, b3, a, a1, a2 = line_differences(t, size - piece, size, piece)
                b = b[0] + offsets[block], b[1]
                first_lines[w, 0, lane], first_lines[w, 1, lane] = b
                first_lines[w, 2, lane], first_lines[w, 3, lane] = b1
                first_lines[w, 4, lane], first_lines[w, 5, lane] = b2
                first_lines[w, 6, lane], first_lines[w, 7, lane] = b3
                first_lines[w, 8, lane], first_lines[w, 9, lane] = a
                first_lines[w, 10, lane], first_lines[w, 11, lane] = a1
                first_lines[w, 12, lane], first_lines[w, 13, lane] = a2
            cuda.syncwarp()
            subdomains = min(uint64(32), n - begin)
            for first in range(uint64(0), subdomains, uint64(32) >> split):
                s = first + (lane >> split)
                if s < subdomains:
                    b = first_lines[w, 0, s], first_lines[w, 1, s]
                    b1 = first_lines[w, 2, s], first_lines[w, 3, s]
                    b2 = first_lines[w, 4, s], first_lines[w, 5, s]
                    b3 = first_lines[w, 6, s], first_lines[w, 7, s]
                    a = first_lines[w, 8, s], first_lines[w, 9, s]
                    a1 = first_lines[w, 10, s], first_lines[w, 11, s]
                    a2 = first_lines[w, 12, s], first_lines[w, 13, s]
                    b = value_after_steps(j, b, b1, b2, b3)
                    a = value_after_steps(j, a, a1, a2, _ZERO)
                    number = ids[begin + s]
                    bound = bounds[number >> log2_subdomains]
                    if test(read(a[0]), read(b[0]), count, bound)[0]:
                        index = cuda.atomic.add(counters, 1, 1)
                        if index < failing.size:
                            failing[index] = (number << split) + j
            cuda.syncwarp()

    return test_pieces


class Pieces(NamedTuple):
    """The pieces that phase 3 examines.

    Attributes
    ----------
    ids : uint64
        Their numbers; as many are valid as counters[1] says.
    listed : bool
        Whether to examine those in `ids`; else all pieces, for an exhaustive search.
    total, per_super_block : uint64
        Number of all pieces, and of those of a super-block.
    """

    ids: Any
    listed: Any
    total: Any
    per_super_block: Any


class Candidates(NamedTuple):
    """Output arrays of phase 3, for counters[2] candidates.

    Attributes
    ----------
    counters : int64 (4,)
    numbers, words : uint64
        Numbers of the arguments, and the upper words of their values.
    """

    counters: Any
    numbers: Any
    words: Any


@kernel
def list_candidates(table, pieces, subdomain_counts, limits, shape, candidates):
    """Find the candidates of pieces (phase 3). A warp examines a piece, in 32 parts."""
    ids, listed, total, per_super_block = pieces
    counters, numbers, words = candidates
    size, piece = uint64(shape.super_block), uint64(shape.piece)
    log2_pieces = size - piece
    chunk = uint64(1) << (piece - uint64(5))
    lane = uint64(cuda.threadIdx.x & 31)
    warp = uint64((cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) >> 5)
    warps = uint64((cuda.gridDim.x * cuda.blockDim.x) >> 5)
    split = uint64(shape.subdomain - shape.piece)
    n = uint64(min(counters[1], ids.size)) if listed else uint64(total)
    for i in range(warp, n, warps):
        if listed:
            block, p = ids[i] >> log2_pieces, ids[i] & ((uint64(1) << log2_pieces) - uint64(1))
        else:
            block, p = i // uint64(per_super_block), i % uint64(per_super_block)
        if (p >> split) >= subdomain_counts[block]:
            continue
        limit = limits[block]
        x = (p << piece) + lane * chunk
        b, b1, b2, b3 = value_differences(taylor_coefficients(table, block, x, size), size)
        for j in range(chunk):
            if is_near_integer(b[0], limit):
                index = cuda.atomic.add(counters, 2, 1)
                if index < numbers.size:
                    numbers[index] = (block << size) + x + uint64(j)
                    words[index] = b[0]
            b, b1, b2 = add(b, b1), add(b1, b2), add(b2, b3)


class _Buffers:
    """GPU memory for one batch.

    Buffers are reused and never freed, because freeing memory synchronizes the GPU.
    """

    def __init__(self, subdomains: int, pieces: int, candidates: int):
        self.capacity = [subdomains, pieces, candidates]
        self.subdomains = cuda.device_array(subdomains, np.uint64)
        self.pieces = cuda.device_array(pieces, np.uint64)
        self.numbers = cuda.device_array(candidates, np.uint64)
        self.words = cuda.device_array(candidates, np.uint64)
        self.counters = cuda.device_array(4, np.int64)
        self.host_counters = cuda.pinned_array(4, np.int64)
        self.stream = cuda.stream()
        self._inputs: dict = {}

    def upload(self, name: str, array: np.ndarray):
        """Copy `array` into the buffer for its name, shape and type, and return the buffer."""
        key = name, array.shape, array.dtype
        if key not in self._inputs:
            self._inputs[key] = cuda.device_array(array.shape, array.dtype)
        self._inputs[key].copy_to_device(array, stream=self.stream)
        return self._inputs[key]


_free_buffers: dict[int, list[_Buffers]] = {}
"""Buffers that no batch uses, by the number of the GPU."""

_capacity = [1 << 24, 1 << 22, 1 << 20]
"""Failing sub-domains, failing pieces and candidates that new buffers can hold.

It grows when a batch has more.
"""

_ZERO_COUNTERS = np.zeros(4, np.int64)


def _take_buffers() -> _Buffers:
    """Return free buffers of the present capacity, or new ones."""
    free = _free_buffers.setdefault(launch.device_id(), [])
    while free:
        buffers = free.pop()
        if buffers.capacity == _capacity:
            return buffers
    return _Buffers(*_capacity)


class _Ticket(NamedTuple):
    buffers: _Buffers
    batch: Batch
    shape: Shape
    algorithm: str
    division: str


def start_batch(batch: Batch, shape: Shape, algorithm: str, division: str) -> _Ticket:
    """Start to search the super-blocks of a batch; `finish_batch` returns the candidates."""
    ticket = _Ticket(_take_buffers(), batch, shape, algorithm, division)
    table, subdomain_counts = _launch_phase_1(ticket)
    buffers = ticket.buffers
    listed = algorithm != "exhaustive"
    grid = BLOCKS_PER_MULTIPROCESSOR * launch.multiprocessors()
    if listed:
        number = np.float64 if batch.bounds.dtype == np.float64 else np.uint64
        kernels_for(algorithm, division).test_pieces[grid, THREADS, buffers.stream](
            table,
            buffers.subdomains,
            buffers.upload("piece_offsets", batch.piece_offsets),
            buffers.upload("piece_bounds", batch.piece_bounds),
            shape,
            number(1 << shape.piece),
            buffers.pieces,
            buffers.counters,
        )
    per_super_block = 1 << (shape.super_block - shape.piece)
    total = per_super_block * subdomain_counts.size
    list_candidates[grid, THREADS, buffers.stream](
        table,
        Pieces(buffers.pieces, listed, np.uint64(total), np.uint64(per_super_block)),
        subdomain_counts,
        buffers.upload("limits", batch.limits),
        shape,
        Candidates(buffers.counters, buffers.numbers, buffers.words),
    )
    buffers.counters.copy_to_host(buffers.host_counters, stream=buffers.stream)
    return ticket


def _launch_phase_1(ticket: _Ticket) -> tuple:
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
        grid = min(
            BLOCKS_PER_MULTIPROCESSOR * launch.multiprocessors(),
            launch.blocks_for(packets * LANES, THREADS),
        )
        kernels_for(algorithm, division).test_subdomains[grid, THREADS, buffers.stream](
            SuperBlocks(table, subdomain_counts, offsets, bounds),
            shape,
            number(1 << shape.subdomain),
            np.uint64(packets),
            buffers.subdomains,
            buffers.counters,
        )
    return table, subdomain_counts


def count_failing_subdomains(batch: Batch, shape: Shape, algorithm: str, division: str) -> int:
    """Run phase 1 alone, for measurements; return the number of sub-domains that fail."""
    buffers = _take_buffers()
    _launch_phase_1(_Ticket(buffers, batch, shape, algorithm, division))
    buffers.counters.copy_to_host(buffers.host_counters, stream=buffers.stream)
    buffers.stream.synchronize()
    _free_buffers[launch.device_id()].append(buffers)
    return int(buffers.host_counters[0])


def finish_batch(ticket: _Ticket) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Await a batch and return its results, as `_search.cpu.finish_batch` does.

    A batch that exceeded its buffers is searched again with larger ones.
    """
    buffers, batch, shape, algorithm, division = ticket
    buffers.stream.synchronize()
    counts = [int(n) for n in buffers.host_counters[:3]]
    if any(n > capacity for n, capacity in zip(counts, buffers.capacity, strict=True)):
        for i, n in enumerate(counts):
            while _capacity[i] < n:
                _capacity[i] *= 2
        return finish_batch(start_batch(batch, shape, algorithm, division))
    n = counts[2]
    numbers, words = np.empty(n, np.uint64), np.empty(n, np.uint64)
    if n:
        buffers.numbers[:n].copy_to_host(numbers, stream=buffers.stream)
        buffers.words[:n].copy_to_host(words, stream=buffers.stream)
        buffers.stream.synchronize()
    _free_buffers[launch.device_id()].append(buffers)
    pieces = counts[1]
    if algorithm == "exhaustive":
        split = shape.subdomain - shape.piece
        pieces = sum(int(n) << split for n in batch.subdomain_counts)
    return counts[0], pieces, numbers, words
