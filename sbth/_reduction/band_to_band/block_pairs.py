"""Memory layout of the matrices of block pairs, for kernels that work on many pairs at once.

A block pair consists of a diagonal block A and the block B below it. Every active sweep has a
slot of memory for the matrices of its task, in rows of b numbers: V and U = V T of the reflections
1 - V T V^T that the task applies, and V' and U' of those that it generates (these two pairs
alternate with k); [X; Y] = [A; B] U; Z = B^T U'; and two small ones, Y^T U' and X^T U.
"""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, disallow-untyped-calls=False
# Numba infers the types of device functions.

from types import SimpleNamespace
from typing import NamedTuple

from numba import int32, int64, uint32, uint64

from hetero.jit import kernel
from sbth._reduction.bulge_chasing.schedule_formulas import block_extents


class BlockPair(NamedTuple):
    """A block pair."""

    k: int  # number of the task in its sweep
    slot: int  # index of the first number of the sweep's slot
    c0: int  # first column
    corner: int  # index of element (c0, c0) in the working matrix
    m: int  # number of columns of A and B
    rows: int  # number of rows of B


def slot_size(d: int, b: int) -> int:
    """Return how many numbers a slot holds."""
    return (7 * d + 2 * b) * b


def make_accessors(dtype, b: int) -> SimpleNamespace:
    """Make device functions that return indices and elements of the matrices of a pair.

    `after` is 0 for the reflections that the task applies, and 1 for those that it generates.
    `v`, `u`, `x`, `z` and `small` return indices of elements in the slot (x also of Y, in row
    d + i), `cell` in the working matrix.
    """
    device = kernel(device=True)

    # Indices within a pair or a slot have 32 bits, which takes half the instructions.

    @device
    def pair_of(n, d, step, first, slots, index):
        """Return the pair of task number `index` of a launch."""
        s = int64(first) + index
        k = int64(step) - 2 * s
        c0, m, rows = block_extents(s, k, int64(n), int64(d), b)
        slot = s % slots * ((7 * d + 2 * b) * b)
        return BlockPair(int32(k), slot, c0, c0 * (2 * d), int32(m), int32(rows))

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
        """Return the index of element (row, column) of [A; B], row >= column."""
        return uint64(pair.corner) + uint32(column * (2 * d - 1) + row)

    @device
    def element(work, d, pair, row, column):
        """Return element (row, column) of [A; B], using the symmetry of A; 0 outside."""
        high, low = max(row, column), min(row, column)
        if high >= int32(pair.m + pair.rows) or column >= pair.m:
            return dtype(0)
        return work[cell(d, pair, high, low)]

    return SimpleNamespace(
        pair_of=pair_of, v=v, u=u, x=x, z=z, small=small, cell=cell, element=element
    )
