"""Steps of the reduction of a Hermitian matrix to tridiagonal form by a block of threads.

A matrix is stored by columns, both triangles. Each step makes the reflection 1 - tau u u^H of a
column, and subtracts v w^H + w v^H of the step before from the rest of the matrix in the same pass
that multiplies the rest by u, so that a step reads and writes each element once (as the blocks of
Dongarra, Hammarling and Sorensen 1989, of one column each).

tau is real for complex matrices, too. The elements beside the diagonal are then complex: beta_k
times a phase. They become real by a diagonal matrix D with D_0 = 1 and D_(k+1) = D_k phase_k, the
`units`: A = (Q D) T (Q D)^H.
"""

from typing import Any, NamedTuple

from numba import uint64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._gpu.arithmetic import Arithmetic
from sbth._gpu.blocks_of_threads import LANES, sum_over_block

_UNROLL = 4
"""Columns that a thread loads before it stores the first; `_update_row` is written for 4."""

_device = kernel(device=True)


class Scratch(NamedTuple):
    """Shared memory of a block, of the type of the matrix.

    Attributes
    ----------
    v, w : array (n,)
        v w^H + w v^H is still to be subtracted from the rest of the matrix. For complex matrices,
        elements of `w` that no later step reads are the units.
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


@_device
def make_scratch(memory, n, threads):
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
def _update_row(a, position, row, count, scratch):
    """Update `count` elements of a row of real numbers, and return their product with u.

    `position` holds the index in `a` and the column of the first element, and their steps; `row` is
    v and w at the row.
    """
    v, w, u = scratch.v, scratch.w, scratch.u
    index, j, stride, skip = position
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
def _update_complex_row(a, position, row, count, scratch):
    """Do the same for two elements at a time: more complex numbers would not fit in registers."""
    v, w, u = scratch.v, scratch.w, scratch.u
    index, j, stride, skip = position
    v_i, w_i = row
    total = v_i - v_i
    for _ in range(count // 2):
        index1, j1 = index + stride, j + skip
        x0 = a[index] - v_i * w[j].conjugate() - w_i * v[j].conjugate()
        x1 = a[index1] - v_i * w[j1].conjugate() - w_i * v[j1].conjugate()
        total += x0 * u[j] + x1 * u[j1]
        a[index] = x0
        a[index1] = x1
        index, j = index1 + stride, j1 + skip
    if count % 2 == 1:
        x = a[index] - v_i * w[j].conjugate() - w_i * v[j].conjugate()
        total += x * u[j]
        a[index] = x
    return total


def _make_elimination(arithmetic: Arithmetic):
    """Make the function that makes the reflection of a column."""
    square, reflect = arithmetic.square, arithmetic.reflect

    @_device
    def eliminate(a, ld, n, k, scratch, tridiagonal):
        """Make the reflection of column k; return tau and the phase.

        The reflection's vector goes to u and below the diagonal.
        """
        v, w, u = scratch.v, scratch.w, scratch.u
        diagonal, below = tridiagonal
        t, threads = cuda.threadIdx.x, cuda.blockDim.x
        v_k, w_k = v[k].conjugate(), w[k].conjugate()
        tail = (v_k - v_k).real
        for i in range(k + 1 + t, n, threads):
            x = a[k * ld + i] - v[i] * w_k - w[i] * v_k
            u[i] = x
            if i == k + 1:
                scratch.head[0] = x
            else:
                tail += square(x)
        tail = sum_over_block(tail, scratch.first_sums).real
        beta, tau, factor, phase = reflect(scratch.head[0], tail)
        for i in range(k + 1 + t, n, threads):
            x = u[i] * factor
            u[i] = x if i > k + 1 else v_k - v_k + 1
            a[k * ld + i] = u[i]
        if t == 0:
            diagonal[k] = (a[k * ld + k] - 2 * v_k * w_k.conjugate()).real
            below[k] = beta
            scratch.taus[k] = tau
        return tau, phase

    return eliminate


def make_reduction(arithmetic: Arithmetic):
    """Make the function that reduces a matrix of real or of complex numbers."""
    is_complex, eliminate = arithmetic.is_complex, _make_elimination(arithmetic)
    update_row = _update_complex_row if is_complex else _update_row

    @_device
    def reduce(a, ld, n, scratch, tridiagonal, zero):
        """Reduce a matrix of at most as many rows as the block has threads.

        The vectors of the reflections stay below the subdiagonal.
        """
        v, w, u, partial = scratch.v, scratch.w, scratch.u, scratch.partial
        t, threads = cuda.threadIdx.x, cuda.blockDim.x
        for i in range(t, n, threads):
            v[i] = w[i] = zero
        cuda.syncthreads()
        unit = type(zero)(1)
        for k in range(n - 1):
            tau, phase = eliminate(a, ld, n, k, scratch, tridiagonal)
            if is_complex:
                if t == 0:
                    w[k] = unit
                unit *= phase
            cuda.syncthreads()
            # Groups of threads, each with a thread for every row that is left, share the columns.
            width = (n - 2 - k) // LANES * LANES + LANES
            groups, group, i = threads // width, t // width, k + 1 + t % width
            y = zero if is_complex else tau - tau
            if group < groups and i < n:
                j = k + 1 + group
                count = (n - j + groups - 1) // groups
                position = uint64(j * ld + i), uint64(j), uint64(groups * ld), uint64(groups)
                y = update_row(a, position, (v[i], w[i]), count, scratch)
            partial[t] = y
            cuda.syncthreads()
            i = k + 1 + t
            y = zero if is_complex else tau - tau
            product = tau - tau
            if i < n:
                for group in range(groups):
                    y += partial[group * width + t]
                y *= tau
                product = (y * u[i].conjugate()).real
            product = sum_over_block(product, scratch.second_sums).real
            if i < n:
                w[i] = y - tau * product / 2 * u[i]
                v[i] = u[i]
            cuda.syncthreads()
        if t == 0:
            tridiagonal[0][n - 1] = a[(n - 1) * ld + n - 1].real
            tridiagonal[1][n - 1] = 0.0
            if is_complex:
                w[n - 1] = unit

    return reduce


def make_transformation(arithmetic: Arithmetic):
    """Make the function that multiplies the reflections of a reduction."""
    is_complex, sum_over_lanes = arithmetic.is_complex, arithmetic.sum_over_lanes

    @_device
    def form_reflections(a, ld, n, scratch, zero):
        """Replace the vectors of the reflections by Q D, a warp for each column."""
        taus, units = scratch.taus, scratch.w
        lane, warp = cuda.threadIdx.x % LANES, cuda.threadIdx.x // LANES
        warps = cuda.blockDim.x // LANES
        if cuda.threadIdx.x == 0:
            a[(n - 1) * ld + n - 1] = units[n - 1] if is_complex else zero + 1
        for k in range(n - 3, -1, -1):
            cuda.syncthreads()  # the vector in column k + 1 is not needed any more
            tau, u = taus[k].real, k * ld
            for j in range(k + 1 + warp, n, warps):
                column = j * ld
                if j == k + 1:
                    factor = -tau * units[j] if is_complex else -tau
                    for i in range(k + 2 + lane, n, LANES):
                        a[column + i] = factor * a[u + i]
                    if lane == 0:
                        a[column + j] = units[j] * (1 - tau) if is_complex else 1 - tau
                else:
                    product = zero
                    for i in range(k + 2 + lane, n, LANES):
                        product += a[u + i].conjugate() * a[column + i]
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

    return form_reflections
