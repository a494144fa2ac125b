"""The three phases on the CPU: packets over the threads, sub-domains over the vector lanes."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import numba
import numpy as np

from hetero.jit import define, parallel, scalar, serial
from tmd import _tests_math as tests
from tmd._divide_math import floor
from tmd._scan_math import LANES, as_float, as_word, lines, near, taylor, values
from tmd._wide_math import plus

_U = np.uint64


@scalar(cache=False)
def _regular_lanes(p, q, d, u, v, count, found):
    """The regular test for all lanes at once: leaves d in `found`. Changes its arguments.

    Lanes that are through go on with numbers that nobody reads; there is no branch.
    """
    for l in range(LANES):
        found[l] = d[l] if p[l] <= 0.0 else -1.0
    running = True
    while running:
        running = False
        left = 0.0
        for l in range(LANES):
            P, Q, D, U, V = p[l], q[l], d[l], u[l], v[l]
            k, m = floor(Q / P), floor(D / P)
            Q -= k * P
            D -= m * P
            U += k * V
            first = (U + V >= count) | (Q <= 0.0)
            k = floor(P / Q)
            P -= k * Q
            V += k * U
            x = D - P
            y = x - floor(x / Q) * Q
            y = y if x >= 0.0 else D
            last = D if first else y
            through = first | (U + V >= count) | (P <= 0.0)
            old = found[l]
            new = last if (old < 0.0) & through else old
            found[l] = new
            left += 1.0 if new < 0.0 else 0.0
            p[l], q[l], d[l], u[l], v[l] = P, Q, y, U, V
        running = left > 0.0


def _vector(test, clipped: bool):
    """Tests of `LANES` sub-domains: the regular one in vectors, and the clipped where it fails."""

    @scalar(cache=False)
    def run(a, b, work, count, bound, failed):
        for l in range(LANES):
            work[0, l] = as_float(a[l])
            work[2, l] = as_float(b[l])
            work[1, l] = 2.0**52
            work[3, l] = 0.0
            work[4, l] = 1.0
        _regular_lanes(work[0], work[1], work[2], work[3], work[4], count, work[5])
        for l in range(LANES):
            failed[l] = work[5, l] <= bound
            if clipped and failed[l]:
                failed[l] = test(as_float(a[l]), as_float(b[l]), count, bound)[0]

    return run


def _each(test, read):
    """Tests of `LANES` sub-domains one by one."""

    @scalar(cache=False)
    def run(a, b, work, count, bound, failed):
        for l in range(LANES):
            failed[l] = test(read(a[l]), read(b[l]), count, bound)[0]

    return run


@functools.cache
def _loops(algorithm: str, division: str) -> SimpleNamespace:
    number = tests.DIVISIONS[division][1]
    read = as_float if number is float else as_word
    test = tests.made(algorithm, division)
    fast = number is float and algorithm in ("clipped", "regular")
    row = _vector(test, algorithm == "clipped") if fast else _each(test, read)
    names = {"row": row, "test": test, "read": read, "numba": numba, "np": np, "_U": _U}
    names |= {"LANES": LANES, "taylor": taylor, "lines": lines, "plus": plus}
    return SimpleNamespace(
        first=parallel(define("first", _FIRST, names), cache=False),
        second=parallel(define("second", _SECOND, names), cache=False),
    )


_FIRST = '''
def first(table, used, offsets, bounds, shape, count, origin, found, sizes):
    """Phase 1. Packet origin + i leaves what fails in found[i], the number of it in sizes[i]."""
    size, domain = _U(shape.size), _U(shape.domain)
    pieces = size - domain
    per_block = 1 << (shape.size - shape.domain - shape.packet - 5)
    steps = 1 << shape.packet
    for packet in numba.prange(sizes.size):
        block = (origin + packet) // per_block
        begin = _U(origin + packet - block * per_block) << _U(shape.packet + 5)
        sizes[packet] = 0
        if begin < used[block]:
            state = np.empty((14, LANES), np.uint64)
            work, failed = np.empty((6, LANES)), np.empty(LANES, np.bool_)
            low = offsets[block]
            for l in range(LANES):
                t = taylor(table, block, (begin + _U(l)) << domain, size)
                parts = lines(t, pieces - _U(5), size, domain)
                k = 0
                for part in parts:
                    state[k, l], state[k + 1, l] = part
                    k += 2
                state[0, l] += low
            n = 0
            base = _U(block) << pieces
            for j in range(steps):
                row(state[8], state[0], work, count, bounds[block], failed)
                at = begin + _U(j * LANES)
                for l in range(LANES):
                    if failed[l] and at + _U(l) < used[block]:
                        found[packet, n] = base + at + _U(l)
                        n += 1
                for l in range(LANES):
                    b = plus((state[0, l], state[1, l]), (state[2, l], state[3, l]))
                    b1 = plus((state[2, l], state[3, l]), (state[4, l], state[5, l]))
                    b2 = plus((state[4, l], state[5, l]), (state[6, l], state[7, l]))
                    a = plus((state[8, l], state[9, l]), (state[10, l], state[11, l]))
                    a1 = plus((state[10, l], state[11, l]), (state[12, l], state[13, l]))
                    state[0, l], state[1, l] = b
                    state[2, l], state[3, l] = b1
                    state[4, l], state[5, l] = b2
                    state[8, l], state[9, l] = a
                    state[10, l], state[11, l] = a1
            sizes[packet] = n
'''

_SECOND = '''
def second(table, ids, offsets, bounds, shape, count, found, sizes):
    """Phase 2. Survivor i leaves its failing pieces in found[i], the number of them in sizes[i]."""
    size, piece = _U(shape.size), _U(shape.piece)
    pieces = size - _U(shape.domain)
    splits = shape.domain - shape.piece
    for i in numba.prange(ids.size):
        block = np.int64(ids[i] >> pieces)
        x = (ids[i] & ((_U(1) << pieces) - _U(1))) << _U(shape.domain)
        t = taylor(table, block, x, size)
        b, b1, b2, b3, a, a1, a2 = lines(t, size - piece, size, piece)
        low = offsets[block]
        n = 0
        for j in range(1 << splits):
            if test(read(a[0]), read(b[0] + low), count, bounds[block])[0]:
                found[i, n] = (ids[i] << _U(splits)) + _U(j)
                n += 1
            b, b1, b2 = plus(b, b1), plus(b1, b2), plus(b2, b3)
            a, a1 = plus(a, a1), plus(a1, a2)
        sizes[i] = n
'''


@parallel
def _third(table, ids, limits, shape, found, words, sizes):
    """Phase 3: piece i leaves its candidates' numbers and values, and how many there are."""
    size, piece = _U(shape.size), _U(shape.piece)
    inner = size - piece
    chunk = 1 << (shape.piece - 5)
    for i in numba.prange(ids.size):
        block = np.int64(ids[i] >> inner)
        begin = (ids[i] & ((_U(1) << inner) - _U(1))) << piece
        limit = limits[block]
        n = 0
        for l in range(LANES):
            x = begin + _U(l * chunk)
            b, b1, b2, b3 = values(taylor(table, block, x, size), size)
            for j in range(chunk):
                if near(b[0], limit):
                    if n < found.shape[1]:
                        found[i, n] = (_U(block) << size) + x + _U(j)
                        words[i, n] = b[0]
                    n += 1
                b, b1, b2 = plus(b, b1), plus(b1, b2), plus(b2, b3)
        sizes[i] = n


