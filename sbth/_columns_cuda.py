"""The working matrix of a reduction, filled and cut on the GPU."""

import math

import numpy as np
from numba import float64

from hetero import launch
from hetero._driver import cuda
from hetero.jit import kernel
from sbth._columns_math import place


@kernel
def unpack_columns(ab, d, lower, factor, width, work):
    n, ld = work.shape
    for i in range(cuda.grid(1), n * ld, cuda.gridsize(1)):
        j, k = i // ld, i % ld
        inside = k <= width and j + k < n
        work[j, k] = ab[place(j, k, n, d, lower)] * factor if inside else 0


@kernel
def cut_columns(work, b, narrower):
    n, ld = narrower.shape
    for i in range(cuda.grid(1), n * ld, cuda.gridsize(1)):
        j, k = i // ld, i % ld
        narrower[j, k] = work[j, k] if k <= b else 0


@kernel
def split_columns(work, factor, main, below):
    """Divide both columns of `work` (n, 2) by `factor`, to `main` (n,) and `below` (n - 1,)."""
    n = work.shape[0]
    for j in range(cuda.grid(1), n, cuda.gridsize(1)):
        main[j] = work[j, 0] / factor
        if j + 1 < n:
            below[j] = work[j, 1] / factor


@kernel
def clear(values):
    """Fill a vector with zeros."""
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        values[i] = 0


@kernel
def survey_band(ab, lower, width, largest, bad):
    """Find the largest magnitude in the band, and the first element that is not finite.

    Parameters
    ----------
    ab : (d + 1, n) real, band storage
    lower : bool
    width : int, diagonals below the main one
    largest : (1,) float64, 0 before
    bad : (1,) int64, diagonal * n + column of the element; larger than all of these before
    """
    d, n = ab.shape[0] - 1, ab.shape[1]
    most = 0.0
    for i in range(cuda.grid(1), (width + 1) * n, cuda.gridsize(1)):
        k, j = i // n, i % n
        if j + k < n:
            size = float64(abs(ab[k, j] if lower else ab[d - k, j + k]))
            if size < math.inf:
                most = max(most, size)
            else:  # NaN, too, is not below infinity
                cuda.atomic.min(bad, 0, i)
    cuda.atomic.max(largest, 0, most)


def unpack(ab, d, lower, factor, width, work, stream=0):
    """`width` subdiagonals of flat band storage with d of them, times a factor, to `work`."""
    arguments = ab, d, lower, work.dtype.type(factor), width, work
    unpack_columns[launch.strided(work.size), launch.THREADS, stream](*arguments)


def cut(work, b, narrower, stream=0):
    """b subdiagonals of a working matrix to another one."""
    cut_columns[launch.strided(narrower.size), launch.THREADS, stream](work, b, narrower)


def split(work, factor, main, below, stream=0):
    """Divide diagonal and subdiagonal of a working matrix by `factor`, to `main` and `below`."""
    n = work.shape[0]
    if n == 1:
        below = main  # Libraries differ in how they pass an array without elements.
    split_columns[launch.strided(n), launch.THREADS, stream](work, factor, main, below)


def zeros(size, dtype, stream=0):
    """Allocate `size` zeros."""
    values = cuda.device_array(size, dtype, stream=stream)
    if size:
        clear[launch.strided(size), launch.THREADS, stream](values)
    return values


def survey(ab, lower, width, stream=0):
    """Find the largest magnitude in band storage, and an element that is NaN or infinity.

    Returns
    -------
    float
    int
        diagonal * n + column of the first element that is not finite, or -1.
    """
    count = (width + 1) * ab.shape[1]
    largest = cuda.to_device(np.zeros(1), stream=stream)
    bad = cuda.to_device(np.full(1, count), stream=stream)
    survey_band[launch.strided(count), launch.THREADS, stream](ab, lower, width, largest, bad)
    index = int(bad.copy_to_host(stream=stream)[0])
    return float(largest.copy_to_host(stream=stream)[0]), index if index < count else -1
