"""Eigenvalues of a symmetric matrix in any storage, by the method that suits its band."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero import Device
from sbth._sparse_matrices import bandwidth_of, is_wide, narrowed
from sbth.band_storage import (
    band_from_dense,
    band_from_sparse,
    validate_numbers,
)
from sbth.dense_eigenvectors import eigvalsh
from sbth.eigenvalues import eigvals_banded
from sbth.results import Spectrum

SYMMETRY = 100.0
"""Largest difference between an element and its mirror image, in units of eps times the largest
element; files with 15 digits pass."""


def spectrum(
    a: Any,
    *,
    select: str | int = "a",
    select_range: tuple | None = None,
    tol: float | None = None,
    method: str = "auto",
    progress: bool = False,
    device: str | Device | None = None,
) -> Spectrum:
    """Compute eigenvalues of a dense or sparse, symmetric or Hermitian matrix.

    The rows and columns of a sparse matrix are permuted by the reverse Cuthill-McKee algorithm if
    that narrows its band. Narrow bands are reduced as such, also those of dense matrices, and wide
    ones as full matrices.

    Parameters
    ----------
    a : array_like (n, n), or SciPy sparse matrix
        In host memory. Both triangles are read, and must agree.
    select, select_range, tol
        See `eigvalsh_tridiagonal`.
    method : {"auto", "sbth", "lapack", "cusolver"}
        See `eigvals_banded` and `eigvalsh`; "cusolver" for full matrices only.
    progress : bool
        Show how far long computations are.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    Spectrum
        With `values`, and a picture by `plot`.

    Raises
    ------
    TypeError : `a` does not hold numbers
    ValueError : `a` is not square, or not symmetric or Hermitian, or holds NaN or infinity
    """
    options: dict[str, Any] = {
        "select": select,
        "select_range": select_range,
        "tol": tol,
        "method": method,
        "progress": progress,
        "device": device,
    }
    matrix, permuted = check_symmetric(a), False
    is_sparse = hasattr(matrix, "tocoo")
    if is_sparse:
        matrix, permuted = narrowed(matrix)
    order = matrix.shape[0]
    bandwidth = bandwidth_of(matrix)
    if is_wide(bandwidth, order):
        values = eigvalsh(matrix.toarray() if is_sparse else matrix, **options)
        return Spectrum(np.asarray(values), order, bandwidth, "dense", permuted)
    band = band_from_sparse(matrix) if is_sparse else band_from_dense(matrix, bandwidth)
    values = eigvals_banded(band, **options)
    return Spectrum(np.asarray(values), order, bandwidth, "band", permuted)


def check_symmetric(a: Any) -> Any:
    """Return a matrix as a NumPy array, or a sparse one in rows, if it is finite and symmetric.

    A complex one must be Hermitian.

    Raises
    ------
    TypeError, ValueError
    """
    check = _checked_sparse if hasattr(a, "tocoo") else _checked_dense
    return check(a)


def _checked_dense(a: Any) -> np.ndarray:
    """Return a dense matrix as a NumPy array, if it is finite and symmetric."""
    matrix = validate_numbers("a", a)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        _refuse(f"a must be finite, got {matrix[row, column]}", row, column)
    difference = np.abs(matrix - matrix.conj().T)
    if matrix.size and difference.max() > _tolerance(matrix):
        row, column = divmod(int(np.argmax(difference)), matrix.shape[1])
        _refuse_asymmetry(matrix[row, column], matrix[column, row], row, column)
    return matrix


def _checked_sparse(a: Any) -> Any:
    """Return a sparse matrix in rows, if it is finite and symmetric."""
    matrix = a.tocsr()
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {matrix.shape}")
    is_single = matrix.dtype in (np.float32, np.complex64)
    wide = np.complex128 if matrix.dtype.kind == "c" else np.float64
    matrix = matrix.astype(matrix.dtype if is_single else wide)  # a copy, which may be changed
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all():
        coordinates = matrix.tocoo()
        k = int(np.argmin(np.isfinite(coordinates.data)))
        value = coordinates.data[k]
        _refuse(f"a must be finite, got {value}", coordinates.row[k], coordinates.col[k])
    difference = abs(matrix - matrix.conj().T).tocoo()
    if difference.nnz and difference.data.max() > _tolerance(matrix.data):
        k = int(np.argmax(difference.data))
        row, column = int(difference.row[k]), int(difference.col[k])
        _refuse_asymmetry(matrix[row, column], matrix[column, row], row, column)
    return matrix


def _tolerance(elements: np.ndarray) -> float:
    """Return the largest difference of mirrored elements that passes as rounding."""
    return SYMMETRY * float(np.finfo(elements.dtype).eps) * float(np.abs(elements).max())


def _refuse_asymmetry(value: complex, mirrored: complex, row: int, column: int) -> None:
    """Raise the error for a matrix that is not symmetric."""
    adjective = "Hermitian" if np.iscomplexobj(value) else "symmetric"
    _refuse(f"a must be {adjective}: {value:g} and {mirrored:g} are mirror images", row, column)


def _refuse(message: str, row: int, column: int) -> None:
    """Raise ValueError with the place of an element."""
    raise ValueError(f"{message}, at ({row}, {column})")
