"""Kernels for a batch of generalized problems A x = lambda B x, a block for each.

B = L L^H by Cholesky, C = L^-1 A L^-H has the same eigenvalues, and x = L^-H y for an eigenvector y
of C. Factors are stored by rows as Hermitian matrices F, with L below the diagonal and L^H above,
so that F is read along rows for L and for L^H.
"""

import math

from numba import complex64, complex128, float32, float64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._batch.matrix_loads import make_load
from sbth._batch.status import FINE, NOT_DEFINITE, NOT_FINITE, SECOND_NOT_FINITE
from sbth._gpu.arithmetic import arithmetic_of
from sbth._gpu.blocks_of_threads import LANES
from sbth._problem.limits import LARGEST_GPU_BATCH as LARGEST_ORDER

_device = kernel(device=True)


@_device
def _factor(f, n):
    """Factor a matrix, stored by rows, in place; return whether it is positive definite."""
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    is_definite = True
    for k in range(n):
        # Row k of L^H, from the diagonal on, by the rows above it.
        for i in range(k + t, n, threads):
            total = f[k * n + i]
            for j in range(k):
                total -= f[j * n + k].conjugate() * f[j * n + i]
            f[k * n + i] = total
        cuda.syncthreads()
        pivot = f[k * n + k].real
        is_definite = is_definite and pivot > 0
        root = math.sqrt(pivot) if is_definite else type(pivot)(1)
        inverse = type(pivot)(1) / root
        cuda.syncthreads()  # all threads have read the pivot
        for i in range(k + t, n, threads):
            value = f[k * n + i] * inverse
            if i == k:
                value = type(value)(root)
            f[k * n + i] = value
            f[i * n + k] = value.conjugate()
        cuda.syncthreads()
    return is_definite


@_device
def _substitute_all(f, y, n, is_from_end):
    """Solve L Z = Y, or L^H Z = Y if `is_from_end`, in place of Y (n, n), which is stored by rows.

    A thread solves for a column: it reads Y beside its neighbours, and F with all others.
    """
    for column in range(cuda.threadIdx.x, n, cuda.blockDim.x):
        one = type(f[0].real)(1)
        for p in range(n):
            i = n - 1 - p if is_from_end else p
            first, end = (i + 1, n) if is_from_end else (0, i)
            total = y[i * n + column]
            for k in range(first, end):
                total -= f[i * n + k] * y[k * n + column]
            y[i * n + column] = total * (one / f[i * n + i].real)


@_device
def _transpose(c, n):
    """Replace a matrix, stored by rows, by its conjugate transpose."""
    for i in range(cuda.threadIdx.x // LANES, n, cuda.blockDim.x // LANES):
        for j in range(cuda.threadIdx.x % LANES, i + 1, LANES):
            upper = c[j * n + i].conjugate()
            c[j * n + i] = c[i * n + j].conjugate()
            c[i * n + j] = upper


def _make_kernels(dtype):
    """Make the kernels that reduce pencils of a type, and that turn eigenvectors back."""
    arithmetic, _ = arithmetic_of(dtype)
    load = make_load(arithmetic, by_rows=True)

    @kernel(launch_bounds=(LARGEST_ORDER, 1))
    def reduce(first, second, layouts, n, reduced, factors, status):
        """Store C and F of pencil number `blockIdx.x` by rows; both arrays are (count, n^2).

        `layouts` are those of `first`, which holds A, and of `second`, which holds B.
        """
        b, t = cuda.blockIdx.x, cuda.threadIdx.x
        zero, c, f = dtype(0), reduced[b], factors[b]
        offset, row, column, width, step = layouts[0]
        size = load(first, (b * step + offset, row, column, width), c, n, n, zero)
        if not size < math.inf:
            status[b] = NOT_FINITE
        cuda.syncthreads()
        offset, row, column, width, step = layouts[1]
        size = load(second, (b * step + offset, row, column, width), f, n, n, zero)
        if not size < math.inf and status[b] != NOT_FINITE:
            status[b] = SECOND_NOT_FINITE
        cuda.syncthreads()
        if status[b] != FINE:
            return
        if not _factor(f, n):
            if t == 0:
                status[b] = NOT_DEFINITE
            return
        _substitute_all(f, c, n, False)
        cuda.syncthreads()
        _transpose(c, n)
        cuda.syncthreads()
        _substitute_all(f, c, n, False)

    @kernel(launch_bounds=(LARGEST_ORDER, 1))
    def restore(factors, status, vectors, n):
        """Replace the eigenvectors of C, the columns of `vectors` (count, n^2), by those of A."""
        b = cuda.blockIdx.x
        if status[b] == FINE:
            _substitute_all(factors[b], vectors[b], n, True)

    return reduce, restore


KERNELS = {
    f"{verb}_{dtype}": function
    for dtype in (float32, float64, complex64, complex128)
    for verb, function in zip(("reduce", "restore"), _make_kernels(dtype), strict=True)
}
"""The kernels by name, which ends with the type of the matrices."""