@serial
def _gather(rows, sizes, out):
    """The used beginnings of rows, one after the other."""
    at = 0
    for i in range(sizes.size):
        for j in range(sizes[i]):
            out[at] = rows[i, j]
            at += 1


def _packed(rows, sizes):
    out = np.empty(int(sizes.sum()), np.uint64)
    _gather(rows, sizes, out)
    return out


_CHUNK = 1 << 16  # survivors and pieces that are looked at together
_PACKETS = 1 << 9


def start(batch, shape, algorithm, division):
    """Search the super-blocks of a batch; `finish` gives what was found."""
    counts = [0, 0]
    if algorithm == "exhaustive":
        pieces = _all_pieces(batch, shape)
    else:
        pieces = _two_phases(batch, shape, _loops(algorithm, division), counts)
    numbers, words = [], []
    for ids in pieces:
        counts[1] += ids.size
        # Room for a few candidates; a piece with more (a run of equal ones) is done again.
        width = 8
        while True:
            found = np.empty((ids.size, width), np.uint64)
            seen, sizes = np.empty_like(found), np.empty(ids.size, np.int64)
            _third(batch.table, ids, batch.limits, shape, found, seen, sizes)
            if sizes.max(initial=0) <= width:
                break
            width = int(sizes.max())
        numbers.append(_packed(found, sizes))
        words.append(_packed(seen, sizes))
    return counts, numbers, words


def _all_pieces(batch, shape):
    """Numbers of all pieces, in chunks."""
    inner = shape.size - shape.piece
    per = 1 << (shape.domain - shape.piece)
    for block, used in enumerate(batch.used):
        for begin in range(0, int(used) * per, _CHUNK):
            ids = np.arange(begin, min(begin + _CHUNK, int(used) * per), dtype=np.uint64)
            yield ids + (_U(block) << _U(inner))


def _first_phase(batch, shape, loops, counts):
    """Numbers of the sub-domains that fail, in chunks, and their sum in counts[0]."""
    kind = np.float64 if batch.bounds.dtype == np.float64 else np.uint64
    packets = batch.used.size << (shape.size - shape.domain - shape.packet - 5)
    for begin in range(0, packets, _PACKETS):
        sizes = np.empty(min(_PACKETS, packets - begin), np.int64)
        found = np.empty((sizes.size, LANES << shape.packet), np.uint64)
        thresholds = batch.offsets, batch.bounds, shape, kind(1 << shape.domain)
        loops.first(batch.table, batch.used, *thresholds, begin, found, sizes)
        failing = _packed(found, sizes)
        counts[0] += failing.size
        yield failing


def _two_phases(batch, shape, loops, counts):
    """Numbers of the pieces that fail phase 2, in chunks; counts[0] counts what fails phase 1."""
    kind = np.float64 if batch.bounds.dtype == np.float64 else np.uint64
    for failing in _first_phase(batch, shape, loops, counts):
        for at in range(0, failing.size, _CHUNK):
            ids = failing[at : at + _CHUNK]
            inner = np.empty((ids.size, 1 << (shape.domain - shape.piece)), np.uint64)
            sizes = np.empty(ids.size, np.int64)
            thresholds = batch.offsets2, batch.bounds2, shape, kind(1 << shape.piece)
            loops.second(batch.table, ids, *thresholds, inner, sizes)
            yield _packed(inner, sizes)


def survivors(batch, shape, algorithm, division):
    """How many sub-domains fail phase 1, which runs alone: for measurements."""
    counts = [0, 0]
    for _ in _first_phase(batch, shape, _loops(algorithm, division), counts):
        pass
    return counts[0]


def finish(ticket):
    """(survivors of phase 1, of phase 2, candidates' numbers and values, unsorted)."""
    counts, numbers, words = ticket
    empty = [np.empty(0, np.uint64)]
    return counts[0], counts[1], np.concatenate(numbers + empty), np.concatenate(words + empty)
