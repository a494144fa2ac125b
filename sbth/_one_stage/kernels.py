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

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.intrinsics import warp
from hetero.jit import kernel
from sbth._bulge_chasing.flags import SPINS, add_release, wait_for_progress
from sbth._bulge_chasing.householder_formulas import reflection
from sbth._gpu_batches.blocks_of_threads import LANES, sum_over_lanes
from sbth._gpu_batches.householder_kernels import power_of_two

MOST_THREADS = 16 * LANES
"""Threads of a block at most."""

_WARPS = 16
"""Warps of a block at most."""

_ROWS = 4
"""Rows that a warp works on at once; `_update_rows` is written for 4."""

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


class Step(NamedTuple):
    """A step of the reduction. All numbers are uint64.

    Attributes
    ----------
    n, k : order of the matrix, number of the column
    v, u : indices in shared memory of the vectors of the last reflection and of this one
    """

    n: int
    k: int
    v: int
    u: int


class Rows(NamedTuple):
    """Rows of a block that follow each other in memory. All numbers are uint64.

    Attributes
    ----------
    start : index of the first element
    first, stride : number of the first row, and the distance of the others
    count : number of rows
    slices : number of warps that share the columns of some rows
    partial : index in shared memory of what the warps compute of their products
    """

    start: int
    first: int
    stride: int
    count: int
    slices: int
    partial: int


