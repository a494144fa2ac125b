"""Kernels that reduce a batch of full or band matrices to tridiagonal form, a block for each."""

import math

import numpy as np
from numba import complex64, complex128, float32, float64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._arithmetic import arithmetic_of
from sbth._gpu_batches import LARGEST_ORDER
from sbth._gpu_batches.blocks_of_threads import LANES, kernel_name
from sbth._gpu_batches.matrix_loads import largest_of, make_load, power_of_two
from sbth._gpu_batches.reduction_steps import (
    make_reduction,
    make_scratch,
    make_transformation,
    scratch_size,
)
from sbth._gpu_batches.status import FINE, NOT_FINITE

MOST_THREADS = 256
"""Threads of a block that reduces a matrix in shared memory, at most (not tuned)."""

_scratch_size = kernel(device=True)(scratch_size)


def _make_kernel(dtype, in_shared_memory):
    """Make the kernel for matrices of a type, which fit in shared memory or do not."""
    arithmetic, real = arithmetic_of(dtype)
    most = int(np.finfo(str(real)).maxexp) - 2
    load, reduce_matrix = make_load(arithmetic), make_reduction(arithmetic)
    form_reflections = make_transformation(arithmetic)

    @kernel(launch_bounds=(MOST_THREADS, 2) if in_shared_memory else (LARGEST_ORDER, 1))
    def reduce(source, places, size, work, tridiagonals, factors, status, has_vectors):
        """Reduce matrix number `blockIdx.x` of order n, multiplied by its factor.

        Stores Q D by columns in `work` (count, n^2) if `has_vectors`; without shared memory this is
        where the matrix is reduced. `size` is n and the leading dimension.
        """
        b, t, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
        zero, (n, ld) = dtype(0), size
        offset, row, column, width, step = places
        memory = cuda.shared.array(0, dtype)
        scratch = make_scratch(memory, n, threads)
        if in_shared_memory:
            first = _scratch_size(n, threads)
            a = memory[first : first + ld * n]
        else:
            a = work[b]
        scratch.partial[t] = load(source, (b * step + offset, row, column, width), a, ld, n, zero)
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
            scale = real(factor) if is_finite else real(0)
            for index in range(t, n * ld, threads):
                a[index] = a[index] * scale if is_finite else dtype(scale)
        cuda.syncthreads()
        reduce_matrix(a, ld, n, scratch, (tridiagonals[0, b], tridiagonals[1, b]), zero)
        if has_vectors:
            form_reflections(a, ld, n, scratch, zero)
            if in_shared_memory:
                cuda.syncthreads()
                for column_number in range(t // LANES, n, threads // LANES):
                    for row_number in range(t % LANES, n, LANES):
                        work[b, column_number * n + row_number] = a[column_number * ld + row_number]

    return reduce


KERNELS = {
    kernel_name("reduce", str(dtype), in_shared): _make_kernel(dtype, in_shared)
    for dtype in (float32, float64, complex64, complex128)
    for in_shared in (True, False)
}
"""The kernels by name: by type, and by whether the matrix is in shared memory."""
