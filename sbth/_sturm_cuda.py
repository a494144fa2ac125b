"""Sturm counts on the GPU: a thread an eigenvalue; blocks read the matrix through shared memory."""

import numpy as np
from numba import float64, int32

from hetero import launch
from hetero._driver import cuda
from hetero.jit import kernel
from sbth._sturm_math import PASSES, is_narrow, narrowed, pivot, points

_THREADS = 64  # few: a matrix of 10^4 rows shall fill the GPU
_ROWS = 512  # of the matrix in shared memory


@kernel
def bisect_values(d, e2, tiny, least, low, high, first, values):
    rows = cuda.shared.array((2, _ROWS), float64)
    k = cuda.grid(1)
    n = d.size
    a, b = low, high
    for _ in range(PASSES):
        if cuda.syncthreads_and(int32(k >= values.size or is_narrow(a, b, least))):
            break
        p1, p2, p3 = points(a, b)
        q1 = q2 = q3 = np.inf
        c1 = c2 = c3 = 0
        for start in range(0, n, _ROWS):
            count = min(_ROWS, n - start)
            cuda.syncthreads()
            for i in range(cuda.threadIdx.x, count, _THREADS):
                rows[0, i], rows[1, i] = d[start + i], e2[start + i]
            cuda.syncthreads()
            for i in range(count):
                diagonal, square = rows[0, i], rows[1, i]
                q1 = pivot(q1, diagonal, square, p1, tiny)
                q2 = pivot(q2, diagonal, square, p2, tiny)
                q3 = pivot(q3, diagonal, square, p3, tiny)
                c1 += q1 < 0.0
                c2 += q2 < 0.0
                c3 += q3 < 0.0
        a, b = narrowed(a, b, p1, p2, p3, c1, c2, c3, first + k)
    if k < values.size:
        values[k] = 0.5 * (a + b)


@kernel
def count_below(d, e2, tiny, x, counts):
    for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        q, count = np.inf, 0
        for i in range(d.size):
            q = pivot(q, d[i], e2[i], x[k], tiny)
            count += q < 0.0
        counts[k] = count


def bisect(d, e2, tiny, least, low, high, first, values, stream=0):
    """Eigenvalues number `first`, `first` + 1, ... of those in (low, high], to `values`."""
    grid = launch.blocks(values.size, _THREADS)
    bisect_values[grid, _THREADS, stream](d, e2, tiny, least, low, high, first, values)


def below(d, e2, tiny, x, counts, stream=0):
    """How many eigenvalues are below each x."""
    count_below[launch.strided(x.size), launch.THREADS, stream](d, e2, tiny, x, counts)