def scratch_size(n: int, blocks: int) -> int:
    """Return the number of elements of shared memory that a block needs besides its rows.

    They are the vectors w and two of reflections, then 16 numbers for each row, two times 16 for
    sums over the block, and one for the first element of a column.
    """
    return 3 * n + _WARPS * (-(-n // blocks) + 2) + 1


@_device
def _meet(control, arrivals):
    """Wait until all blocks have called this `arrivals` / blocks times; return 1 after a timeout.

    What any thread has written before is visible to all threads afterwards.
    """
    failed = cuda.shared.array(1, int32)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        failed[0] = 0
        if cuda.gridDim.x > 1:
            add_release(control, 0, 1)
            failed[0] = wait_for_progress(control, 0, arrivals, control, SPINS)
    cuda.syncthreads()
    return failed[0]


@_device
def _load_rows(source, n, lower, rows, memory):
    """Store rows of a symmetric matrix in `memory`; return this thread's largest magnitude."""
    largest = float64(0.0)
    for s in range(rows.count):
        i = rows.first + s * rows.stride
        for j in range(uint64(cuda.threadIdx.x), n, uint64(cuda.blockDim.x)):
            is_stored = j <= i if lower else j >= i
            value = source[i * n + j if is_stored else j * n + i]
            memory[rows.start + s * n + j] = value
            size = abs(float64(value))
            largest = max(largest, size if size >= 0.0 else math.inf)
    return largest


@_device
def _largest_of_block(value, maxima):
    """Return the largest value of the threads of a block."""
    shift = LANES // 2
    while shift > 0:
        value = max(value, cuda.shfl_xor_sync(warp.FULL_MASK, value, shift))
        shift //= 2
    if cuda.threadIdx.x % LANES == 0:
        maxima[cuda.threadIdx.x // LANES] = value
    cuda.syncthreads()
    value = maxima[0]
    for i in range(1, cuda.blockDim.x // LANES):
        value = max(value, maxima[i])
    return value


@_device
def _scale_rows(rows, n, memory, factor):
    """Multiply the elements of rows by a factor."""
    for index in range(uint64(cuda.threadIdx.x), rows.count * n, uint64(cuda.blockDim.x)):
        memory[rows.start + index] *= factor


@_device
def _sum_four_over_lanes(y0, y1, y2, y3):
    """Return the sum of one of four numbers over a warp: y0 in its first 8 lanes, and so on."""
    lane = cuda.threadIdx.x % LANES
    upper, odd = (lane & 16) != 0, (lane & 8) != 0
    z0 = y2 if upper else y0
    z1 = y3 if upper else y1
    z0 += cuda.shfl_xor_sync(warp.FULL_MASK, y0 if upper else y2, 16)
    z1 += cuda.shfl_xor_sync(warp.FULL_MASK, y1 if upper else y3, 16)
    z = z1 if odd else z0
    z += cuda.shfl_xor_sync(warp.FULL_MASK, z0 if odd else z1, 8)
    z += cuda.shfl_xor_sync(warp.FULL_MASK, z, 4)
    z += cuda.shfl_xor_sync(warp.FULL_MASK, z, 2)
    return z + cuda.shfl_xor_sync(warp.FULL_MASK, z, 1)


@_device
def _sum_over_block(value, shared, sums):
    """Return the sum over a block of 4, 8, ... warps, by way of numbers from index `sums` on."""
    total = sum_over_lanes(value)
    number = uint64(cuda.threadIdx.x) // uint64(LANES)
    if uint64(cuda.threadIdx.x) % uint64(LANES) == 0:
        shared[sums + number] = total
    cuda.syncthreads()
    s0, s1 = shared[sums], shared[sums + uint64(1)]
    s2, s3 = shared[sums + uint64(2)], shared[sums + uint64(3)]
    place, end = sums + uint64(4), sums + uint64(cuda.blockDim.x) // uint64(LANES)
    while place < end:
        s0 += shared[place]
        s1 += shared[place + uint64(1)]
        s2 += shared[place + uint64(2)]
        s3 += shared[place + uint64(3)]
        place += uint64(4)
    return (s0 + s1) + (s2 + s3)


@_device
def _slice_count(count):
    """Return how many warps share the columns of `count` rows."""
    warps = int32(cuda.blockDim.x) // int32(LANES)
    groups = (int32(count) + int32(_ROWS - 1)) // int32(_ROWS)
    return uint64(warps // max(min(groups, warps), int32(1)))


@_device
def _update_rows(rows, step, memory, shared, published):
    """Update rows in the columns from k + 1 on, and multiply them by u, by all warps of a block.

    Four rows that follow each other are updated together, the last ones as often as needed for
    four. Row k + 1 is published.
    """
    n, one = step.n, uint64(1)
    lane, number = uint64(cuda.threadIdx.x) % uint64(LANES), int32(cuda.threadIdx.x) // int32(LANES)
    slices = rows.slices
    width = int32(cuda.blockDim.x) // int32(LANES) // int32(slices)
    part = uint64(number // width)
    if part >= slices or rows.count == 0:
        return
    stride = slices * uint64(LANES)
    s = uint64(_ROWS) * uint64(number % width)
    while s < rows.count:
        left = rows.count - s
        i, r0 = rows.first + s * rows.stride, rows.start + s * n
        i1, r1 = (i + rows.stride, r0 + n) if left > one else (i, r0)
        i2, r2 = (i1 + rows.stride, r1 + n) if left > uint64(2) else (i1, r1)
        i3, r3 = (i2 + rows.stride, r2 + n) if left > uint64(3) else (i2, r2)
        v0, v1, v2, v3 = (
            *(shared[step.v + i], shared[step.v + i1]),
            *(shared[step.v + i2], shared[step.v + i3]),
        )
        w0, w1, w2, w3 = shared[i], shared[i1], shared[i2], shared[i3]
        is_published = i == step.k + one
        y0 = y1 = y2 = y3 = v0 - v0
        j = step.k + one + part * uint64(LANES) + lane
        while j < n:
            v_j, w_j, u_j = shared[step.v + j], shared[j], shared[step.u + j]
            x0 = memory[r0 + j] - v0 * w_j - w0 * v_j
            x1 = memory[r1 + j] - v1 * w_j - w1 * v_j
            x2 = memory[r2 + j] - v2 * w_j - w2 * v_j
            x3 = memory[r3 + j] - v3 * w_j - w3 * v_j
            y0 += x0 * u_j
            y1 += x1 * u_j
            y2 += x2 * u_j
            y3 += x3 * u_j
            memory[r0 + j] = x0
            memory[r1 + j] = x1
            memory[r2 + j] = x2
            memory[r3 + j] = x3
            if is_published:
                published[j] = x0
            j += stride
        place = rows.partial + uint64(_WARPS) * s + part
        if SIMULATOR:
            for row, y in enumerate((y0, y1, y2, y3)[: rows.count - s]):
                shared[place + _WARPS * row] = y
        else:
            total = _sum_four_over_lanes(y0, y1, y2, y3)
            row = lane // uint64(8)
            if lane % uint64(8) == 0 and row < left:
                shared[place + uint64(_WARPS) * row] = total
        s += uint64(_ROWS) * uint64(width)


@_device
def _store_products(rows, shared, products):
    """Add what the warps computed of the products of rows, with 16 threads for each row."""
    thread = uint64(cuda.threadIdx.x)
    part, base = thread % uint64(_WARPS), thread // uint64(LANES) * uint64(LANES // _WARPS)
    if SIMULATOR:
        part, base = uint64(0), thread
    # All threads of a warp repeat this equally often, because they exchange numbers.
    while base < rows.count:
        s = base if SIMULATOR else base + thread % uint64(LANES) // uint64(_WARPS)
        place = rows.partial + uint64(_WARPS) * min(s, rows.count - uint64(1))
        total = shared[place + min(part, rows.slices - uint64(1))]
        if SIMULATOR:
            for other in range(1, rows.slices):
                total += shared[place + other]
        else:
            if part >= rows.slices:
                total = total - total
            for shift in (8, 4, 2, 1):
                total += cuda.shfl_xor_sync(warp.FULL_MASK, total, shift)
        if part == 0 and s < rows.count:
            products[rows.first + s * rows.stride] = total
        base += uint64(cuda.blockDim.x) // uint64(_WARPS)


@_device
def _load_column(step, tau, scale, shared, exchange, sums):
    """Compute w of the last step, and column k from row k as it was before the last step.

    The vector u gets the column. `tau` is that of the last step, and `scale` multiplies the row.
    `sums` are the indices of 2 _WARPS + 1 numbers. Returns the sum of the squares to eliminate,
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
        dot = _sum_over_block(dot, shared, sums)
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
            shared[sums + uint64(2 * _WARPS)] = x
        else:
            tail += x * x
        i += threads
    return _sum_over_block(tail, shared, sums + uint64(_WARPS)), diagonal


def _make_kernel(dtype):
    """Make the kernel for a type."""
    most = int(np.finfo(str(dtype)).maxexp) - 2

    @kernel(launch_bounds=(MOST_THREADS, 1))
    def reduce(source, sizes, flags, work, exchange, numbers, vectors):
        """Reduce a matrix of which one triangle is read: the lower one if the first flag is set.

        `sizes` is the order n, and how many rows of a block fit in shared memory; `work` holds the
        others, row after row of each block. `numbers` (3 n + 2) takes the diagonal, the
        subdiagonal, the factors tau of the reflections, the power of two by which the matrix was
        multiplied, and the largest magnitude. If the second flag is set, row k of `vectors` (n^2)
        takes the vector of the reflection of column k.
        """
        n, capacity = uint64(sizes[0]), uint64(sizes[1])
        lower, keeps = flags
        b, blocks = uint64(cuda.blockIdx.x), uint64(cuda.gridDim.x)
        t, threads = uint64(cuda.threadIdx.x), uint64(cuda.blockDim.x)
        zero, one = uint64(0), uint64(1)
        shared = cuda.shared.array(0, dtype)
        maxima = cuda.shared.array(_WARPS, float64)
        most_slots = (n + blocks - one) // blocks
        slots = (n - b + blocks - one) // blocks if b < n else zero
        most_outside = most_slots - min(most_slots, capacity)
        outside = slots - min(slots, capacity)
        partial = uint64(3) * n
        sums = partial + uint64(_WARPS) * most_slots
        near = sums + uint64(2 * _WARPS) + one
        far = b * most_outside * n
        far_rows = Rows(far, b, blocks, outside, one, partial)
        near_rows = Rows(near, b + outside * blocks, blocks, slots - outside, one, partial)
        largest = max(
            _load_rows(source, n, lower, far_rows, work),
            _load_rows(source, n, lower, near_rows, shared),
        )
        largest = _largest_of_block(largest, maxima)
        if t == 0:
            exchange.largest[b] = largest
        if b == 0:
            for j in range(t, n, threads):
                exchange.rows[j] = shared[near + j] if outside == 0 else work[far + j]
        if _meet(exchange.control, blocks):
            return
        for other in range(blocks):
            largest = max(largest, exchange.largest[other])
        factor = dtype(1)
        if largest < math.inf:
            factor = dtype(power_of_two(largest, most))
        if b == 0 and t == 0:
            numbers[uint64(3) * n] = factor
            numbers[uint64(3) * n + one] = dtype(largest)
        if not largest < math.inf:
            return
        if factor != dtype(1):
            _scale_rows(far_rows, n, work, factor)
            _scale_rows(near_rows, n, shared, factor)
            cuda.syncthreads()
        tau, turn, scale, first = dtype(0), zero, factor, zero
        for k in range(n):
            odd = k % uint64(2)
            step = Step(n, k, n * (one + odd), n * (uint64(2) - odd))
            received = exchange.products[turn:], exchange.rows[turn:]
            tail, diagonal = _load_column(step, tau, scale, shared, received, sums)
            is_mine = k == b + first * blocks
            if is_mine and t == 0:
                numbers[k] = diagonal
            if k == n - one:
                break
            beta, tau, divisor = reflection(shared[sums + uint64(2 * _WARPS)], tail)
            for i in range(k + one + t, n, threads):
                u_i = shared[step.u + i] * divisor if i > k + one else dtype(1)
                shared[step.u + i] = u_i
            if is_mine and t == 0:
                numbers[n + k] = beta
                numbers[uint64(2) * n + k] = tau
            cuda.syncthreads()
            if is_mine and keeps:
                for i in range(t, n, threads):
                    vectors[k * n + i] = shared[step.u + i] if i > k else dtype(0)
            turn = n - turn
            first += one if is_mine else zero  # the number of rows that are done with
            published, products = exchange.rows[turn:], exchange.products[turn:]
            rest = outside - min(first, outside)
            if rest > 0:
                far_rows = Rows(
                    *(far + first * n, b + first * blocks, blocks),
                    *(rest, _slice_count(rest), partial),
                )
                _update_rows(far_rows, step, work, shared, published)
            begin = max(first, outside)
            near_rows = Rows(
                *(near + (begin - outside) * n, b + begin * blocks, blocks),
                *(slots - begin, _slice_count(slots - begin)),
                partial + uint64(_WARPS) * rest,
            )
            _update_rows(near_rows, step, shared, shared, published)
            cuda.syncthreads()
            if rest > 0:
                _store_products(far_rows, shared, products)
            _store_products(near_rows, shared, products)
            if _meet(exchange.control, (k + uint64(2)) * blocks):
                return
            scale = dtype(1)

    return reduce


KERNELS = {f"reduce_{dtype}": _make_kernel(dtype) for dtype in (float32, float64)}
"""The kernels by name, for each type."""
