"""Statistics of normal numbers on the CPU."""

import numpy as np
from numba import prange

from hetero.jit import parallel
from studies.rode.normality.formulas import BINS, LAGS, ORDERS, SUMS, bin_of

_PARTS = 64


@parallel
def _tally(x, y, counts, sums):
    """Fill row k of `counts` and `sums` with those of part k of the numbers."""
    n = x.size - LAGS
    part = (n + _PARTS - 1) // _PARTS
    for k in prange(_PARTS):
        mine, counts_of_thread = np.zeros(BINS, np.int64), np.zeros(SUMS)
        for i in range(np.int64(k) * part, min((np.int64(k) + 1) * part, n)):
            a, b = np.float64(x[i]), np.float64(y[i])
            mine[bin_of(a)] += 1
            power = 1.0
            for d in range(ORDERS):
                power *= a
                counts_of_thread[d] += power
            for lag in range(1, LAGS + 1):
                c = np.float64(x[i + lag])
                counts_of_thread[ORDERS + lag - 1] += a * c
                counts_of_thread[ORDERS + LAGS + lag - 1] += (a * a - 1.0) * (c * c - 1.0)
            counts_of_thread[SUMS - 4] += a * b
            counts_of_thread[SUMS - 3] += (a * a - 1.0) * (b * b - 1.0)
            counts_of_thread[SUMS - 2] += abs(a) > 4.0
            counts_of_thread[SUMS - 1] += abs(a) > 5.0
        counts[k] = mine
        sums[k] = counts_of_thread


def tally(x, y):
    """Return (counts of BINS intervals, sums) of the numbers x and their products with y."""
    counts, sums = np.zeros((_PARTS, BINS), np.int64), np.zeros((_PARTS, SUMS))
    _tally(x, y, counts, sums)
    return counts.sum(axis=0), sums.sum(axis=0)
