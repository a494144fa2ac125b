"""One triangle of a full matrix on a GPU: its largest magnitude, and the matrix that it defines."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero.cuda import launch
from hetero.cuda.ready_arrays import PendingCopy, ReadyArray, fill_with_zeros, ready
from sbth._problem.inspection import require_finite_triangle, safe_scale
from sbth._reduction.dense_to_band import triangle_kernels as kernels

_BLOCKS = 8
"""Blocks of a multiprocessor that look for the largest magnitude (not tuned)."""


class MagnitudeSearch:
    """A search for the largest magnitude in a triangle, which runs while other work is prepared.

    Parameters
    ----------
    xp : module
        CuPy.
    matrix : array (n, n) of `xp`, C-contiguous, on the current GPU
        Of a complex matrix, real and imaginary parts count by themselves.
    lower : bool
        Whether the triangle is the lower one, or the upper one.
    """

    def __init__(self, xp: ModuleType, matrix: Any, lower: bool) -> None:
        n = len(matrix)
        self._copy: PendingCopy | None = None
        if n == 0:
            return
        real = np.dtype(matrix.dtype.char.lower())
        parts = matrix.itemsize // real.itemsize
        stream = xp.cuda.get_current_stream().ptr
        memory = xp.cuda.alloc(np.dtype(np.float64).itemsize)
        largest = ReadyArray(memory, memory.ptr, (1,), np.dtype(np.float64))
        numbers = ReadyArray(matrix, matrix.data.ptr, (n * n * parts,), real)
        fill_with_zeros(largest, stream)
        arguments = numbers, n, parts, bool(lower), largest
        blocks = min(n, _BLOCKS * launch.multiprocessors())
        find_largest = kernels.KERNELS[f"find_largest_{real}"]
        launch.launch(find_largest, blocks, kernels.THREADS, stream, arguments)
        self._copy = PendingCopy([largest], stream)

    def result(self) -> float:
        """Return the largest magnitude, once it is known: infinite if there is NaN or infinity."""
        return 0.0 if self._copy is None else float(self._copy.wait()[0][0])


def mirror_triangle(xp: ModuleType, matrix: Any, lower: bool) -> tuple[Any, float]:
    """Return the Hermitian matrix that a triangle defines, scaled by a power of two.

    Parameters and units are those of `MagnitudeSearch`. Returns a new array (n, n), and the power
    of two with which sums of squares stay within range.

    Raises
    ------
    ValueError
        There is NaN or infinity in the triangle.
    """
    n = len(matrix)
    largest = MagnitudeSearch(xp, matrix, lower).result()
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
