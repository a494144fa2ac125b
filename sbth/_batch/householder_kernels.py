"""Kernels that reduce a batch of full or band matrices to tridiagonal form, a block for each."""

import math

import numpy as np
from numba import complex64, complex128, float32, float64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._batch import warp_steps
from sbth._batch.matrix_loads import largest_of, make_load
from sbth._batch.reduction_steps import (
    make_reduction,
    make_scratch,
    make_transformation,
    scratch_size,
)
from sbth._batch.status import FINE, NOT_FINITE
from sbth._gpu.arithmetic import arithmetic_of
from sbth._gpu.blocks_of_threads import GLOBAL, LANES, REGISTERS, SHARED, kernel_name, power_of_two
from sbth._problem.limits import LARGEST_GPU_BATCH as LARGEST_ORDER

MOST_THREADS = 256
"""Threads of a block that reduces a matrix in shared memory, at most (not tuned)."""

RESIDENT_WARPS = 16
"""Warps of a multiprocessor for which the rows of small matrices find registers, 128 a thread."""

_BOUNDS = {
    SHARED: (MOST_THREADS, 2),
    GLOBAL: (LARGEST_ORDER, 1),
    REGISTERS: (warp_steps.ROWS, RESIDENT_WARPS),
}
"""Threads of a block, at most, and resident blocks, at least, by the place of the matrix."""

_scratch_size = kernel(device=True)(scratch_size)


def make_kernel(dtype, storage, bounds):
    """Make the kernel for matrices of a type in a place, with the bounds of its launches."""
    arithmetic, real = arithmetic_of(dtype)
    most = int(np.finfo(str(real)).maxexp) - 2
    load = make_load(arithmetic)
    in_registers, in_shared_memory = storage == REGISTERS, storage != GLOBAL
    if in_registers:
        reduce_matrix = warp_steps.make_reduction(dtype)
        form_reflections = warp_steps.make_transformation(dtype)
    else:
        reduce_matrix = make_reduction(arithmetic)
        form_reflections = make_transformation(arithmetic)

    @kernel(launch_bounds=bounds)
    def reduce(source, layout, size, work, tridiagonals, factors, status, has_vectors):
        """Reduce matrix number `blockIdx.x` of order n, multiplied by its factor.

        Stores Q D by columns in `work` (count, n^2) if `has_vectors`; without shared memory this is
        where the matrix is reduced. `size` is n and the leading dimension.
        """
        b, t, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
        zero, (n, ld) = dtype(0), size
        offset, row, column, width, step = layout
        memory = cuda.shared.array(0, dtype)
        rows = warp_steps.ROWS if in_registers else n
        scratch = make_scratch(memory, rows, threads)
        if in_shared_memory:
            first = _scratch_size(rows, threads)
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
    kernel_name("reduce", str(dtype), storage): make_kernel(dtype, storage, bounds)
    for dtype in (float32, float64, complex64, complex128)
    for storage, bounds in _BOUNDS.items()
    if storage != REGISTERS or dtype in (float32, float64)
}
"""The kernels by name: by type, and by the place of the matrix, registers only for real ones."""
