"""Where the matrices of a block pair are, for kernels that work on many pairs at once.

Every sweep under way has a slot of memory with the matrices of its task, row by row, b numbers a
row: V and U = V T of the reflections 1 - V T V^T that the task applies, and of those that it makes
(by the parity of k); [X; Y] = [A; B] U; Z = B^T U'; and two small ones, Y^T U' and X^T U.
"""

from types import SimpleNamespace
from typing import NamedTuple

from numba import int32, int64, uint32, uint64

from hetero.jit import kernel
from sbth._order_math import extents


class Pair(NamedTuple):
    """A block pair."""

    k: int  # number of the task in its sweep
    slot: int  # first number of the sweep's slot
    c0: int  # first column
    corner: int  # place of element (c0, c0) in the working matrix
    m: int  # columns of A and B
    rows: int  # of B


def slot_size(d: int, b: int) -> int:
    """Numbers of a slot."""
    return (7 * d + 2 * b) * b


def access(dtype, b: int) -> SimpleNamespace:
    """Device functions that find what belongs to a pair. `after`: 0 for the reflections that the
    task applies, 1 for those that it makes."""
    device = kernel(device=True)

    # Places within a pair or a slot have 32 bits: half the instructions.

    @device
    def pair_of(n, d, step, first, slots, index):
        """The pair of task number `index` of a launch."""
        s = int64(first) + index
        k = int64(step) - 2 * s
        c0, m, rows = extents(s, k, int64(n), int64(d), b)
        slot = s % slots * ((7 * d + 2 * b) * b)
        return Pair(int32(k), slot, c0, c0 * (2 * d), int32(m), int32(rows))

    @device
    def v(d, pair, after, row, j):
        return uint64(pair.slot) + uint32((((pair.k + after) & 1) * d + row) * b + j)

    @device
    def u(d, pair, after, row, j):
        return uint64(pair.slot) + uint32((((pair.k + after) & 1) * d + 2 * d + row) * b + j)

    @device
    def x(d, pair, row, j):
        return uint64(pair.slot) + uint32((4 * d + row) * b + j)

    @device
    def z(d, pair, row, j):
        return uint64(pair.slot) + uint32((6 * d + row) * b + j)

    @device
    def small(d, pair, which, i, j):
        return uint64(pair.slot) + uint32((7 * d + which * b + i) * b + j)

    @device
    def cell(d, pair, row, column):
        """Element (row, column) of [A; B], row >= column."""
        return uint64(pair.corner) + uint32(column * (2 * d - 1) + row)

    @device
    def element(work, d, pair, row, column):
        """Of [A; B], A symmetric; 0 outside."""
        high, low = max(row, column), min(row, column)
        if high >= int32(pair.m + pair.rows) or column >= pair.m:
            return dtype(0)
        return work[cell(d, pair, high, low)]

    return SimpleNamespace(
        pair_of=pair_of, v=v, u=u, x=x, z=z, small=small, cell=cell, element=element
    )
