"""Reduction of a batch of full or band matrices to tridiagonal form, a block for each matrix.

A matrix is stored by columns, both triangles. Each step makes the reflection 1 - tau u u^T of a
column, and subtracts v w^T + w v^T of the step before from the rest of the matrix in the same pass
that multiplies the rest by u, so that a step reads and writes each element once (as the blocks of
Dongarra, Hammarling and Sorensen 1989, of one column each).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import float32, float64, uint64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._bulge_chasing.householder_formulas import reflection
from sbth._gpu_batches import LARGEST_ORDER
from sbth._gpu_batches.blocks_of_threads import (
    LANES,
    kernel_name,
    sum_over_block,
    sum_over_lanes,
)
from sbth._gpu_batches.status import FINE, NOT_FINITE

MOST_THREADS = 256
"""Threads of a block that reduces a matrix in shared memory, at most (not tuned)."""

_UNROLL = 4
"""Columns that a thread loads before it stores the first; `_update_row` is written for 4."""

_NEAR_ONE = 2.0**-10, 2.0**10
"""Largest elements of matrices that are not scaled."""

_device = kernel(device=True)


class Scratch(NamedTuple):
    """Shared memory of a block.

    Attributes
    ----------
    v, w : array (n,)
        v w^T + w v^T is still to be subtracted from the rest of the matrix.
    u : array (n,)
        The vector of the reflection.
    partial : array (threads,)
        What each thread computes of a product.
    first_sums, second_sums : arrays (threads / LANES,)
    head : array (1,)
        First element of the column that is eliminated.
    taus : array (n,)
        The factors of all reflections.
    """

    v: Any
    w: Any
    u: Any
    partial: Any
    first_sums: Any
    second_sums: Any
    head: Any
    taus: Any


def scratch_size(n: int, threads: int) -> int:
    """Return the number of elements of a `Scratch`."""
    return 4 * n + threads + 2 * (threads // LANES) + 1


_scratch_size = _device(scratch_size)


@_device
def _make_scratch(memory, n, threads):
    """Return the Scratch at the beginning of shared memory."""
    warps, end = threads // LANES, 4 * n + threads
    return Scratch(
        memory[:n],
        memory[n : 2 * n],
        memory[2 * n : 3 * n],
        memory[4 * n : end],
        memory[end : end + warps],
        memory[end + warps : end + 2 * warps],
        memory[end + 2 * warps : end + 2 * warps + 1],
        memory[3 * n : 4 * n],
    )


@_device
def power_of_two(largest, most):
    """Return the power of two, up to 2^most, by which a matrix with finite elements gets norm 1.

    The iteration compares elements with 1, and rotations square them.
    """
    if largest == 0.0 or (_NEAR_ONE[0] < largest and largest < _NEAR_ONE[1]):
        return 1.0
    return math.ldexp(1.0, min(-math.frexp(largest)[1], most))


@_device
def largest_of(memory, count):
    """Return the largest element of an array."""
    largest = memory[0]
    for i in range(1, count):
        largest = max(largest, memory[i])
    return largest


@_device
def _load(source, places, a, ld, n, zero):
    """Store a symmetric matrix by columns; return this thread's largest magnitude.

    Element (i, j) with 0 <= i - j <= width is source[offset + i row + j column]; NaN counts as
    infinity.
    """
    offset, row, column, width = places
    largest = float64(0.0)
    for slow in range(cuda.threadIdx.x // LANES, n, cuda.blockDim.x // LANES):
        for fast in range(cuda.threadIdx.x % LANES, n, LANES):
            i, j = (fast, slow) if row == 1 else (slow, fast)
            if i >= j:
                value = zero
                if i - j <= width:
                    value = source[offset + i * row + j * column]
                a[j * ld + i] = value
                a[i * ld + j] = value
                size = abs(float64(value))
                largest = max(largest, size if size >= 0.0 else math.inf)
    return largest


@_device
def _update_row(a, place, row, count, scratch):
    """Update `count` elements of a row of the rest, and return their product with u.

    `place` holds the index in `a` and the column of the first element, and their steps; `row` is v
    and w at the row.
    """
    v, w, u = scratch.v, scratch.w, scratch.u
    index, j, stride, skip = place
    v_i, w_i = row
    total = v_i - v_i
    for _ in range(count // _UNROLL):
        index1, j1 = index + stride, j + skip
        index2, j2 = index1 + stride, j1 + skip
        index3, j3 = index2 + stride, j2 + skip
        x0 = a[index] - v_i * w[j] - w_i * v[j]
        x1 = a[index1] - v_i * w[j1] - w_i * v[j1]
        x2 = a[index2] - v_i * w[j2] - w_i * v[j2]
        x3 = a[index3] - v_i * w[j3] - w_i * v[j3]
        total += (x0 * u[j] + x1 * u[j1]) + (x2 * u[j2] + x3 * u[j3])
        a[index] = x0
        a[index1] = x1
        a[index2] = x2
        a[index3] = x3
        index, j = index3 + stride, j3 + skip
    for _ in range(count % _UNROLL):
        x = a[index] - v_i * w[j] - w_i * v[j]
        total += x * u[j]
        a[index] = x
        index, j = index + stride, j + skip
    return total


@_device
def _eliminate(a, ld, n, k, scratch, tridiagonal):
    """Make the reflection of column k; return tau. Its vector goes to u and below the diagonal."""
    v, w, u = scratch.v, scratch.w, scratch.u
    diagonal, below = tridiagonal
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    v_k, w_k = v[k], w[k]
    tail = v_k - v_k
    for i in range(k + 1 + t, n, threads):
        x = a[k * ld + i] - v[i] * w_k - w[i] * v_k
        u[i] = x
        if i == k + 1:
            scratch.head[0] = x
        else:
            tail += x * x
    tail = sum_over_block(tail, scratch.first_sums)
    beta, tau, factor = reflection(scratch.head[0], tail)
    for i in range(k + 1 + t, n, threads):
        x = u[i] * factor
        u[i] = x if i > k + 1 else v_k - v_k + 1
        a[k * ld + i] = u[i]
    if t == 0:
        diagonal[k] = a[k * ld + k] - 2 * v_k * w_k
        below[k] = beta
        scratch.taus[k] = tau
    return tau


@_device
def _reduce(a, ld, n, scratch, tridiagonal, zero):
    """Reduce a matrix of at most as many rows as the block has threads.

    The vectors of the reflections stay below the subdiagonal.
    """
    v, w, u, partial = scratch.v, scratch.w, scratch.u, scratch.partial
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    for i in range(t, n, threads):
        v[i] = w[i] = zero
    cuda.syncthreads()
    for k in range(n - 1):
        tau = _eliminate(a, ld, n, k, scratch, tridiagonal)
        cuda.syncthreads()
        # Groups of threads, each with a thread for every row that is left, share the columns.
        width = (n - 2 - k) // LANES * LANES + LANES
        groups, group, i = threads // width, t // width, k + 1 + t % width
        y = tau - tau
        if group < groups and i < n:
            j = k + 1 + group
            count = (n - j + groups - 1) // groups
            place = uint64(j * ld + i), uint64(j), uint64(groups * ld), uint64(groups)
            y = _update_row(a, place, (v[i], w[i]), count, scratch)
        partial[t] = y
        cuda.syncthreads()
        i = k + 1 + t
        y = product = tau - tau
        if i < n:
            for group in range(groups):
                y += partial[group * width + t]
            y *= tau
            product = y * u[i]
        product = sum_over_block(product, scratch.second_sums)
        if i < n:
            w[i] = y - tau * product / 2 * u[i]
            v[i] = u[i]
        cuda.syncthreads()
    if t == 0:
        tridiagonal[0][n - 1] = a[(n - 1) * ld + n - 1]
        tridiagonal[1][n - 1] = 0.0


@_device
def _form_reflections(a, ld, n, taus, zero):
    """Replace the vectors of the reflections by their product Q, a warp for each column."""
    lane, warp = cuda.threadIdx.x % LANES, cuda.threadIdx.x // LANES
    warps = cuda.blockDim.x // LANES
    if cuda.threadIdx.x == 0:
        a[(n - 1) * ld + n - 1] = zero + 1
    for k in range(n - 3, -1, -1):
        cuda.syncthreads()  # the vector in column k + 1 is not needed any more
        tau, u = taus[k], k * ld
        for j in range(k + 1 + warp, n, warps):
            column = j * ld
            if j == k + 1:
                for i in range(k + 2 + lane, n, LANES):
                    a[column + i] = -tau * a[u + i]
                if lane == 0:
                    a[column + j] = 1 - tau
            else:
                product = zero
                for i in range(k + 2 + lane, n, LANES):
                    product += a[u + i] * a[column + i]
                product = tau * sum_over_lanes(product)
                for i in range(k + 2 + lane, n, LANES):
                    a[column + i] -= product * a[u + i]
                if lane == 0:
                    a[column + k + 1] = -product
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
        a[i * ld] = zero
        a[i] = zero
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        a[0] = zero + 1


def _make_kernel(dtype, in_shared_memory):
    """Make the kernel for matrices of a type, which fit in shared memory or do not."""
    most = int(np.finfo(str(dtype)).maxexp) - 2

    @kernel(launch_bounds=(MOST_THREADS, 2) if in_shared_memory else (LARGEST_ORDER, 1))
    def reduce(source, places, size, work, tridiagonals, factors, status, has_vectors):
        """Reduce matrix number `blockIdx.x` of order n, multiplied by its factor.

        Stores Q by columns in `work` (count, n^2) if `has_vectors`; without shared memory this is
        where the matrix is reduced. `size` is n and the leading dimension.
        """
        b, t, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
        zero, (n, ld) = dtype(0), size
        offset, row, column, width, step = places
        memory = cuda.shared.array(0, dtype)
        scratch = _make_scratch(memory, n, threads)
        if in_shared_memory:
            first = _scratch_size(n, threads)
            a = memory[first : first + ld * n]
        else:
            a = work[b]
        scratch.partial[t] = _load(source, (b * step + offset, row, column, width), a, ld, n, zero)
        cuda.syncthreads()
        largest = float64(largest_of(scratch.partial, threads))
        factor = 1.0
        is_finite = largest < math.inf
        if is_finite:
            factor = power_of_two(largest, most)
        if t == 0:
            factors[b] = factor
            status[b] = FINE if is_finite else NOT_FINITE
        if factor != 1.0 or not is_finite:
            scale = dtype(factor) if is_finite else zero
            for index in range(t, n * ld, threads):
                a[index] = a[index] * scale if is_finite else scale
        cuda.syncthreads()
        _reduce(a, ld, n, scratch, (tridiagonals[0, b], tridiagonals[1, b]), zero)
        if has_vectors:
            _form_reflections(a, ld, n, scratch.taus, zero)
            if in_shared_memory:
                cuda.syncthreads()
                for column_number in range(t // LANES, n, threads // LANES):
                    for row_number in range(t % LANES, n, LANES):
                        work[b, column_number * n + row_number] = a[column_number * ld + row_number]

    return reduce


KERNELS = {
    kernel_name("reduce", str(dtype), in_shared): _make_kernel(dtype, in_shared)
    for dtype in (float32, float64)
    for in_shared in (True, False)
}
"""The kernels by name: by type, and by whether the matrix is in shared memory."""
