"""One triangle of a full matrix on a GPU: its largest magnitude, and the matrix that it defines."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero.cuda import launch
from hetero.cuda.ready_arrays import ready
from sbth._dense_to_band import triangle_kernels as kernels
from sbth.band_storage import require_finite_triangle, safe_scale

_BLOCKS = 8
"""Blocks of a multiprocessor that look for the largest magnitude (not tuned)."""


def largest_magnitude(xp: ModuleType, matrix: Any, lower: bool) -> float:
    """Return the largest magnitude in a triangle: infinite if there is NaN or infinity.

    Parameters
    ----------
    xp : module
        CuPy.
    matrix : array (n, n) of `xp`, C-contiguous, on the current GPU
        Of a complex matrix, real and imaginary parts count by themselves.
    lower : bool
        Whether the triangle is the lower one, or the upper one.
    """
    n = len(matrix)
    if n == 0:
        return 0.0
    real = np.dtype(matrix.dtype.char.lower())
    largest = xp.zeros(1)
    numbers = ready(matrix.reshape(-1).view(real))
    parts = matrix.itemsize // real.itemsize
    arguments = numbers, n, parts, bool(lower), ready(largest)
    blocks = min(n, _BLOCKS * launch.multiprocessors())
    stream = xp.cuda.get_current_stream().ptr
    find_largest = kernels.KERNELS[f"find_largest_{real}"]
    launch.launch(find_largest, blocks, kernels.THREADS, stream, arguments)
    return float(largest.get()[0])


def mirror_triangle(xp: ModuleType, matrix: Any, lower: bool) -> tuple[Any, float]:
    """Return the Hermitian matrix that a triangle defines, scaled by a power of two.

    Parameters and units are those of `largest_magnitude`. Returns a new array (n, n), and the power
    of two with which sums of squares stay within range.

    Raises
    ------
    ValueError
        There is NaN or infinity in the triangle.
    """
    n = len(matrix)
    largest = largest_magnitude(xp, matrix, lower)
    require_finite_triangle(largest, lower)
    factor = safe_scale(largest, matrix.dtype)
    out = xp.empty((n, n), matrix.dtype)
    if n:
        flat = (ready(a.reshape(-1)) for a in (matrix, out))
        arguments = next(flat), n, bool(lower), factor, next(flat)
        tiles = -(-n // kernels.TILE)
        stream = xp.cuda.get_current_stream().ptr
        mirror = kernels.KERNELS[f"mirror_{matrix.dtype}"]
        launch.launch(mirror, tiles * tiles, kernels.THREADS, stream, arguments)
    return out, factor


def as_rows(xp: ModuleType, matrix: Any, lower: bool) -> tuple[Any, bool]:
    """Return a matrix, or its transpose, as a C-contiguous array, and which triangle counts.

    For a complex Hermitian matrix the transpose is its conjugate, with the same magnitudes.
    """
    if matrix.flags.f_contiguous and not matrix.flags.c_contiguous:
        return matrix.T, not lower
    return xp.ascontiguousarray(matrix), lower
