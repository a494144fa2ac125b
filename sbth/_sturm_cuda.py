"""Sturm counts on the GPU: three points a thread; blocks read the matrix through shared memory."""

import numpy as np
from numba import float64, int32

from hetero import launch
from hetero._driver import SIMULATOR, cuda
from hetero.jit import kernel
from sbth._quotient import quotient
from sbth._sturm_math import PASSES, is_narrow, pivot_from, point, start

_THREADS = 64  # few: a matrix of 10^4 rows shall fill the GPU
_ROWS = 512  # of the matrix in shared memory
_POINTS = 3  # of a thread
_FULL = 256  # threads a multiprocessor from which more of them take as much longer
_ALL = 0xFFFFFFFF

_pivot = pivot_from(kernel(device=True), quotient)


@kernel(device=True)
def _counts(d, e2, tiny, p1, p2, p3):
    """Eigenvalues below three points, for all threads of a block together."""
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
def count_parts(d, e2, tiny, low, high, counts):
    """Eigenvalues below the inner ends of counts.size + 1 parts of an interval."""
    i, parts = _POINTS * cuda.grid(1), counts.size + 1
    found = _counts(
        *(d, e2, tiny),
        *(point(low, high, i + 1, parts), point(low, high, i + 2, parts)),
        point(low, high, i + 3, parts),
    )
    if i + 2 < counts.size:
        counts[i], counts[i + 1], counts[i + 2] = found


@kernel
def bisect_values(d, e2, tiny, least, low, high, shared, first, lanes, values):
    """`lanes` threads, neighbours in a warp, an eigenvalue."""
    k, lane = cuda.grid(1) // lanes, cuda.grid(1) % lanes
    parts = _POINTS * lanes + 1
    a, b = start(shared, low, high, first + k)
    for _ in range(PASSES):
        if cuda.syncthreads_and(int32(k >= values.size or is_narrow(a, b, least))):
            break
        i = _POINTS * lane
        p1, p2, p3 = point(a, b, i + 1, parts), point(a, b, i + 2, parts), point(a, b, i + 3, parts)
        c1, c2, c3 = _counts(d, e2, tiny, p1, p2, p3)
        part = int32(c1 <= first + k) + int32(c2 <= first + k) + int32(c3 <= first + k)
        shift = lanes // 2
        while shift > 0:
            part += cuda.shfl_xor_sync(_ALL, int32(part), shift)
            shift //= 2
        a, b = point(a, b, part, parts), point(a, b, part + 1, parts)
    if k < values.size and lane == 0:
        values[k] = 0.5 * (a + b)


@kernel
def count_below(d, e2, tiny, x, counts):
    for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        q, count = 1.0, 0
        for i in range(d.size):
            q = _pivot(q, d[i], e2[i], x[k], tiny)
            count += q < 0.0
        counts[k] = count


def bisect(d, e2, tiny, least, low, high, first, values, stream=0):
    """Eigenvalues number `first`, `first` + 1, ... of those in (low, high], to `values`."""
    full = _FULL * launch.multiprocessors()
    grid = launch.blocks(max(values.size, full), _THREADS)
    shared = cuda.device_array(_POINTS * grid * _THREADS, np.int64, stream=stream)
    count_parts[grid, _THREADS, stream](d, e2, tiny, low, high, shared)
    lanes = 1
    while not SIMULATOR and lanes < 32 and 2 * lanes * values.size <= full:
        lanes *= 2
    grid = launch.blocks(lanes * values.size, _THREADS)
    arguments = d, e2, tiny, least, low, high, shared, first, lanes, values
    bisect_values[grid, _THREADS, stream](*arguments)


def below(d, e2, tiny, x, counts, stream=0):
    """How many eigenvalues are below each x."""
    count_below[launch.strided(x.size), launch.THREADS, stream](d, e2, tiny, x, counts)
