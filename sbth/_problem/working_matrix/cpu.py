"""Loading, truncation and extraction of diagonals on the CPU."""

import math

import numpy as np
from numba import prange

from hetero.jit import parallel
from sbth._problem.working_matrix.formulas import band_index

_ROWS = 64
"""Rows that a thread loads at once (not tuned)."""


@parallel
def _load_band(ab, d, lower, factor, width, work):
    n = work.shape[0]
    for chunk in prange((n + _ROWS - 1) // _ROWS):
        begin = np.int64(chunk) * _ROWS
        stop = min(begin + _ROWS, n)
        for k in range(work.shape[1]):
            for j in range(begin, stop):
                inside = k <= width and j + k < n
                work[j, k] = ab[band_index(j, k, n, d, lower)] * factor if inside else 0


def load_band(ab, d, lower, factor, width, work, stream=0):
    """Load `width` subdiagonals of band storage, times a factor, into `work`."""
    _load_band(ab, d, lower, work.dtype.type(factor), width, work)


def truncate(work, b, out, stream=0):
    """Copy the diagonal and b subdiagonals of a working matrix to a narrower one."""
    out[:, : b + 1] = work[:, : b + 1]
    out[:, b + 1 :] = 0


def extract_diagonals(work, factor, main, below, stream=0):
    """Store diagonal and subdiagonal, divided by `factor`, in `main` (n,) and `below` (n - 1,)."""
    with np.errstate(over="ignore"):  # the caller checks for infinity
        np.divide(work[:, 0], factor, out=main)
        np.divide(work[:-1, 1], factor, out=below)


def zeros(size, dtype, stream=0):
    """Allocate a vector of zeros."""
    return np.zeros(size, dtype)


def clear(values, stream=0):
    """Fill a vector with zeros."""
    values[:] = 0


def inspect_band(ab, lower, width, stream=0):
    """Find the largest magnitude in band storage (d + 1, n), and an element that is not finite."""
    d, n = ab.shape[0] - 1, ab.shape[1]
    if n > width > 1:
        # Two blocks of columns: one in which all diagonals have elements, and a triangle. They
        # take a quarter of the time of one diagonal after the other.
        rows = ab[: width + 1] if lower else ab[d - width :]
        block = rows[:, : n - width] if lower else rows[:, width:]
        corner = rows[:, n - width :] if lower else rows[:, :width]
        k, j = np.arange(width + 1)[:, None], np.arange(width)
        inside = j < width - k if lower else j >= width - k
        # Unlike Python's min and max, these pass NaN on.
        low = np.minimum(np.min(block), np.min(corner, where=inside, initial=0.0))
        high = np.maximum(np.max(block), np.max(corner, where=inside, initial=0.0))
        if math.isfinite(low) and math.isfinite(high):
            return max(float(high), -float(low)), -1
    largest = 0.0
    for k in range(width + 1):
        diagonal = ab[k, : n - k] if lower else ab[d - k, k:]
        low = float(np.min(diagonal, initial=0.0))
        high = float(np.max(diagonal, initial=0.0))
        if not (math.isfinite(high) and math.isfinite(low)):
            return largest, k * n + int(np.argmin(np.isfinite(diagonal)))
        largest = max(largest, high, -low)
    return largest, -1
