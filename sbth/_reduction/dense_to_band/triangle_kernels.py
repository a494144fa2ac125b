"""Kernels that read one triangle of a full matrix: its largest magnitude, and the whole matrix."""

from __future__ import annotations

import math

from numba import complex64, complex128, float32, float64, uint64

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.jit import kernel
from sbth._gpu.arithmetic import arithmetic_of

THREADS = 16 if SIMULATOR else 256
"""Threads of a block."""

TILE = 4 if SIMULATOR else 32
"""Rows and columns of a tile that a block mirrors."""

_ROWS = THREADS // TILE
"""Rows of a tile that a block loads at a time."""

_PITCH = TILE + 1  # odd, to avoid bank conflicts


def _make_search(dtype):
    """Make the kernel that looks for the largest magnitude, for a real type."""

    @kernel(launch_bounds=(THREADS, 1))
    def find_largest(matrix, rows, parts, lower, largest):
        """Raise largest[0] to the largest magnitude in a triangle, or to infinity if there is NaN.

        A complex element is `parts` = 2 consecutive numbers, of which each counts by itself.
        """
        n, width, thread = uint64(rows), uint64(rows * parts), uint64(cuda.threadIdx.x)
        magnitude = 0.0
        row = uint64(cuda.blockIdx.x)
        while row < n:
            diagonal = row * uint64(parts)
            column = thread if lower else diagonal + thread
            stop = diagonal + uint64(parts) if lower else width
            while column < stop:
                value = abs(float64(matrix[row * width + column]))
                magnitude = math.inf if math.isnan(value) else max(magnitude, value)
                column += uint64(THREADS)
            row += uint64(cuda.gridDim.x)
        shared = cuda.shared.array(THREADS, float64)
        shared[thread] = magnitude
        cuda.syncthreads()
        half = uint64(THREADS // 2)
        while half > 0:
            if thread < half:
                shared[thread] = max(shared[thread], shared[thread + half])
            cuda.syncthreads()
            half //= uint64(2)
        if thread == 0:
            cuda.atomic.max(largest, 0, shared[0])

    return find_largest


def _make_mirror(dtype):
    """Make the kernel that stores a whole matrix, for a type."""
    _, real = arithmetic_of(dtype)

    @kernel(launch_bounds=(THREADS, 1))
    def mirror(matrix, rows, lower, factor, out):
        """Store the Hermitian matrix that a triangle defines, multiplied by a power of two.

        A block copies a tile of the triangle, and its conjugate transpose to the other side.
        Imaginary parts of the diagonal are left out.
        """
        n, size = uint64(rows), uint64(TILE)
        tiles = (n + size - uint64(1)) // size
        block = uint64(cuda.blockIdx.x)
        first, second = block // tiles, block % tiles
        if second > first:
            return
        x, y = uint64(cuda.threadIdx.x) % size, uint64(cuda.threadIdx.x) // size
        top, left = (first, second) if lower else (second, first)
        top *= size
        left *= size
        shared = cuda.shared.array((TILE, _PITCH), dtype)
        i = y
        while i < size:
            if top + i < n and left + x < n:
                shared[i, x] = real(factor) * matrix[(top + i) * n + left + x]
            i += uint64(_ROWS)
        cuda.syncthreads()
        i = y
        while i < size:
            on_diagonal = first == second
            is_stored = not on_diagonal or (x <= i if lower else x >= i)
            if top + i < n and left + x < n:
                value = shared[i, x] if is_stored else shared[x, i].conjugate()
                if on_diagonal and x == i:
                    value = dtype(value.real)
                out[(top + i) * n + left + x] = value
            if not on_diagonal and left + i < n and top + x < n:
                out[(left + i) * n + top + x] = shared[x, i].conjugate()
            i += uint64(_ROWS)

    return mirror


def _make_store(dtype):
    """Make the kernel that copies a band, for a type."""

    @kernel
    def store_band(matrix, rows, width, work):
        """Copy the diagonal and subdiagonals of a matrix (n, n), flat, to a working matrix."""
        ld, zero = work.shape[1], dtype(0)
        for i in range(cuda.grid(1), rows * ld, cuda.gridsize(1)):
            j, k = i // ld, i % ld
            inside = k <= width and j + k < rows
            work[j, k] = matrix[(j + k) * rows + j] if inside else zero

    return store_band


_TYPES = float32, float64, complex64, complex128

KERNELS = (
    {f"find_largest_{dtype}": _make_search(dtype) for dtype in (float32, float64)}
    | {f"mirror_{dtype}": _make_mirror(dtype) for dtype in _TYPES}
    | {f"store_band_{dtype}": _make_store(dtype) for dtype in _TYPES}
)
"""The kernels by name, for each type."""
