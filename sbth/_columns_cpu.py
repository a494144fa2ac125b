"""The working matrix of a reduction, filled and cut on the CPU."""

import math

import numpy as np
from numba import prange

from hetero.jit import parallel
from sbth._columns_math import place

_ROWS = 64  # a share of the work


@parallel
def _unpack(ab, d, lower, factor, width, work):
    n = work.shape[0]
    for share in prange((n + _ROWS - 1) // _ROWS):
        begin = np.int64(share) * _ROWS
        stop = min(begin + _ROWS, n)
        for k in range(work.shape[1]):
            for j in range(begin, stop):
                inside = k <= width and j + k < n
                work[j, k] = ab[place(j, k, n, d, lower)] * factor if inside else 0


def unpack(ab, d, lower, factor, width, work, stream=0):
    """`width` subdiagonals of flat band storage with d of them, times a factor, to `work`."""
    _unpack(ab, d, lower, work.dtype.type(factor), width, work)


def cut(work, b, narrower, stream=0):
    """b subdiagonals of a working matrix to another one."""
    narrower[:, : b + 1] = work[:, : b + 1]
    narrower[:, b + 1 :] = 0


def split(work, factor, main, below, stream=0):
    """Divide diagonal and subdiagonal of a working matrix by `factor`, to `main` and `below`."""
    with np.errstate(over="ignore"):  # the caller looks for infinity
        np.divide(work[:, 0], factor, out=main)
        np.divide(work[:-1, 1], factor, out=below)


def zeros(size, dtype, stream=0):
    """Allocate `size` zeros."""
    return np.zeros(size, dtype)


def survey(ab, lower, width, stream=0):
    """Find the largest magnitude in band storage, and an element that is NaN or infinity.

    Returns
    -------
    float
    int
        diagonal * n + column of the first element that is not finite, or -1.
    """
    d, n = ab.shape[0] - 1, ab.shape[1]
    largest = 0.0
    for k in range(width + 1):
        diagonal = ab[k, : n - k] if lower else ab[d - k, k:]
        low = float(np.min(diagonal, initial=0.0))
        high = float(np.max(diagonal, initial=0.0))
        if not (math.isfinite(high) and math.isfinite(low)):
            return largest, k * n + int(np.argmin(np.isfinite(diagonal)))
        largest = max(largest, high, -low)
    return largest, -1
