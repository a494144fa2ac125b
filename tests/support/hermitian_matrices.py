"""Random Hermitian matrices, alone and in batches, in full and band storage."""

import numpy as np
import scipy.linalg

from eigen_checks import assert_eigenpairs


def random_numbers(rng, shape, dtype=np.float64) -> np.ndarray:
    """Return random numbers, complex ones for a complex type."""
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else a).astype(dtype)


def hermitian(n: int, dtype=np.float64, count: int | None = None, seed: int = 0) -> np.ndarray:
    """Return a random Hermitian matrix, or a batch (count, n, n) of them."""
    shape = (n, n) if count is None else (count, n, n)
    a = random_numbers(np.random.default_rng((n, seed)), shape, dtype)
    return a + np.swapaxes(a, -1, -2).conj()


def definite(n: int, dtype=np.float64, count: int | None = None) -> np.ndarray:
    """Return positive definite matrices with eigenvalues from 1 to about 3."""
    a = hermitian(n, np.promote_types(dtype, float), count, seed=1)
    return (np.eye(n) + a @ a / (2.0 * n)).astype(dtype)


def tridiagonal(d: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return the full matrix with the diagonal d and the subdiagonal e."""
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


def narrow(a: np.ndarray, d: int) -> np.ndarray:
    """Return the matrix whose elements beyond d subdiagonals are 0."""
    return np.triu(np.tril(a, d), -d)


def store(a: np.ndarray, d: int, lower: bool) -> np.ndarray:
    """Return LAPACK band storage, with NaN in the entries outside the matrix."""
    n = len(a)
    ab = np.full((d + 1, n), np.nan, a.dtype)
    for i in range(n):
        for j in range(max(0, i - d), i + 1):
            ab[(i - j, j) if lower else (d + j - i, i)] = a[i, j] if lower else a[j, i]
    return ab


def full_matrix(ab: np.ndarray, lower: bool) -> np.ndarray:
    """Return the matrix of a band, in double precision; imaginary parts of the diagonal are 0."""
    d, n = len(ab) - 1, ab.shape[1]
    full = np.zeros((n, n), np.promote_types(ab.dtype, float))
    for i in range(n):
        for j in range(max(0, i - d), i + 1):
            full[i, j] = ab[i - j, j] if lower else np.conj(ab[d + j - i, i])
            full[j, i] = np.conj(full[i, j])
        full[i, i] = full[i, i].real
    return full


def assert_solves(a, values, vectors=None, b=None):
    """Check the eigenvalues and eigenvectors of each matrix or pencil of a batch.

    The errors of eigenvalues are below n eps, less than LAPACK's test program asks.
    """
    double = np.promote_types(a.dtype if b is None else np.result_type(a, b), float)
    for i, w in enumerate(values):
        matrix, metric = a[i].astype(double), None if b is None else b[i].astype(double)
        assert_eigenpairs(matrix, w, None if vectors is None else vectors[i], metric)
        true, eps = scipy.linalg.eigh(matrix, metric, eigvals_only=True), np.finfo(w.dtype).eps
        # Errors of a pencil are relative to |A| |B^-1|, here at most |A|.
        size = np.abs(true).max() if b is None else np.linalg.norm(matrix, 2)
        assert np.abs(w - true).max() <= max(len(w), 10) * eps * size
