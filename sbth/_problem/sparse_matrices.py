"""Sparse symmetric matrices: lower triangle, bandwidth, and a permutation that narrows the band."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.errors import format_bytes
from sbth._problem.arrays import is_sparse
from sbth._problem.limits import DENSE_BANDWIDTH, LARGEST_SPARSE_PENCIL
from sbth._problem.storage import dense_to_band, sparse_to_band
from sbth._problem.validation import validate_numbers

SYMMETRY = 100.0
"""Largest difference between an element and its mirror image, in units of eps times the largest
element; files with 15 digits pass."""


FEW_PAIRS_OF_SPARSE_PENCILS = (
    "A few eigenpairs of a sparse problem A x = lambda M x are computed by "
    "scipy.sparse.linalg.eigsh(A, k, M=M, sigma=0.0)"
)


def require_moderate_order(*pencil: Any) -> None:
    """Raise ValueError if a matrix of a pencil is sparse and of a large order."""
    for matrix in filter(is_sparse, pencil):
        if (n := matrix.shape[0]) > LARGEST_SPARSE_PENCIL:
            raise ValueError(
                f"sparse pencils must have an order of at most {LARGEST_SPARSE_PENCIL}, got {n}: "
                "eigh would treat them as full matrices, each of "
                f"{format_bytes(n * n * matrix.dtype.itemsize)}. {FEW_PAIRS_OF_SPARSE_PENCILS}; "
                "for all of them pass a.toarray() and b.toarray()"
            )


def bandwidth_of(matrix: Any) -> int:
    """Return the number of subdiagonals of a matrix up to the last one that is not zero."""
    rows, columns = matrix.nonzero()
    return int(np.max(np.abs(rows - columns), initial=0))


def is_wide(bandwidth: int, order: int) -> bool:
    """Return whether a band is so wide that the matrix is treated as a full one."""
    return bandwidth >= max(1.0, DENSE_BANDWIDTH * order)


def mirrored(a: Any, lower: bool = True) -> Any:
    """Return the symmetric or Hermitian matrix that has a triangle of a sparse matrix."""
    from scipy.sparse import tril

    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {a.shape}")
    triangle = tril(a if lower else a.conj().T, format="csr")
    return triangle + tril(triangle, -1, format="csr").conj().T


def narrowed(matrix: Any) -> tuple[Any, np.ndarray | None, int]:
    """Return a sparse matrix, permuted if that makes its band narrower, and its subdiagonals.

    Row order[i] of the matrix is row i of the permuted one; the order, which comes between both, is
    None if the matrix stays as it is.
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    bandwidth = bandwidth_of(matrix)
    if bandwidth > 1:
        order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
        permuted = matrix[order][:, order]
        narrower = bandwidth_of(permuted)
        if narrower < bandwidth:
            return permuted, order, narrower
    return matrix, None, bandwidth


def as_full(a: Any, lower: bool) -> Any:
    """Return a sparse matrix as an array, by the triangle that is read; all else unchanged."""
    return mirrored(a, lower).toarray() if is_sparse(a) else a


def choose_storage(matrix: Any, *, lower: bool = False) -> tuple[np.ndarray, str, int, bool]:
    """Return a symmetric or Hermitian matrix in the storage that suits its band.

    Returns the band storage, upper or `lower`, or the full matrix; "band" or "full"; the number of
    subdiagonals; and whether rows and columns were permuted, which makes a band narrower.
    """
    order, sparse = None, is_sparse(matrix)
    if sparse:
        matrix, order, bandwidth = narrowed(matrix)
    else:
        bandwidth = bandwidth_of(matrix)
    if is_wide(bandwidth, matrix.shape[0]):
        return matrix.toarray() if sparse else matrix, "full", bandwidth, order is not None
    band = sparse_to_band(matrix, lower) if sparse else dense_to_band(matrix, bandwidth, lower)
    return band, "band", bandwidth, order is not None


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
