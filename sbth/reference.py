"""Slow, obvious references: Algorithm 1 of Riesinger (2017) by dense matrices; exact spectra."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def dense_from_band(ab: np.ndarray, lower: bool = False) -> np.ndarray:
    """Expand LAPACK band storage, upper unless `lower`, to the dense symmetric matrix."""
    ab = np.asarray(ab)
    d, n = ab.shape[0] - 1, ab.shape[1]
    a = np.zeros((n, n), ab.dtype)
    for k in range(min(d, n - 1) + 1):
        row = ab[k, : n - k] if lower else ab[d - k, k:]
        a += np.diag(row, -k) + (np.diag(row, k) if k else 0)
    return a


def tridiagonalize_dense(a: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return diagonal and subdiagonal of the tridiagonal form of a dense matrix of bandwidth d.

    The reflections are full matrices (Riesinger 2017, algorithm 1).
    """
    a = np.array(a, float)
    n = len(a)
    for s in range(n - 2):
        for c in range(s + 1, n, max(d, 1)):
            rows = slice(c, min(c + d, n))
            column = s if c == s + 1 else c - d
            x = a[rows, column].copy()
            if not x[1:].any():
                continue
            x[0] += np.copysign(np.linalg.norm(x), x[0])
            q = np.eye(len(x)) - 2.0 * np.outer(x, x) / (x @ x)
            a[rows] = q @ a[rows]
            a[:, rows] = a[:, rows] @ q
    return np.diag(a).copy(), np.diag(a, -1).copy()


def cosine_matrix(
    coefficients: Sequence[float], n: int, lower: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix of bandwidth len(coefficients) - 1 in band storage, and its eigenvalues.

    A_rs = c_|r-s| - c_(r+s) - c_(2(n+1)-r-s), counted from 1, has the eigenvalues
    c_0 + 2 sum_k c_k cos(k pi j/(n+1)).
    """
    c = np.zeros(2 * n + 3)
    b = len(coefficients) - 1
    c[: b + 1] = coefficients
    ab = np.zeros((b + 1, n))
    for k in range(b + 1):
        s = np.arange(1, n - k + 1)
        r = s + k
        row = ab[k, : n - k] if lower else ab[b - k, k:]
        row[:] = c[k] - c[r + s] - c[2 * (n + 1) - r - s]
    angle = np.pi * np.arange(1, n + 1) / (n + 1)
    values = c[0] + 2 * sum(c[k] * np.cos(k * angle) for k in range(1, b + 1))
    return ab, np.sort(values)
