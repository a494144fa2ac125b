"""LAPACK's band storage of full and sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hetero import validation
from sbth._problem.arrays import require_host
from sbth._problem.storage import dense_to_band, diagonals, sparse_to_band
from sbth._problem.validation import validate_band, validate_bool, validate_matrix


def band_from_dense(
    a: ArrayLike, bandwidth: int | None = None, *, lower: bool = False
) -> np.ndarray:
    """Copy one triangle of a dense symmetric or Hermitian matrix to LAPACK band storage.

    Parameters
    ----------
    a : array_like (n, n)
    bandwidth : int, optional
        Number of subdiagonals to store; by default all up to the last one that is not 0.
    lower : bool
        Read the lower triangle and return lower storage, rather than the upper ones.

    Returns
    -------
    array (bandwidth + 1, n) of float32, float64, complex64 or complex128

    Raises
    ------
    TypeError
        `a` holds something other than numbers, or is on a GPU.
    ValueError
        `a` is not square, is masked, or has nonzero elements outside `bandwidth`.
    """
    lower = validate_bool("lower", lower)
    require_host("a", a, "band_from_dense")
    matrix, order, _ = validate_matrix(a, allow_complex=True)
    if bandwidth is not None:
        bandwidth = validation.check_integer("bandwidth", bandwidth, 0, max(order - 1, 0))
    return dense_to_band(matrix, bandwidth, lower)


def band_from_sparse(a: Any, *, lower: bool = False) -> np.ndarray:
    """Copy the lower triangle of a SciPy sparse matrix to LAPACK band storage.

    For a small bandwidth, permute the matrix first with
    `scipy.sparse.csgraph.reverse_cuthill_mckee(a, symmetric_mode=True)`.

    Parameters
    ----------
    a : SciPy sparse matrix or array (n, n), symmetric or Hermitian
    lower : bool
        Return lower storage rather than upper storage.

    Raises
    ------
    TypeError
        `a` is not a SciPy sparse matrix.
    ValueError
        `a` is not square.
    """
    lower = validate_bool("lower", lower)
    if not hasattr(a, "tocoo") or not isinstance(getattr(a, "dtype", None), np.dtype):
        raise TypeError(
            f"a must be a SciPy sparse matrix, got {type(a).__name__}; for dense matrices there is "
            "band_from_dense"
        )
    require_host("a", a.tocoo().data, "band_from_sparse")
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {a.shape}")
    return sparse_to_band(a, lower)


def dense_from_band(ab: ArrayLike, *, lower: bool = False) -> np.ndarray:
    """Expand LAPACK band storage, upper unless `lower`, to the symmetric or Hermitian matrix.

    Raises
    ------
    TypeError, ValueError
        `ab` does not hold numbers, is not two-dimensional, or is on a GPU.
    """
    lower = validate_bool("lower", lower)
    require_host("ab", ab, "dense_from_band")
    band, (_, n), _ = validate_band(ab, allow_complex=True)
    a = np.zeros((n, n), band.dtype)
    for k, diagonal in enumerate(diagonals(band, lower)):
        j = np.arange(n - k)
        a[j + k, j] = diagonal if lower else diagonal.conj()
        a[j, j + k] = a[j + k, j].conj()
    return a
