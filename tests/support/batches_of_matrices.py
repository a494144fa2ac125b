"""Random batches of Hermitian matrices, and checks of their eigenvalues and eigenvectors."""

import numpy as np

THRESHOLD = 20.0
"""Of LAPACK's test program for its ratios."""


def hermitian(count: int, n: int, dtype=np.float64) -> np.ndarray:
    """Return random Hermitian matrices (count, n, n)."""
    rng = np.random.default_rng(n)
    a = rng.standard_normal((count, n, n))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal((count, n, n))
    return (a + a.transpose(0, 2, 1).conj()).astype(dtype)


def definite(count: int, n: int, dtype=np.float64) -> np.ndarray:
    """Return positive definite matrices (count, n, n) with eigenvalues from 1 to about 3."""
    a = hermitian(count, n, dtype).astype(complex if np.dtype(dtype).kind == "c" else float)
    return (np.eye(n) + a @ a / (2.0 * n)).astype(dtype)


def tridiagonal(d: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return the full matrix with the diagonal d and the subdiagonal e."""
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


def assert_solves(a, values, vectors=None, b=None):
    """Check eigenvalues, and the ratios of LAPACK's test program for each matrix or pencil."""
    import scipy.linalg

    n, eps = a.shape[-1], np.finfo(values.dtype).eps
    double = np.float64 if vectors is None and a.dtype.kind != "c" else np.complex128
    eye = np.eye(n)
    for i, w in enumerate(values):
        matrix, w = a[i].astype(double), w.astype(float)
        metric = eye if b is None else b[i].astype(double)
        true = scipy.linalg.eigh(matrix, None if b is None else metric, eigvals_only=True)
        # Errors of a pencil are relative to |A| |B^-1|, here at most |A|.
        size = np.abs(true).max() if b is None else np.linalg.norm(matrix, 2)
        assert np.abs(w - true).max() <= max(n, 10) * eps * size
        if vectors is not None:
            v = vectors[i].astype(double)
            norm = (np.linalg.norm(matrix, 1) or 1.0) * np.linalg.norm(metric, 1)
            residual = np.linalg.norm(matrix @ v - metric @ v * w, 1) / (norm * n * eps)
            assert residual < THRESHOLD
            assert np.linalg.norm(v.conj().T @ metric @ v - eye, 1) / (n * eps) < THRESHOLD
