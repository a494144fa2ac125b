"""Loading, truncation and extraction of diagonals on the GPU."""

import math

import numpy as np
from numba import float64

from hetero.cuda import launch
from hetero.cuda.driver import cuda, upload
from hetero.jit import kernel
from sbth._problem.working_matrix.formulas import band_index


@kernel
def load_band_columns(ab, d, lower, factor, width, work):
    """Load `width` subdiagonals of band storage, times a factor, into `work`.

    Upper storage holds the conjugates of the elements below the diagonal.
    """
    n, ld = work.shape
    for i in range(cuda.grid(1), n * ld, cuda.gridsize(1)):
        j, k = i // ld, i % ld
        if k <= width and j + k < n:
            value = ab[band_index(j, k, n, d, lower)] * factor
            work[j, k] = value if lower else value.conjugate()
        else:
            work[j, k] = 0


@kernel
def truncate_columns(work, b, out):
    """Copy the diagonal and b subdiagonals of a working matrix to a narrower one."""
    n, ld = out.shape
    for i in range(cuda.grid(1), n * ld, cuda.gridsize(1)):
        j, k = i // ld, i % ld
        out[j, k] = work[j, k] if k <= b else 0


@kernel
def extract_columns(work, factor, main, below):
    """Divide both columns of `work` (n, 2) by `factor`; store in `main` (n,), `below` (n - 1,)."""
    n = work.shape[0]
    for j in range(cuda.grid(1), n, cuda.gridsize(1)):
        main[j] = work[j, 0] / factor
        if j + 1 < n:
            below[j] = work[j, 1] / factor


@kernel
def fill_zeros(values):
    """Fill a vector with zeros."""
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        values[i] = 0


@kernel
def find_extremes(ab, lower, width, extremes):
    """Find the largest magnitude in the band, and the first element that is not finite.

    Parameters
    ----------
    ab : (d + 1, n) float32 or float64
        Band storage.
    lower : bool
    width : int
        Number of subdiagonals to inspect.
    extremes : (2,) float64
        The largest finite magnitude, and diagonal * n + column of the element that is not finite.
        On entry 0, and a number larger than all of these.
    """
    d, n = ab.shape[0] - 1, ab.shape[1]
    maximum = 0.0
    for i in range(cuda.grid(1), (width + 1) * n, cuda.gridsize(1)):
        k, j = i // n, i % n
        if j + k < n:
            magnitude = float64(abs(ab[k, j] if lower else ab[d - k, j + k]))
            if magnitude < math.inf:
                maximum = max(maximum, magnitude)
            else:  # neither infinity nor NaN is below infinity
                cuda.atomic.min(extremes, 1, float64(i))
    cuda.atomic.max(extremes, 0, maximum)


def _launch(kernel_, items, stream, *arguments):
    """Launch a kernel that strides over items."""
    launch.launch(kernel_, launch.grid_stride_blocks(items), launch.THREADS, stream, arguments)


def load_band(ab, d, lower, factor, width, work, stream=0):
    """Load `width` subdiagonals of band storage, times a factor, into `work`."""
    arguments = ab, d, lower, work.dtype.type(factor), width, work
    _launch(load_band_columns, work.size, stream, *arguments)


def truncate(work, b, out, stream=0):
    """Copy the diagonal and b subdiagonals of a working matrix to a narrower one."""
    _launch(truncate_columns, out.size, stream, work, b, out)


def extract_diagonals(work, factor, main, below, stream=0):
    """Store diagonal and subdiagonal, divided by `factor`, in `main` (n,) and `below` (n - 1,)."""
    n = work.shape[0]
    if n == 1:
        below = main  # libraries differ in how they pass arrays without elements
    _launch(extract_columns, n, stream, work, factor, main, below)


def zeros(size, dtype, stream=0):
    """Allocate a vector of zeros."""
    values = cuda.device_array(size, dtype, stream=stream)
    if size:
        clear(values, stream)
    return values


def clear(values, stream=0):
    """Fill a vector with zeros."""
    _launch(fill_zeros, values.size, stream, values)


def inspect_band(ab, lower, width, stream=0):
    """Find the largest magnitude in band storage (d + 1, n), and an element that is not finite."""
    count = (width + 1) * ab.shape[1]
    extremes = upload(np.array([0.0, count]), stream)
    _launch(find_extremes, count, stream, ab, lower, width, extremes)
    largest, index = extremes.copy_to_host(stream=stream)
    return float(largest), int(index) if index < count else -1
