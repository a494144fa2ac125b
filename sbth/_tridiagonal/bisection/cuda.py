"""Bisection by Sturm counts on the GPU.

A thread counts at three points at once, because the pivots of one point depend on each other. The
threads of a block read the matrix through shared memory.
"""

import numpy as np
from numba import float64, int32

from hetero.cuda import launch
from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.ready_arrays import allocate_as_one
from hetero.intrinsics.warp import FULL_MASK
from hetero.jit import kernel
from sbth._gpu.approximate_division import divide_approximately
from sbth._tridiagonal.bisection.formulas import (
    MAX_PASSES,
    division_point,
    has_converged,
    initial_interval,
    make_pivot,
)

_THREADS = 64
"""Threads of a block: few, so that a matrix of order 10^4 occupies the GPU."""

_ROWS = 512
"""Rows of the matrix in shared memory at a time (not tuned)."""

_POINTS = 3
"""Points of a thread."""

_BUSY_THREADS = 256
"""Threads that saturate a multiprocessor: more of them take proportionally longer."""

_pivot = make_pivot(kernel(device=True), divide_approximately)


@kernel(device=True)
def _count(d, e2, tiny, p1, p2, p3):
    """Return the numbers of eigenvalues below three points; all threads of a block must call it."""
    rows = cuda.shared.array((2, _ROWS), float64)
    q1 = q2 = q3 = 1.0
    c1 = c2 = c3 = 0
    for begin in range(0, d.size, _ROWS):
        count = min(_ROWS, d.size - begin)
        cuda.syncthreads()
        for i in range(cuda.threadIdx.x, count, _THREADS):
            rows[0, i], rows[1, i] = d[begin + i], e2[begin + i]
        cuda.syncthreads()
        for i in range(count):
            diagonal, square = rows[0, i], rows[1, i]
            q1 = _pivot(q1, diagonal, square, p1, tiny)
            q2 = _pivot(q2, diagonal, square, p2, tiny)
            q3 = _pivot(q3, diagonal, square, p3, tiny)
            c1 += q1 < 0.0
            c2 += q2 < 0.0
            c3 += q3 < 0.0
    return c1, c2, c3


@kernel
def count_at_parts(d, e2, tiny, low, high, counts):
    """Count the eigenvalues below the inner ends of counts.size + 1 parts of an interval."""
    i, parts = _POINTS * cuda.grid(1), counts.size + 1
    below = _count(
        *(d, e2, tiny),
        *(division_point(low, high, i + 1, parts), division_point(low, high, i + 2, parts)),
        division_point(low, high, i + 3, parts),
    )
    if i + 2 < counts.size:
        counts[i], counts[i + 1], counts[i + 2] = below


@kernel
def bisect_values(d, e2, limits, shared, first, lanes, values):
    """Compute the eigenvalues number first, first + 1, ..., each by `lanes` threads of a warp.

    `shared` holds counts at equidistant points between low and high. `limits` holds floats only:
    Numba needs 0.1 ms for the type of a tuple with arrays, at every launch.
    """
    tiny, tolerance, low, high = limits
    k, lane = cuda.grid(1) // lanes, cuda.grid(1) % lanes
    parts = _POINTS * lanes + 1
    a, b = initial_interval(shared, low, high, first + k)
    for _ in range(MAX_PASSES):
        if cuda.syncthreads_and(int32(k >= values.size or has_converged(a, b, tolerance))):
            break
        i = _POINTS * lane
        p1 = division_point(a, b, i + 1, parts)
        p2 = division_point(a, b, i + 2, parts)
        p3 = division_point(a, b, i + 3, parts)
        c1, c2, c3 = _count(d, e2, tiny, p1, p2, p3)
        part = int32(c1 <= first + k) + int32(c2 <= first + k) + int32(c3 <= first + k)
        shift = lanes // 2
        while shift > 0:
            part += cuda.shfl_xor_sync(FULL_MASK, int32(part), shift)
            shift //= 2
        a, b = division_point(a, b, part, parts), division_point(a, b, part + 1, parts)
    if k < values.size and lane == 0:
        values[k] = 0.5 * (a + b)


@kernel
def count_at_points(d, e2, tiny, x, counts):
    """Count the eigenvalues below each x."""
    for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        q, count = 1.0, 0
        for i in range(d.size):
            q = _pivot(q, d[i], e2[i], x[k], tiny)
            count += q < 0.0
        counts[k] = count


def bisect(d, e2, limits, first, values, stream=0):
    """Store the eigenvalues number first, first + 1, ... in `values`."""
    tiny, _, low, high = limits
    busy = _BUSY_THREADS * launch.multiprocessors()
    grid = launch.blocks_for(max(values.size, busy), _THREADS)
    (shared,) = allocate_as_one([((_POINTS * grid * _THREADS,), np.int64)], stream)
    launch.launch(count_at_parts, grid, _THREADS, stream, (d, e2, tiny, low, high, shared))
    lanes = 1
    while not SIMULATOR and lanes < 32 and 2 * lanes * values.size <= busy:
        lanes *= 2
    grid = launch.blocks_for(lanes * values.size, _THREADS)
    arguments = d, e2, limits, shared, first, lanes, values
    launch.launch(bisect_values, grid, _THREADS, stream, arguments)


def count_below(d, e2, tiny, x, counts, stream=0):
    """Count the eigenvalues below each x, into `counts` (int64)."""
    blocks = launch.grid_stride_blocks(x.size)
    launch.launch(count_at_points, blocks, launch.THREADS, stream, (d, e2, tiny, x, counts))
