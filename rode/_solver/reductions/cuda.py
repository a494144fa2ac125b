"""Statistics over paths on the GPU: rows of numbers, one for each time and output."""

import math

import numpy as np
from numba import float64, int64, uint32, uint64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.intrinsics.bits import bits_of, float_of
from hetero.jit import kernel

THREADS = 256  # number of threads in a block


@kernel
def sum_rows(rows, mean, squares):
    """Compute the moments of each row by one block of threads, in a fixed order."""
    shared = cuda.shared.array(THREADS, float64)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    n = rows.shape[1]
    middle = 0.0
    for turn in range(2):
        total = 0.0
        for i in range(t, n, THREADS):
            x = float64(rows[r, i])
            total += x if turn == 0 else (x - middle) * (x - middle)
        shared[t] = total
        cuda.syncthreads()
        half = THREADS // 2
        while half > 0:
            if t < half:
                shared[t] += shared[t + half]
            cuda.syncthreads()
            half //= 2
        if turn == 0:
            middle = shared[0] / n
        elif t == 0:
            mean[r] = middle
            squares[r] = shared[0]
        cuda.syncthreads()


sum_rows_float32, sum_rows_float64 = kernel(sum_rows.py_func), kernel(sum_rows.py_func)
del sum_rows


def compute_moments(rows, mean, squares, stream=0):
    """Fill `mean` and `squares`, the sum of squared distances from it, for each row of `rows`."""
    chosen = sum_rows_float32 if rows.dtype.itemsize == 4 else sum_rows_float64
    chosen[rows.shape[0], THREADS, stream](rows, mean, squares)


def _make_select(word, width):
    """Make the kernel in which each block of threads finds the number of one rank in one row.

    It finds the number bit after bit, from the highest.
    """
    top = word(1) << word(width - 1) if width == 64 else word(1 << (width - 1))

    @kernel
    def select_rank(rows, ranks, result):
        counts = cuda.shared.array(1, int64)
        r, k, t = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x
        n = rows.shape[1]
        prefix, bit = word(0), word(top)
        rank = ranks[k]
        while bit != word(0):
            # How many numbers agree with the prefix and have a 0 here?
            if t == 0:
                counts[0] = 0
            cuda.syncthreads()
            mine = 0
            for i in range(t, n, THREADS):
                x = word(bits_of(rows[r, i]))
                key = word(~x) if x & top else word(x | top)
                difference = word(key ^ prefix)
                if difference < bit:
                    mine += 1
            cuda.atomic.add(counts, 0, mine)
            cuda.syncthreads()
            if rank >= counts[0]:
                rank -= counts[0]
                prefix = word(prefix | bit)
            bit = word(bit >> word(1))
            cuda.syncthreads()
        if t == 0:
            result[r, k] = float_of(word(prefix ^ top) if prefix & top else word(~prefix))

    return select_rank


select_rank_float32, select_rank_float64 = _make_select(uint32, 32), _make_select(uint64, 64)


def select_ranks(rows, ranks, result, stream=0):
    """Fill result[r, k] with the number of rank `ranks[k]` (from 0) in row r.

    NaN stand at the ends, by their signs.
    """
    chosen = select_rank_float32 if rows.dtype.itemsize == 4 else select_rank_float64
    chosen[(rows.shape[0], ranks.size), THREADS, stream](rows, ranks, result)


@kernel
def count_interval(rows, lower, upper, below, inside):
    """Count the numbers below and inside of one interval of one row by each block of threads."""
    counts = cuda.shared.array(2, int64)
    r, k, t = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x
    if t < 2:
        counts[t] = 0
    cuda.syncthreads()
    low, high = lower[k, r], upper[k, r]
    less, within = int64(0), int64(0)
    for i in range(t, rows.shape[1], THREADS):
        x = rows[r, i]
        if x < low:
            less += 1
        elif x <= high:
            within += 1
    cuda.atomic.add(counts, 0, less)
    cuda.atomic.add(counts, 1, within)
    cuda.syncthreads()
    if t == 0:
        below[k, r] = counts[0]
        inside[k, r] = counts[1]


def count_between(rows, lower, upper, below, inside):
    """Count the numbers below and inside of intervals; see the Protocol."""
    count_interval[(rows.shape[0], lower.shape[0]), THREADS](rows, lower, upper, below, inside)


@kernel
def collect_interval(rows, lower, upper, places, values):
    """Collect the numbers inside of one interval of one row by each block of threads."""
    r, k = cuda.blockIdx.x, cuda.blockIdx.y
    low, high = lower[k, r], upper[k, r]
    for i in range(cuda.threadIdx.x, rows.shape[1], THREADS):
        x = rows[r, i]
        if low <= x <= high:
            values[cuda.atomic.add(places, (k, r), 1)] = x


def collect_between(rows, lower, upper, places, values):
    """Collect the numbers inside of intervals; see the Protocol."""
    collect_interval[(rows.shape[0], lower.shape[0]), THREADS](rows, lower, upper, places, values)


@kernel
def count_paths(o, x, failed, result):
    """Count in result[0] the paths that are not finite, in result[1] others that have `failed`."""
    count, others = int64(0), int64(0)
    for i in range(cuda.grid(1), o.size, cuda.gridsize(1)):
        finite = math.isfinite(o[i])
        for k in range(x.shape[0]):
            finite = finite and math.isfinite(x[k, i])
        count += int64(not finite)
        others += int64(finite and failed[i] != 0)
    if count > 0:
        cuda.atomic.add(result, 0, count)
    if others > 0:
        cuda.atomic.add(result, 1, others)


count_nonfinite_float32, count_nonfinite_float64 = (
    kernel(count_paths.py_func),
    kernel(count_paths.py_func),
)
del count_paths


def count_nonfinite(o, x, failed, stream=0) -> tuple[int, int]:
    """Return the number of paths that are infinite or NaN, and of others with such outputs."""
    chosen = count_nonfinite_float32 if o.dtype.itemsize == 4 else count_nonfinite_float64
    result = cuda.to_device(np.zeros(2, np.int64), stream=stream)
    chosen[launch.grid_stride_blocks(o.size), launch.THREADS, stream](o, x, failed, result)
    states, others = result.copy_to_host(stream=stream)
    return int(states), int(others)
