"""Rows of a block of the kernel: how they are loaded, changed and multiplied by a vector."""

import math
from typing import NamedTuple

from numba import float64, int32, uint64

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.intrinsics import warp
from hetero.jit import kernel
from sbth._gpu.block_sums import WARPS
from sbth._gpu.blocks_of_threads import LANES

ROWS = 4
"""Rows that a warp works on at once; `update_rows` is written for 4."""

_device = kernel(device=True)


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


@_device
def load_rows(source, n, lower, rows, memory):
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
def scale_rows(rows, n, memory, factor):
    """Multiply the elements of rows by a factor."""
    for index in range(uint64(cuda.threadIdx.x), rows.count * n, uint64(cuda.blockDim.x)):
        memory[rows.start + index] *= factor


@_device
def slice_count(count):
    """Return how many warps share the columns of `count` rows."""
    warps = int32(cuda.blockDim.x) // int32(LANES)
    groups = (int32(count) + int32(ROWS - 1)) // int32(ROWS)
    return uint64(warps // max(min(groups, warps), int32(1)))


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
def update_rows(rows, step, memory, shared, published):
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
    s = uint64(ROWS) * uint64(number % width)
    while s < rows.count:
        left = rows.count - s
        i, r0 = rows.first + s * rows.stride, rows.start + s * n
        i1, r1 = (i + rows.stride, r0 + n) if left > one else (i, r0)
        i2, r2 = (i1 + rows.stride, r1 + n) if left > uint64(2) else (i1, r1)
        i3, r3 = (i2 + rows.stride, r2 + n) if left > uint64(3) else (i2, r2)
        v0, v1 = shared[step.v + i], shared[step.v + i1]
        v2, v3 = shared[step.v + i2], shared[step.v + i3]
        w0, w1, w2, w3 = shared[i], shared[i1], shared[i2], shared[i3]
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
            j += stride
        if i == step.k + one:
            j = step.k + one + part * uint64(LANES) + lane
            while j < n:
                published[j] = memory[r0 + j]
                j += stride
        index = rows.partial + uint64(WARPS) * s + part
        if SIMULATOR:
            for row, y in enumerate((y0, y1, y2, y3)[: rows.count - s]):
                shared[index + WARPS * row] = y
        else:
            total = _sum_four_over_lanes(y0, y1, y2, y3)
            row = lane // uint64(8)
            if lane % uint64(8) == 0 and row < left:
                shared[index + uint64(WARPS) * row] = total
        s += uint64(ROWS) * uint64(width)


@_device
def store_products(rows, shared, products):
    """Add what the warps computed of the products of rows, with 16 threads for each row."""
    thread = uint64(cuda.threadIdx.x)
    part, base = thread % uint64(WARPS), thread // uint64(LANES) * uint64(LANES // WARPS)
    if SIMULATOR:
        part, base = uint64(0), thread
    # All threads of a warp repeat this equally often, because they exchange numbers.
    while base < rows.count:
        s = base if SIMULATOR else base + thread % uint64(LANES) // uint64(WARPS)
        index = rows.partial + uint64(WARPS) * min(s, rows.count - uint64(1))
        total = shared[index + min(part, rows.slices - uint64(1))]
        if SIMULATOR:
            for other in range(1, rows.slices):
                total += shared[index + other]
        else:
            if part >= rows.slices:
                total = total - total
            for shift in (8, 4, 2, 1):
                total += cuda.shfl_xor_sync(warp.FULL_MASK, total, shift)
        if part == 0 and s < rows.count:
            products[rows.first + s * rows.stride] = total
        base += uint64(cuda.blockDim.x) // uint64(WARPS)
