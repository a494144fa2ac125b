"""The three phases of a search on the CPU.

Packets of sub-domains are distributed over the threads, and the sub-domains of a packet over the
vector lanes. A sub-domain or a piece fails its test if it may contain a candidate; only then does
the next phase examine it. Its number counts from the first super-block of the batch.

Arguments of the loops: `table`, `offsets`, `bounds` and `limits` are those of `planning.Batch` (in
phase 2 its piece_offsets and piece_bounds); `super_blocks` is a `SuperBlocks`, `shape` a `Shape`;
`count` is the number of arguments of a sub-domain or piece, in the type of the test's numbers
(float64 or uint64); `ids` are uint64 numbers of sub-domains or pieces. Row i of an output belongs
to packet or entry i, and `sizes[i]` (int64) says how many of its uint64 elements are valid.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numba
import numpy as np

from hetero.jit import parallel, serial
from tmd._search.cpu_rows import make_row, make_vector_row
from tmd._search.formulas import boolean_test_formulas as tests
from tmd._search.formulas import line_formulas as lines
from tmd._search.formulas.lattice_formulas import find_intervals, may_have_case
from tmd._search.formulas.wide_integer_formulas import add
from tmd._search.planning import Batch, Plan, count_by_member
from tmd._search.sizes import LATTICE

_U = np.uint64


class _Loops(NamedTuple):
    test_subdomains: Callable
    test_pieces: Callable


@functools.cache
def _loops(algorithm: str, division: str) -> _Loops:
    """Return the loops of phases 1 and 2 for a Boolean test."""
    number = tests.DIVISIONS[division][1]
    read = lines.fraction_as_float if number is float else lines.fraction_as_word
    test = tests.compile_test(algorithm, division)
    if number is float and algorithm in ("clipped", "regular"):
        test_row = make_vector_row(test, algorithm == "clipped")
    else:
        test_row = make_row(test, read)
    return _Loops(
        parallel(_make_test_subdomains(test_row)), parallel(_make_test_pieces(test, read))
    )


def _make_test_subdomains(test_row: Callable) -> Callable:
    """Make the loop of phase 1, to be compiled."""

    def test_subdomains(super_blocks, shape, count, origin, failing, sizes):
        """Test sub-domains; row i of `failing` gets the failing ones of packet origin + i."""
        table, subdomain_counts, offsets, bounds = super_blocks
        size, subdomain = _U(shape.super_block), _U(shape.subdomain)
        log2_subdomains = size - subdomain
        packets = 1 << (shape.super_block - shape.subdomain - shape.packet - 5)
        steps = 1 << shape.packet
        for i in numba.prange(sizes.size):
            block = (origin + i) // packets
            begin = _U(origin + i - block * packets) << _U(shape.packet + 5)
            sizes[i] = 0
            if begin < subdomain_counts[block]:
                # Rows 0 to 7: words of b and its differences; rows 8 to 13: of a and its own.
                state = np.empty((14, lines.LANES), np.uint64)
                work, failed = np.empty((6, lines.LANES)), np.empty(lines.LANES, np.bool_)
                offset = offsets[block]
                for l in range(lines.LANES):
                    t = lines.taylor_coefficients(table, block, (begin + _U(l)) << subdomain, size)
                    parts = lines.line_differences(t, log2_subdomains - _U(5), size, subdomain)
                    k = 0
                    for part in parts:
                        state[k, l], state[k + 1, l] = part
                        k += 2
                    state[0, l] += offset
                n = 0
                base = _U(block) << log2_subdomains
                for j in range(steps):
                    test_row(state[8], state[0], work, count, bounds[block], failed)
                    first = begin + _U(j * lines.LANES)
                    for l in range(lines.LANES):
                        if failed[l] and first + _U(l) < subdomain_counts[block]:
                            failing[i, n] = base + first + _U(l)
                            n += 1
                    for l in range(lines.LANES):
                        b = add((state[0, l], state[1, l]), (state[2, l], state[3, l]))
                        b1 = add((state[2, l], state[3, l]), (state[4, l], state[5, l]))
                        b2 = add((state[4, l], state[5, l]), (state[6, l], state[7, l]))
                        a = add((state[8, l], state[9, l]), (state[10, l], state[11, l]))
                        a1 = add((state[10, l], state[11, l]), (state[12, l], state[13, l]))
                        state[0, l], state[1, l] = b
                        state[2, l], state[3, l] = b1
                        state[4, l], state[5, l] = b2
                        state[8, l], state[9, l] = a
                        state[10, l], state[11, l] = a1
                sizes[i] = n

    return test_subdomains


@parallel
def _test_translates(super_blocks, shape, count, members, step, origin, failing, sizes):
    """Test the sub-domains of all translates, as `test_subdomains` does.

    A row of `failing` may be too short for its sub-domains; `sizes` counts all of them.
    """
    table, subdomain_counts, offsets, bounds = super_blocks
    size, subdomain = _U(shape.super_block), _U(shape.subdomain)
    log2_subdomains = size - subdomain
    packets = 1 << (shape.super_block - shape.subdomain - shape.packet - 5)
    per_member = subdomain_counts.size // members
    for i in numba.prange(sizes.size):
        block = (origin + i) // packets
        begin = _U(origin + i - block * packets) << _U(shape.packet + 5)
        n = 0
        for l in range(lines.LANES):
            number = begin + _U(l)
            t = lines.taylor_coefficients(table, block, number << subdomain, size)
            b, b1, b2, b3, a, a1, a2 = lines.line_differences(
                t, log2_subdomains - _U(5), size, subdomain
            )
            b = b[0] + offsets[block], b[1]
            for _ in range(1 << shape.packet):
                if number < subdomain_counts[block]:
                    slope = lines.fraction_as_float(a[0])
                    place = find_intervals(
                        slope, b[0] << _U(1), step, members, count, bounds[block]
                    )
                    for begin_of_part in range(0, members, _MEMBERS_AT_ONCE):
                        part = range(begin_of_part, min(begin_of_part + _MEMBERS_AT_ONCE, members))
                        found = False
                        for k in part:
                            found |= may_have_case(place, k)
                        if found:
                            for k in part:
                                if may_have_case(place, k):
                                    if n < failing.shape[1]:
                                        of_member = _U(k * per_member + block) << log2_subdomains
                                        failing[i, n] = of_member + number
                                    n += 1
                number += _U(lines.LANES)
                b, b1, b2 = add(b, b1), add(b1, b2), add(b2, b3)
                a, a1 = add(a, a1), add(a1, a2)
        sizes[i] = n


def _make_test_pieces(test: Callable, read: Callable) -> Callable:
    """Make the loop of phase 2, to be compiled."""

    def test_pieces(table, ids, offsets, bounds, shape, count, failing, sizes):
        """Test the pieces of sub-domains; row i of `failing` gets the failing ones of ids[i]."""
        size, piece = _U(shape.super_block), _U(shape.piece)
        log2_subdomains = size - _U(shape.subdomain)
        split = shape.subdomain - shape.piece
        for i in numba.prange(ids.size):
            block = np.int64(ids[i] >> log2_subdomains)
            x = (ids[i] & ((_U(1) << log2_subdomains) - _U(1))) << _U(shape.subdomain)
            t = lines.taylor_coefficients(table, block, x, size)
            b, b1, b2, b3, a, a1, a2 = lines.line_differences(t, size - piece, size, piece)
            offset = offsets[block]
            n = 0
            for j in range(1 << split):
                if test(read(a[0]), read(b[0] + offset), count, bounds[block])[0]:
                    failing[i, n] = (ids[i] << _U(split)) + _U(j)
                    n += 1
                b, b1, b2 = add(b, b1), add(b1, b2), add(b2, b3)
                a, a1 = add(a, a1), add(a1, a2)
            sizes[i] = n

    return test_pieces


@parallel
def _list_candidates(table, ids, limits, shape, numbers, words, sizes):
    """Find the candidates of pieces (phase 3); row i of `numbers` gets those of ids[i].

    `words` gets the upper words of their values. A row may be too short for the candidates;
    `sizes` counts all of them.
    """
    size, piece = _U(shape.super_block), _U(shape.piece)
    log2_pieces = size - piece
    chunk = 1 << (shape.piece - 5)
    for i in numba.prange(ids.size):
        block = np.int64(ids[i] >> log2_pieces)
        begin = (ids[i] & ((_U(1) << log2_pieces) - _U(1))) << piece
        limit = limits[block]
        n = 0
        for l in range(lines.LANES):
            x = begin + _U(l * chunk)
            b, b1, b2, b3 = lines.value_differences(
                lines.taylor_coefficients(table, block, x, size), size
            )
            for j in range(chunk):
                if lines.is_near_integer(b[0], limit):
                    if n < numbers.shape[1]:
                        numbers[i, n] = (_U(block) << size) + x + _U(j)
                        words[i, n] = b[0]
                    n += 1
                b, b1, b2 = add(b, b1), add(b1, b2), add(b2, b3)
        sizes[i] = n


@serial
def _gather(rows, sizes, out):
    """Concatenate the valid beginnings of rows into `out`."""
    n = 0
    for i in range(sizes.size):
        for j in range(sizes[i]):
            out[n] = rows[i, j]
            n += 1


def _concatenate_rows(rows: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    out = np.empty(int(sizes.sum()), np.uint64)
    _gather(rows, sizes, out)
    return out


_CHUNK = 1 << 16
"""Sub-domains or pieces that one call of phase 2 or 3 processes (not tuned)."""

_PACKETS = 1 << 9
"""Packets that one call of phase 1 processes (not tuned)."""

_MEMBERS_AT_ONCE = 64
"""Translates that vectors test before a branch."""

_CANDIDATES_PER_PIECE = 8
"""Columns for candidates in phase 3. Chunks in which a piece has more are done again."""


class _Ticket(NamedTuple):
    """Counts of failing sub-domains and pieces of each translate; candidates in chunks."""

    counts: np.ndarray
    numbers: list[np.ndarray]
    words: list[np.ndarray]


def start_batch(batch: Batch, plan: Plan) -> _Ticket:
    """Search the super-blocks of a batch; `finish_batch` returns the candidates."""
    ticket = _Ticket(np.zeros((2, batch.members), np.int64), [], [])
    if plan.algorithm == "exhaustive":
        pieces = _list_all_pieces(batch, plan.shape)
    else:
        pieces = _list_failing_pieces(batch, plan, ticket.counts)
    log2_pieces = plan.shape.super_block - plan.shape.piece
    for ids in pieces:
        ticket.counts[1] += count_by_member(batch, ids >> _U(log2_pieces))
        width = _CANDIDATES_PER_PIECE
        while True:
            numbers = np.empty((ids.size, width), np.uint64)
            words, sizes = np.empty_like(numbers), np.empty(ids.size, np.int64)
            _list_candidates(batch.table, ids, batch.limits, plan.shape, numbers, words, sizes)
            if sizes.max(initial=0) <= width:
                break
            width = int(sizes.max())
        ticket.numbers.append(_concatenate_rows(numbers, sizes))
        ticket.words.append(_concatenate_rows(words, sizes))
    return ticket


def _list_all_pieces(batch: Batch, shape: lines.Shape) -> Iterator[np.ndarray]:
    """Yield the numbers of all pieces, in chunks."""
    log2_pieces = shape.super_block - shape.piece
    pieces_per_subdomain = 1 << (shape.subdomain - shape.piece)
    for block, subdomains in enumerate(batch.subdomain_counts):
        pieces = int(subdomains) * pieces_per_subdomain
        for begin in range(0, pieces, _CHUNK):
            ids = np.arange(begin, min(begin + _CHUNK, pieces), dtype=np.uint64)
            yield ids + (_U(block) << _U(log2_pieces))


def _list_failing_subdomains(batch: Batch, plan: Plan) -> Iterator[np.ndarray]:
    """Yield the numbers of the sub-domains that fail phase 1, in chunks."""
    shape, members, width = plan.shape, batch.members, lines.LANES << plan.shape.packet
    super_blocks = lines.SuperBlocks(
        batch.table, batch.subdomain_counts, batch.offsets, batch.bounds
    )
    count = batch.bounds.dtype.type(1 << shape.subdomain)
    packets = (batch.subdomain_counts.size // members) << (
        shape.super_block - shape.subdomain - shape.packet - 5
    )
    for begin in range(0, packets, _PACKETS):
        sizes = np.empty(min(_PACKETS, packets - begin), np.int64)
        while True:
            rows = np.empty((sizes.size, width), np.uint64)
            if plan.algorithm == LATTICE:
                _test_translates(
                    super_blocks, shape, count, members, batch.step, begin, rows, sizes
                )
            else:
                loops = _loops(plan.algorithm, plan.division)
                loops.test_subdomains(super_blocks, shape, count, begin, rows, sizes)
            if (longest := int(sizes.max())) <= width:
                break
            width = longest
        yield _concatenate_rows(rows, sizes)


def _list_failing_pieces(batch: Batch, plan: Plan, counts: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the numbers of the pieces that fail phase 2, in chunks.

    counts[0] counts the sub-domains that fail phase 1.
    """
    shape, test_pieces = plan.shape, _loops(plan.test, plan.division).test_pieces
    log2_subdomains = shape.super_block - shape.subdomain
    offsets, bounds = batch.piece_offsets, batch.piece_bounds
    count = bounds.dtype.type(1 << shape.piece)
    for failing in _list_failing_subdomains(batch, plan):
        counts[0] += count_by_member(batch, failing >> _U(log2_subdomains))
        for begin in range(0, failing.size, _CHUNK):
            ids = failing[begin : begin + _CHUNK]
            rows = np.empty((ids.size, 1 << (shape.subdomain - shape.piece)), np.uint64)
            sizes = np.empty(ids.size, np.int64)
            test_pieces(batch.table, ids, offsets, bounds, shape, count, rows, sizes)
            yield _concatenate_rows(rows, sizes)


def count_failing_subdomains(batch: Batch, plan: Plan) -> int:
    """Run phase 1 alone, for measurements; return the number of sub-domains that fail."""
    return sum(failing.size for failing in _list_failing_subdomains(batch, plan))


def finish_batch(ticket: _Ticket) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the results of a batch."""
    counts, numbers, words = ticket
    empty = [np.empty(0, np.uint64)]
    return counts[0], counts[1], np.concatenate(numbers + empty), np.concatenate(words + empty)
