"""Band matrices: LAPACK's storage and the columns that the reduction works on (thesis, eq. 5.3).

A working matrix is a C-ordered array (n, 2 d): row j holds column j of the matrix from the diagonal
downward, with room for the d - 1 rows by which a sweep fills in.
"""

from __future__ import annotations

import math

import numpy as np

from hetero import errors
from hetero.arrays import as_real


def checked_band(ab) -> np.ndarray:
    """`ab` as float32 or float64, (d + 1, n), d <= n - 1: rows beyond the matrix are cut off.

    Raises
    ------
    TypeError
        Complex numbers, strings, objects, ragged sequences.
    ValueError
        Not two dimensions, or no rows.
    """
    ab = checked_real("ab", ab)
    if ab.ndim != 2 or ab.shape[0] == 0:
        raise ValueError(f"ab must have the shape (bandwidth + 1, n), got {ab.shape}")
    return ab


def checked_real(name: str, values) -> np.ndarray:
    """`values` in host memory, float32 if they are, else float64.

    Raises
    ------
    TypeError
        Complex numbers, strings, objects, ragged sequences.
    """
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        raise TypeError(f"{name} must be real: complex Hermitian matrices are not supported")
    return as_real(name, values, None)


def diagonals(ab: np.ndarray, lower: bool) -> list[np.ndarray]:
    """The diagonal and the subdiagonals of a checked `ab`, as views of it."""
    d, n = ab.shape[0] - 1, ab.shape[1]
    width = min(d, max(n - 1, 0))
    return [ab[k, : n - k] if lower else ab[d - k, k:] for k in range(width + 1)]


def scaling(ab: np.ndarray, lower: bool) -> float:
    """A power of two that `ab` is multiplied with, so that squares neither over- nor underflow.

    Raises
    ------
    ValueError
        NaN or infinity within the band; what lies outside the matrix is not looked at.
    """
    largest = 0.0
    for k, diagonal in enumerate(diagonals(ab, lower)):
        low = float(np.min(diagonal, initial=0.0))
        high = float(np.max(diagonal, initial=0.0))
        if not (math.isfinite(high) and math.isfinite(low)):
            j = int(np.argmin(np.isfinite(diagonal)))
            raise ValueError(f"ab holds {diagonal[j]} for element ({j + k}, {j}) of the matrix")
        largest = max(largest, high, -low)
    return scale_of(largest, ab.dtype)


def scale_of(largest: float, dtype) -> float:
    """A power of two that brings `largest` to where sums of squares are harmless.

    `low` is eps^-2 times the elements whose squares begin to lose digits: reflections drop those.
    """
    info = np.finfo(dtype)
    eps = float(info.eps)
    low, high = math.sqrt(float(info.tiny) / eps) / eps**2, math.sqrt(float(info.max)) * 1e-6
    if largest == 0.0 or low < largest < high:
        return 1.0
    return 2.0 ** min(-math.frexp(largest)[1], int(info.maxexp) - 2)


def band_from_dense(a, bandwidth: int | None = None, *, lower: bool = True) -> np.ndarray:
    """LAPACK band storage of a dense symmetric matrix, of which one triangle is read.

    Parameters
    ----------
    a : array_like (n, n)
    bandwidth : int, optional
        Subdiagonals to keep; by default all up to the last one with a number other than 0.

    Raises
    ------
    ValueError
        `a` is not square, or has something outside `bandwidth`.
    """
    a = np.asarray(a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {a.shape}")
    a = a if lower else a.T
    rows, columns = np.nonzero(np.tril(a))
    widest = int(np.max(rows - columns, initial=0))
    d = widest if bandwidth is None else errors.whole("bandwidth", bandwidth, 0)
    if d < widest:
        raise ValueError(f"bandwidth={d} leaves out elements: a has {widest} subdiagonals")
    ab = np.zeros((d + 1, len(a)), a.dtype)
    for k in range(min(d, len(a) - 1) + 1):
        ab[k if lower else d - k, slice(len(a) - k) if lower else slice(k, None)] = np.diag(a, -k)
    return ab


def band_from_sparse(a, *, lower: bool = True) -> np.ndarray:
    """LAPACK band storage of a SciPy sparse matrix, of which the lower triangle is read.

    To get a small bandwidth first permute it with
    `scipy.sparse.csgraph.reverse_cuthill_mckee(a, symmetric_mode=True)`.
    """
    if not hasattr(a, "tocoo"):
        raise TypeError(
            f"a must be a SciPy sparse matrix, got {type(a).__name__}; band_from_dense takes others"
        )
    a = a.tocoo()
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {a.shape}")
    keep = (a.row >= a.col) & (a.data != 0)
    k, column, data = (a.row - a.col)[keep], a.col[keep], a.data[keep]
    d = int(np.max(k, initial=0))
    ab = np.zeros((d + 1, a.shape[0]), np.result_type(a.dtype, np.float32))
    np.add.at(ab, (k, column) if lower else (d - k, column + k), data)
    return ab


def dense_from_band(ab, *, lower: bool = True) -> np.ndarray:
    """The dense symmetric matrix of LAPACK band storage."""
    ab = checked_band(ab)
    n = ab.shape[1]
    a = np.zeros((n, n), ab.dtype)
    for k, diagonal in enumerate(diagonals(ab, lower)):
        j = np.arange(n - k)
        a[j + k, j] = a[j, j + k] = diagonal
    return a
