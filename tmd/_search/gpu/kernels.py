"""The kernels of the three phases of a search.

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

from hetero.cuda.driver import cuda
from hetero.intrinsics.warp import FULL_MASK
from hetero.jit import kernel
from tmd._search.formulas import boolean_test_formulas as tests
from tmd._search.formulas import line_formulas as lines
from tmd._search.formulas.wide_integer_formulas import add

THREADS = 128
"""Threads of a block (not tuned)."""

WARPS = THREADS // 32

RESIDENT_BLOCKS = 5
"""Blocks per multiprocessor for which the registers of phases 1 and 2 have to suffice."""

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
    read = lines.fraction_as_float if number is float else lines.fraction_as_word
    return Kernels(
        *(
            kernel(function, launch_bounds=(THREADS, RESIDENT_BLOCKS))
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
            t = lines.taylor_coefficients_u32(table, block, i, log2_subdomains)
            b, b1, b2, b3, a, a1, a2 = lines.line_differences(
                t, log2_subdomains - uint64(5), size, subdomain
            )
            b = b[0] + offsets[block], b[1]
            for _ in range(1 << shape.packet):
                failed = test(read(a[0]), read(b[0]), count, bound)[0] and i < end
                votes = cuda.ballot_sync(FULL_MASK, failed)
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
                        index = cuda.shfl_sync(FULL_MASK, base, 0) + lane
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
            index = cuda.shfl_sync(FULL_MASK, base, 0) + lane
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
                t = lines.taylor_coefficients_u32(table, block, x, log2_subdomains)
                b, b1, b2, b3, a, a1, a2 = lines.line_differences(t, size - piece, size, piece)
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
                    b = lines.value_after_steps(j, b, b1, b2, b3)
                    a = lines.value_after_steps(j, a, a1, a2, _ZERO)
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
        b, b1, b2, b3 = lines.value_differences(
            lines.taylor_coefficients(table, block, x, size), size
        )
        for j in range(chunk):
            if lines.is_near_integer(b[0], limit):
                index = cuda.atomic.add(counters, 2, 1)
                if index < numbers.size:
                    numbers[index] = (block << size) + x + uint64(j)
                    words[index] = b[0]
            b, b1, b2 = add(b, b1), add(b1, b2), add(b2, b3)
