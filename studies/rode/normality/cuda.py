"""Statistics of normal numbers on the GPU."""

import numpy as np
from numba import float64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from studies.rode.normality.formulas import BINS, LAGS, ORDERS, SUMS, bin_of


def _make_count():
    """Make the kernel that counts numbers and adds up their products."""

    @kernel
    def count_numbers(x, y, counts, sums):
        """Add to `counts` and fill column t of `sums` with those of thread t."""
        counts_of_thread = cuda.local.array(SUMS, float64)
        for d in range(SUMS):
            counts_of_thread[d] = 0.0
        for i in range(cuda.grid(1), x.size - LAGS, cuda.gridsize(1)):
            a, b = float64(x[i]), float64(y[i])
            cuda.atomic.add(counts, bin_of(a), 1)
            power = 1.0
            for d in range(ORDERS):
                power *= a
                counts_of_thread[d] += power
            for lag in range(1, LAGS + 1):
                c = float64(x[i + lag])
                counts_of_thread[ORDERS + lag - 1] += a * c
                counts_of_thread[ORDERS + LAGS + lag - 1] += (a * a - 1.0) * (c * c - 1.0)
            counts_of_thread[SUMS - 4] += a * b
            counts_of_thread[SUMS - 3] += (a * a - 1.0) * (b * b - 1.0)
            if abs(a) > 4.0:
                counts_of_thread[SUMS - 2] += 1.0
            if abs(a) > 5.0:
                counts_of_thread[SUMS - 1] += 1.0
        for d in range(SUMS):
            sums[d, cuda.grid(1)] = counts_of_thread[d]

    return count_numbers


count_float32, count_float64 = _make_count(), _make_count()


def tally(x, y):
    """Return (counts of BINS intervals, sums) of the numbers x and their products with y."""
    grid = launch.grid_stride_blocks(x.size, launch.THREADS, 4)
    counts = cuda.to_device(np.zeros(BINS, np.int64))
    sums = cuda.device_array((SUMS, grid * launch.THREADS), np.float64)
    chosen = count_float32 if x.dtype.itemsize == 4 else count_float64
    chosen[grid, launch.THREADS](x, y, counts, sums)
    return counts.copy_to_host(), sums.copy_to_host().sum(axis=1)
