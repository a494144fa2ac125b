"""Selected eigenpairs of a matrix in host memory by a reduction: as a band, or as a full matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from sbth._lanczos.arguments import Arguments
from sbth._lanczos.problem import SparseProblem
from sbth._lanczos.wanted import choose_wanted, wanted_ends
from sbth._problem.problem import Call, band_problem, full_problem
from sbth._problem.sparse_matrices import is_wide, narrowed
from sbth._problem.storage import sparse_to_band
from sbth._route.route import solve

DENSE = 0.25
"""Share of elements that are not zero from which on a matrix is treated as a full one at once."""


_DEVIATION = 0.25
"""Largest norm of V^H W, in units of n eps, for vectors V and W of two ranges of eigenvalues."""


class NarrowedMatrix(NamedTuple):
    """A matrix whose rows and columns are permuted if that makes its band narrower.

    Attributes
    ----------
    matrix : SciPy sparse matrix, or array (n, n)
    order : int64 (n,), or None
        Row order[i] of the matrix is row i of the permuted one.
    bandwidth : int
    is_wide : bool
        Whether it is reduced as a full matrix.
    """

    matrix: Any
    order: np.ndarray | None
    bandwidth: int
    is_wide: bool

    @classmethod
    def of(cls, problem: SparseProblem) -> NarrowedMatrix:
        """Return the narrowed matrix of a problem; one with few zeros stays as it is."""
        n, matrix = problem.order, problem.matrix
        nonzeros = matrix.nnz if problem.kind == "sparse" else np.count_nonzero(matrix)
        if nonzeros > DENSE * n * n:
            return cls(matrix, None, n - 1, True)
        matrix, order, bandwidth = narrowed(csr_matrix(matrix))
        return cls(matrix, order, bandwidth, is_wide(bandwidth, n))

    def values(self, select_range: tuple[int, int]) -> np.ndarray:
        """Return the eigenvalues with indices in a range, both ends included."""
        return np.asarray(self._solve(select_range, vectors=False))

    def pairs(self, select_range: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the eigenvalues with indices in a range, and their eigenvectors (n, m)."""
        values, vectors = self._solve(select_range, vectors=True)
        if self.order is None:
            return values, vectors
        original = np.empty_like(vectors)
        original[self.order] = vectors
        return values, original

    def _solve(self, select_range: tuple[int, int], *, vectors: bool) -> Any:
        """Return what `sbth._route.route.solve` returns on a CPU."""
        call = Call("sbth.eigsh", vectors, device="cpu", select="i", select_range=select_range)
        matrix = self.matrix
        if self.is_wide:
            full = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
            return solve(full_problem(full, None, True, call))
        return solve(band_problem(sparse_to_band(matrix, False), None, False, call))


def solve_by_reduction(narrowed: NarrowedMatrix, arguments: Arguments, vectors: bool) -> Any:
    """Return the wanted eigenvalues, and with `vectors` eigenvectors (n, k), of a matrix."""
    pieces = _index_ranges(narrowed, arguments)
    if not vectors:
        return np.concatenate([narrowed.values(piece) for piece in pieces])
    pairs = [narrowed.pairs(piece) for piece in pieces]
    values, columns = (np.hstack(arrays) for arrays in zip(*pairs, strict=True))
    if len(pieces) > 1 and not _are_orthogonal(pairs[0][1], pairs[1][1]):
        # They are from both ends of one cluster, of which all vectors are computed together.
        first, last = pieces[0][0], pieces[-1][-1]
        values, columns = narrowed.pairs((first, last))
        chosen = np.concatenate([np.arange(i, j + 1) for i, j in pieces]) - first
        values, columns = values[chosen], columns[:, chosen]
    return values, columns


def _are_orthogonal(x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether the columns of two matrices (n, i) and (n, j) are orthogonal to rounding."""
    product = x.conj().T @ y
    return bool(np.linalg.norm(product) <= _DEVIATION * len(x) * np.finfo(product.dtype).eps)


def has_known_indices(which: str, sigma: float | None) -> bool:
    """Return whether the indices of the wanted eigenvalues are known before all are computed."""
    return sigma is None and which in ("SA", "LA", "BE")


def _index_ranges(narrowed: NarrowedMatrix, arguments: Arguments) -> list[tuple[int, int]]:
    """Return the one or two ranges of indices of the wanted eigenvalues, both ends included."""
    n, k = narrowed.matrix.shape[0], arguments.k
    which, sigma = arguments.which, arguments.sigma
    if has_known_indices(which, sigma):
        low = {"SA": k, "LA": 0, "BE": k // 2}[which]
        indices = np.concatenate([np.arange(low), np.arange(n - (k - low), n)])
    else:
        values = narrowed.values((0, n - 1)).astype(float)
        # Of equal values those are taken whose indices follow each other, because the vectors of
        # ranges that are computed by themselves need not be orthogonal within one eigenspace.
        positions = np.arange(n) - np.searchsorted(values, sigma or 0.0) + 0.5
        if sigma is not None:
            with np.errstate(divide="ignore"):
                values, positions = 1.0 / (values - sigma), 1.0 / positions
        indices = choose_wanted(wanted_ends(which, k), values, positions)
    cuts = np.flatnonzero(np.diff(indices) > 1) + 1
    return [(int(piece[0]), int(piece[-1])) for piece in np.split(indices, cuts)]
