"""Sparse symmetric matrices: lower triangle, bandwidth, and a permutation that narrows the band."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.errors import format_bytes

DENSE_BANDWIDTH = 0.25
"""Share of the order from which on a band is treated as a full matrix. A band of d subdiagonals
takes 6 n^2 d operations, a full matrix about 2 n^3, but those in matrix products. Not tuned."""


def is_sparse(a: Any) -> bool:
    """Return whether a value is a sparse matrix or array of SciPy."""
    return hasattr(a, "tocoo") and hasattr(a, "nnz")


LARGEST_SPARSE_PENCIL = 2000
"""Order up to which `eigh` treats sparse pencils as full ones, which takes seconds and 0.3 GiB. The
time grows with its third power, and few pairs of sparse pencils take a hundredth of it."""

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

    triangle = tril(a if lower else a.conj().T, format="csr")
    return triangle + tril(triangle, -1, format="csr").conj().T


def narrowed(matrix: Any) -> tuple[Any, bool]:
    """Return a sparse matrix, permuted if that makes its band narrower, and whether it was."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    if not matrix.nnz:
        return matrix, False
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    permuted = matrix[order][:, order]
    is_narrower = bandwidth_of(permuted) < bandwidth_of(matrix)
    return (permuted, True) if is_narrower else (matrix, False)
