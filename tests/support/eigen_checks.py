"""Checks of eigenvalues and eigenvectors, in the units of LAPACK's test programs."""

import mpmath
import numpy as np
import scipy.linalg

EPS = np.finfo(float).eps

THRESHOLD = 20.0
"""Largest ratio that LAPACK's test programs accept."""


def exact_eigenvalues(a, b=None):
    """Return the eigenvalues of a Hermitian matrix or pencil, computed with 40 digits."""
    with mpmath.workdps(40):
        c = mpmath.matrix(a.tolist())
        if b is not None:
            inverse = mpmath.inverse(mpmath.cholesky(mpmath.matrix(b.tolist())))
            c = inverse * c * inverse.H
        return np.array([float(x) for x in mpmath.eighe(c, eigvals_only=True)])


def assert_eigenpairs(a, w, v=None, b=None, *, first: int | None = 0, threshold=THRESHOLD):
    """Check eigenvalues w and eigenvectors v of a Hermitian matrix, or of the pencil A - w B.

    The eigenvalues must be ascending and be number first, first + 1, ... of those that LAPACK
    finds, or any of those with `first=None`. Their errors, residuals and the deviation of the
    vectors from B-orthonormal ones must be below `threshold` times n eps, the norm of A and the
    condition of B.
    """
    n, unit = len(a), np.max(np.abs(a), initial=0.0) or 1.0  # norms would over- or underflow
    eps = np.finfo(w.dtype).eps
    a, w = a.astype(np.promote_types(a.dtype, float)) / unit, w.astype(float) / unit
    b = np.eye(n) if b is None else b
    scale = threshold * n * eps * (np.linalg.cond(b) if n else 1.0)
    norm = np.linalg.norm(a, 1) if a.any() else 1.0
    assert np.all(np.diff(w) >= 0.0)
    true = scipy.linalg.eigh(a, b, eigvals_only=True) if n else w
    if first is None:
        errors = np.min(np.abs(true[:, None] - w), axis=0, initial=np.inf)
    else:
        errors = np.abs(w - true[first : first + len(w)])
    assert np.max(errors, initial=0.0) <= norm * scale
    if v is not None and v.size:
        v = v.astype(np.promote_types(v.dtype, float))
        assert v.shape == (n, len(w))
        assert np.linalg.norm(a @ v - b @ v * w, 1) <= norm * scale
        assert np.linalg.norm(v.conj().T @ b @ v - np.eye(len(w)), 1) <= scale
