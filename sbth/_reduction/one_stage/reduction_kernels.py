"""One kernel that reduces a full matrix to tridiagonal form, and its device functions.

Row i belongs to block i mod b of b blocks. A block keeps its last rows in shared memory, because
they are needed longest, and the others in global memory. Step k makes the reflection 1 - tau u u^T
of column k, and subtracts v w^T + w v^T of the step before in the same pass over the matrix that
multiplies it by u, so that each element is read and written once (as the blocks of Dongarra,
Hammarling and Sorensen 1989, of one column each). All blocks compute the vectors u and w, each for
itself. What they need of each other are the products of the rows with u, and the row that is the
next to be eliminated; so they wait for each other once a step.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import float32, float64, int32, uint64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._gpu.block_sums import MOST_THREADS, WARPS, largest_of_block, meet, sum_over_block
from sbth._gpu.blocks_of_threads import power_of_two
from sbth._gpu.householder_formulas import reflection
from sbth._reduction.one_stage.row_updates import (
    Rows,
    Step,
    load_rows,
    scale_rows,
    slice_count,
    store_products,
    update_rows,
)

_device = kernel(device=True)


class Exchange(NamedTuple):
    """Global memory by which the blocks learn of each other.

    Attributes
    ----------
    products, rows : arrays (2 n,)
        The products of the matrix with u, and the next row to eliminate: two of each, in turns.
    largest : float64 (blocks,)
        Largest magnitude of the elements of each block; infinite if one is not a number.
    control : int32 (2,)
        Number of arrivals at all meetings, and 1 if a block waited in vain.
    """

    products: Any
    rows: Any
    largest: Any
    control: Any


class Block(NamedTuple):
    """The rows of a block, and the places of its arrays. All numbers are uint64.

    Attributes
    ----------
    number, count : its number, and how many blocks there are
    slots, outside : how many rows it has, and how many of them are in global memory, the first ones
    partial, sums : indices in shared memory of 16 numbers for each row, and of 33 for sums
    near, far : indices of its rows in shared and in global memory
    """

    number: int
    count: int
    slots: int
    outside: int
    partial: int
    sums: int
    near: int
    far: int


def scratch_size(n: int, blocks: int) -> int:
    """Return the number of elements of shared memory that a block needs besides its rows.

    They are the vectors w and two of reflections, then 16 numbers for each row, two times 16 for
    sums over the block, and one for the first element of a column.
    """
    return 3 * n + WARPS * (-(-n // blocks) + 2) + 1


@_device
def _make_block(n, capacity):
    """Return the Block of this block, of which `capacity` rows fit in shared memory."""
    b, blocks, one = uint64(cuda.blockIdx.x), uint64(cuda.gridDim.x), uint64(1)
    most_slots = (n + blocks - one) // blocks
    slots = (n - b + blocks - one) // blocks if b < n else uint64(0)
    partial = uint64(3) * n
    sums = partial + uint64(WARPS) * most_slots
    near = sums + uint64(2 * WARPS) + one
    far = b * (most_slots - min(most_slots, capacity)) * n
    return Block(b, blocks, slots, slots - min(slots, capacity), partial, sums, near, far)


@_device
def _far_rows(block, n, first):
    """Return the rows in global memory without the first ones."""
    remaining = block.outside - min(first, block.outside)
    return Rows(
        *(block.far + first * n, block.number + first * block.count, block.count),
        *(remaining, slice_count(remaining), block.partial),
    )


@_device
def _near_rows(block, n, first):
    """Return the rows in shared memory without the first ones, which are counted from all rows."""
    begin = max(first, block.outside)
    count, others = block.slots - begin, block.outside - min(first, block.outside)
    return Rows(
        *(block.near + (begin - block.outside) * n, block.number + begin * block.count),
        *(block.count, count, slice_count(count)),
        block.partial + uint64(WARPS) * others,
    )


@_device
def _load_column(step, tau, scale, shared, exchange, sums):
    """Compute w of the last step, and column k from row k as it was before the last step.

    The vector u gets the column. `tau` is that of the last step, and `scale` multiplies the row.
    `sums` are the indices of 2 WARPS + 1 numbers. Returns the sum of the squares to eliminate,
    and element (k, k).
    """
    products, row = exchange
    n, k, threads = step.n, step.k, uint64(cuda.blockDim.x)
    zero = tau - tau
    begin = k + uint64(cuda.threadIdx.x)
    dot = zero
    w_k = products[k] if k > 0 else zero
    i = begin
    while i < n:
        shared[step.u + i] = row[i] * scale
        if k > 0:
            product = products[i]
            shared[i] = product
            dot += product * shared[step.v + i]
        else:
            shared[i] = zero
            shared[step.v + i] = zero
        i += threads
    correction = v_k = zero
    if k > 0:
        dot = sum_over_block(dot, shared, sums)
        correction = tau * tau * dot * type(tau)(0.5)
        v_k = type(tau)(1)
        w_k = tau * w_k - correction
    tail = diagonal = zero
    i = begin
    while i < n:
        v_i = shared[step.v + i]
        w_i = tau * shared[i] - correction * v_i
        shared[i] = w_i
        x = shared[step.u + i] - (v_k * w_i + w_k * v_i)
        shared[step.u + i] = x
        if i == k:
            diagonal = x
        elif i == k + uint64(1):
            shared[sums + uint64(2 * WARPS)] = x
        else:
            tail += x * x
        i += threads
    return sum_over_block(tail, shared, sums + uint64(WARPS)), diagonal


@_device
def _load_matrix(source, n, lower, block, memories, exchange, statics):
    """Store the rows of this block; return the largest magnitude of the matrix, or -1.

    It is infinite if an element is not a number, and -1 if the blocks do not meet. `statics` is
    shared memory for the largest of each warp, and for `meet`.
    """
    (shared, work), (maxima, failed) = memories, statics
    far, near = _far_rows(block, n, uint64(0)), _near_rows(block, n, uint64(0))
    largest = max(load_rows(source, n, lower, far, work), load_rows(source, n, lower, near, shared))
    largest = largest_of_block(largest, maxima)
    if cuda.threadIdx.x == 0:
        exchange.largest[block.number] = largest
    if block.number == 0:
        for j in range(uint64(cuda.threadIdx.x), n, uint64(cuda.blockDim.x)):
            first = shared[block.near + j] if block.outside == 0 else work[block.far + j]
            exchange.rows[j] = first
    if meet(exchange.control, block.count, failed):
        return -1.0
    for other in range(block.count):
        largest = max(largest, exchange.largest[other])
    return largest


def _make_kernel(dtype):
    """Make the kernel for a type."""
    most = int(np.finfo(str(dtype)).maxexp) - 2

    @_device
    def eliminate(step, tau, scale, block, shared, received, numbers):
        """Make the reflection of column k; return its tau. The block that owns row k stores it."""
        n, k, one, t = step.n, step.k, uint64(1), uint64(cuda.threadIdx.x)
        tail, diagonal = _load_column(step, tau, scale, shared, received, block.sums)
        stores = k % block.count == block.number and t == 0
        if stores:
            numbers[k] = diagonal
        if k == n - one:
            return tau
        beta, tau, divisor = reflection(shared[block.sums + uint64(2 * WARPS)], tail)
        i = k + one + t
        while i < n:
            shared[step.u + i] = shared[step.u + i] * divisor if i > k + one else dtype(1)
            i += uint64(cuda.blockDim.x)
        if stores:
            numbers[n + k] = beta
            numbers[uint64(2) * n + k] = tau
        cuda.syncthreads()
        return tau

    @kernel(launch_bounds=(MOST_THREADS, 1))
    def reduce(source, sizes, flags, work, exchange, numbers, vectors):
        """Reduce a matrix of which one triangle is read: the lower one if the first flag is set.

        `sizes` is the order n, and how many rows of a block fit in shared memory; `work` holds the
        others, row after row of each block. `numbers` (3 n + 2) takes the diagonal, the
        subdiagonal, the factors tau of the reflections, the power of two by which the matrix was
        multiplied, and the largest magnitude. If the second flag is set, row k of `vectors` (n^2)
        takes the vector of the reflection of column k.
        """
        n, t, one = uint64(sizes[0]), uint64(cuda.threadIdx.x), uint64(1)
        lower, keeps = flags
        shared = cuda.shared.array(0, dtype)
        maxima, failed = cuda.shared.array(WARPS, float64), cuda.shared.array(1, int32)
        block = _make_block(n, uint64(sizes[1]))
        largest = _load_matrix(source, n, lower, block, (shared, work), exchange, (maxima, failed))
        factor = dtype(1)
        if 0.0 <= largest < math.inf:
            factor = dtype(power_of_two(largest, most))
        if block.number == 0 and t == 0:
            numbers[uint64(3) * n] = factor
            numbers[uint64(3) * n + one] = dtype(largest)
        if not 0.0 <= largest < math.inf:
            return
        if factor != dtype(1):
            scale_rows(_far_rows(block, n, uint64(0)), n, work, factor)
            scale_rows(_near_rows(block, n, uint64(0)), n, shared, factor)
            cuda.syncthreads()
        tau, turn, scale, first = dtype(0), uint64(0), factor, uint64(0)
        for k in range(n):
            odd = k % uint64(2)
            step = Step(n, k, n * (one + odd), n * (uint64(2) - odd))
            received = exchange.products[turn:], exchange.rows[turn:]
            tau = eliminate(step, tau, scale, block, shared, received, numbers)
            if k == n - one:
                break
            if k == block.number + first * block.count:
                first += one  # the rows that are done with
                if keeps:
                    i = t
                    while i < n:
                        vectors[k * n + i] = shared[step.u + i] if i > k else dtype(0)
                        i += uint64(cuda.blockDim.x)
            turn = n - turn
            published, products = exchange.rows[turn:], exchange.products[turn:]
            if first < block.outside:
                update_rows(_far_rows(block, n, first), step, work, shared, published)
            update_rows(_near_rows(block, n, first), step, shared, shared, published)
            cuda.syncthreads()
            if first < block.outside:
                store_products(_far_rows(block, n, first), shared, products)
            store_products(_near_rows(block, n, first), shared, products)
            if meet(exchange.control, (k + uint64(2)) * block.count, failed):
                return
            scale = dtype(1)

    return reduce


KERNELS = {f"reduce_{dtype}": _make_kernel(dtype) for dtype in (float32, float64)}
"""The kernels by name, for each type."""
