"""The three phases as three kernels, one after the other without a word from the host.

A warp takes a packet: its lanes sub-domains side by side, so that neighbouring slopes keep the
control flow together. What fails is written by a prefix sum in the warp and one atomic addition.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace

import numpy as np
from numba import uint64

from hetero import launch
from hetero._driver import cuda
from hetero.jit import define, kernel
from tmd import _tests_math as tests
from tmd._scan_math import (
    LANES,
    after,
    as_float,
    as_word,
    lines,
    near,
    short_taylor,
    taylor,
    values,
)
from tmd._wide_math import plus

THREADS = 128
WARPS = THREADS // 32
RESIDENT = 5  # blocks of a multiprocessor that the registers of phase 1 have to suffice for
_FULL = 0xFFFFFFFF
NONE = (np.uint64(0), np.uint64(0))


@functools.cache
def _kernels(algorithm: str, division: str) -> SimpleNamespace:
    number = tests.DIVISIONS[division][1]
    names = {
        "cuda": cuda,
        "uint64": uint64,
        "lines": lines,
        "plus": plus,
        "after": after,
        "short_taylor": short_taylor,
        "WARPS": WARPS,
        "NONE": NONE,
        "_FULL": _FULL,
        "test": tests.made(algorithm, division),
        "read": as_float if number is float else as_word,
    }
    return SimpleNamespace(
        first=kernel(
            define("first", _FIRST, names), cache=False, launch_bounds=(THREADS, RESIDENT)
        ),
        second=kernel(
            define("second", _SECOND, names), cache=False, launch_bounds=(THREADS, RESIDENT)
        ),
    )


_FIRST = '''
def first(table, used, offsets, bounds, shape, count, packets, found, counters):
    """Phase 1: numbers of the failing sub-domains into found, how many into counters[0]."""
    waiting = cuda.shared.array((WARPS, 64), uint64)
    mine = cuda.threadIdx.x >> 5
    size, domain = uint64(shape.size), uint64(shape.domain)
    pieces = size - domain
    lane = uint64(cuda.threadIdx.x & 31)
    below = (uint64(1) << lane) - uint64(1)
    warp = uint64((cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) >> 5)
    warps = uint64((cuda.gridDim.x * cuda.blockDim.x) >> 5)
    long = uint64(shape.packet + 5)
    held = 0
    for packet in range(warp, packets, warps):
        block = packet >> (pieces - long)
        at = (packet << long) & ((uint64(1) << pieces) - uint64(1))
        end = used[block]
        if at >= end:
            continue
        bound = bounds[block]
        at += lane
        t = short_taylor(table, block, at, pieces)
        b, b1, b2, b3, a, a1, a2 = lines(t, pieces - uint64(5), size, domain)
        b = b[0] + offsets[block], b[1]
        for _ in range(1 << shape.packet):
            failed = test(read(a[0]), read(b[0]), count, bound)[0] and at < end
            votes = cuda.ballot_sync(_FULL, failed)
            if votes:
                # Kept by the warp until there are 32: few atomic additions, nobody waits.
                if failed:
                    waiting[mine, held + cuda.popc(uint64(votes) & below)] = (block << pieces) + at
                held += cuda.popc(votes)
                cuda.syncwarp()
                if held >= 32:
                    base = 0
                    if lane == 0:
                        base = cuda.atomic.add(counters, 0, 32)
                    place = cuda.shfl_sync(_FULL, base, 0) + lane
                    if place < found.size:
                        found[place] = waiting[mine, lane]
                    held -= 32
                    rest = waiting[mine, lane + uint64(32)]
                    cuda.syncwarp()
                    waiting[mine, lane] = rest
                    cuda.syncwarp()
            at += uint64(32)
            b, b1, b2 = plus(b, b1), plus(b1, b2), plus(b2, b3)
            a, a1 = plus(a, a1), plus(a1, a2)
    if held > 0:
        base = 0
        if lane == 0:
            base = cuda.atomic.add(counters, 0, held)
        place = cuda.shfl_sync(_FULL, base, 0) + lane
        if lane < held and place < found.size:
            found[place] = waiting[mine, lane]
'''

_SECOND = '''
def second(table, ids, offsets, bounds, shape, count, found, counters):
    """Phase 2: failing pieces into found, how many into counters[1].

    A warp takes 32 survivors, a lane each for the line of the first piece; then its lanes take
    the pieces of a few survivors side by side, whose neighbouring slopes keep them together.
    """
    kept = cuda.shared.array((WARPS, 14, 32), uint64)
    size, piece = uint64(shape.size), uint64(shape.piece)
    pieces = size - uint64(shape.domain)
    splits = uint64(shape.domain - shape.piece)
    lane = uint64(cuda.threadIdx.x & 31)
    mine = cuda.threadIdx.x >> 5
    warp = uint64((cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) >> 5)
    warps = uint64((cuda.gridDim.x * cuda.blockDim.x) >> 5)
    n = uint64(min(counters[0], ids.size))
    j = lane & ((uint64(1) << splits) - uint64(1))
    for begin in range(warp * uint64(32), n, warps * uint64(32)):
        i = begin + lane
        if i < n:
            block = ids[i] >> pieces
            at = ids[i] & ((uint64(1) << pieces) - uint64(1))
            t = short_taylor(table, block, at, pieces)
            b, b1, b2, b3, a, a1, a2 = lines(t, size - piece, size, piece)
            b = b[0] + offsets[block], b[1]
            kept[mine, 0, lane], kept[mine, 1, lane] = b
            kept[mine, 2, lane], kept[mine, 3, lane] = b1
            kept[mine, 4, lane], kept[mine, 5, lane] = b2
            kept[mine, 6, lane], kept[mine, 7, lane] = b3
            kept[mine, 8, lane], kept[mine, 9, lane] = a
            kept[mine, 10, lane], kept[mine, 11, lane] = a1
            kept[mine, 12, lane], kept[mine, 13, lane] = a2
        cuda.syncwarp()
        here = min(uint64(32), n - begin)
        for first in range(uint64(0), here, uint64(32) >> splits):
            s = first + (lane >> splits)
            if s < here:
                b = kept[mine, 0, s], kept[mine, 1, s]
                b1 = kept[mine, 2, s], kept[mine, 3, s]
                b2 = kept[mine, 4, s], kept[mine, 5, s]
                b3 = kept[mine, 6, s], kept[mine, 7, s]
                a = kept[mine, 8, s], kept[mine, 9, s]
                a1 = kept[mine, 10, s], kept[mine, 11, s]
                a2 = kept[mine, 12, s], kept[mine, 13, s]
                b, a = after(j, b, b1, b2, b3), after(j, a, a1, a2, NONE)
                number = ids[begin + s]
                bound = bounds[number >> pieces]
                if test(read(a[0]), read(b[0]), count, bound)[0]:
                    place = cuda.atomic.add(counters, 1, 1)
                    if place < found.size:
                        found[place] = (number << splits) + j
        cuda.syncwarp()
'''


@kernel
def third(table, ids, listed, total, per, used, limits, shape, counters, found, words):
    """Phase 3: a piece a warp, lane by lane. counters[2] counts the candidates.

    Pieces are those of `ids`, or (`listed` False: the audit) all `total`, `per` to a super-block.
    """
    size, piece = uint64(shape.size), uint64(shape.piece)
    inner = size - piece
    chunk = uint64(1) << (piece - uint64(5))
    lane = uint64(cuda.threadIdx.x & 31)
    warp = uint64((cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) >> 5)
    warps = uint64((cuda.gridDim.x * cuda.blockDim.x) >> 5)
    more = uint64(shape.domain - shape.piece)
    n = uint64(min(counters[1], ids.size)) if listed else uint64(total)
    for i in range(warp, n, warps):
        if listed:
            block, at = ids[i] >> inner, ids[i] & ((uint64(1) << inner) - uint64(1))
        else:
            block, at = i // uint64(per), i % uint64(per)
        if (at >> more) >= used[block]:
            continue
        limit = limits[block]
        x = (at << piece) + lane * chunk
        b, b1, b2, b3 = values(taylor(table, block, x, size), size)
        for j in range(chunk):
            if near(b[0], limit):
                place = cuda.atomic.add(counters, 2, 1)
                if place < found.size:
                    found[place] = (block << size) + x + uint64(j)
                    words[place] = b[0]
            b, b1, b2 = plus(b, b1), plus(b1, b2), plus(b2, b3)


class _Buffers:
    """Memory on the GPU for one batch. It is kept: to free memory would stop the GPU."""

    def __init__(self, survivors: int, pieces: int, candidates: int):
        self.room = [survivors, pieces, candidates]
        self.survivors = cuda.device_array(survivors, np.uint64)
        self.pieces = cuda.device_array(pieces, np.uint64)
        self.found = cuda.device_array(candidates, np.uint64)
        self.words = cuda.device_array(candidates, np.uint64)
        self.counters = cuda.device_array(4, np.int64)
        self.seen = cuda.pinned_array(4, np.int64)
        self.stream = cuda.stream()
        self._inputs: dict = {}

    def put(self, name: str, array):
        """`array` in the memory that is kept under its name, shape and type."""
        key = name, array.shape, array.dtype
        if key not in self._inputs:
            self._inputs[key] = cuda.device_array(array.shape, array.dtype)
        self._inputs[key].copy_to_device(array, stream=self.stream)
        return self._inputs[key]


_free: dict[int, list[_Buffers]] = {}
_ROOM = [1 << 24, 1 << 22, 1 << 20]
"""Survivors, pieces and candidates that there is room for; grows where a batch has more."""
_NOTHING = np.zeros(4, np.int64)


def _buffers() -> _Buffers:
    kept = _free.setdefault(launch.device_id(), [])
    while kept:
        b = kept.pop()
        if b.room == _ROOM:
            return b
    return _Buffers(*_ROOM)


def start(batch, shape, algorithm, division):
    """Search the super-blocks of a batch; `finish` gives what was found."""
    memory = _buffers()
    _launch(memory, batch, shape, algorithm, division)
    return memory, batch, shape, algorithm, division


def _launch(memory, batch, shape, algorithm, division):
    table, used = _first_phase(memory, batch, shape, algorithm, division)
    s, listed = memory.stream, algorithm != "exhaustive"
    kind = np.float64 if batch.bounds.dtype == np.float64 else np.uint64
    grid = 16 * launch.multiprocessors()
    if listed:
        thresholds = memory.put("offsets2", batch.offsets2), memory.put("bounds2", batch.bounds2)
        _kernels(algorithm, division).second[grid, THREADS, s](
            *(table, memory.survivors, *thresholds, shape, kind(1 << shape.piece)),
            *(memory.pieces, memory.counters),
        )
    per = 1 << (shape.size - shape.piece)
    limits = memory.put("limits", batch.limits)
    third[grid, THREADS, s](
        *(table, memory.pieces, listed, np.uint64(per * used.size), np.uint64(per), used, limits),
        *(shape, memory.counters, memory.found, memory.words),
    )
    memory.counters.copy_to_host(memory.seen, stream=s)


def _first_phase(memory, batch, shape, algorithm, division):
    """Launch phase 1, but for the audit; the table and the sub-domains of each super-block."""
    s, blocks = memory.stream, batch.used.size
    table, used = memory.put("table", batch.table), memory.put("used", batch.used)
    memory.counters.copy_to_device(_NOTHING, stream=s)
    if algorithm != "exhaustive":
        thresholds = memory.put("offsets", batch.offsets), memory.put("bounds", batch.bounds)
        kind = np.float64 if batch.bounds.dtype == np.float64 else np.uint64
        packets = blocks << (shape.size - shape.domain - shape.packet - 5)
        grid = min(16 * launch.multiprocessors(), launch.blocks(packets * LANES, THREADS))
        _kernels(algorithm, division).first[grid, THREADS, s](
            *(table, used, *thresholds, shape, kind(1 << shape.domain)),
            *(np.uint64(packets), memory.survivors, memory.counters),
        )
    return table, used


def survivors(batch, shape, algorithm, division):
    """How many sub-domains fail phase 1, which runs alone: for measurements."""
    memory = _buffers()
    _first_phase(memory, batch, shape, algorithm, division)
    memory.counters.copy_to_host(memory.seen, stream=memory.stream)
    memory.stream.synchronize()
    _free[launch.device_id()].append(memory)
    return int(memory.seen[0])


def finish(ticket):
    """(survivors of phase 1, of phase 2, candidates' numbers and values, unsorted)."""
    memory, batch, shape, algorithm, division = ticket
    memory.stream.synchronize()
    counts = [int(n) for n in memory.seen[:3]]
    if any(n > room for n, room in zip(counts, memory.room, strict=True)):
        for i, n in enumerate(counts):
            while _ROOM[i] < n:
                _ROOM[i] *= 2
        return finish(start(batch, shape, algorithm, division))
    n = counts[2]
    found, words = np.empty(n, np.uint64), np.empty(n, np.uint64)
    if n:
        memory.found[:n].copy_to_host(found, stream=memory.stream)
        memory.words[:n].copy_to_host(words, stream=memory.stream)
        memory.stream.synchronize()
    _free[launch.device_id()].append(memory)
    pieces = counts[1]
    if algorithm == "exhaustive":
        pieces = sum(int(u) << (shape.domain - shape.piece) for u in batch.used)
    return counts[0], pieces, found, words
