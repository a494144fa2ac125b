"""Checks of a few eigenvectors that LAPACK's inverse iteration (stein, in syevr) has computed.

It makes the vectors of eigenvalues orthogonal that differ by less than 1e-3 of the norm. Others are
orthogonal to eps times the norm over the distance, up to a few n eps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sbth._vendor.routines import blas_routine

RESIDUAL = 0.5
"""Largest residual |A v - w v| that is accepted, in units of n eps |A|."""

_STEP = 10.0
"""Distance, in units of eps |w|, by which LAPACK moves equal eigenvalues apart, each from the one
before it. It leaves residuals as large as the sum of these steps."""

_ROUNDING = 4.0
"""Elements of V^H V - 1, in units of eps, that are left as they are."""


def may_have_large_residuals(values: np.ndarray, order: int) -> bool:
    """Return whether so many eigenvalues, in ascending order, agree that LAPACK's steps add up."""
    count = max(1, int(RESIDUAL * order / _STEP))
    if values.size <= count:
        return False
    largest = max(abs(values.item(0)), abs(values.item(-1)))
    limit = count * _STEP * float(np.finfo(values.dtype).eps) * largest
    return bool((values[count:] - values[: values.size - count]).min() <= limit)


def orthonormalize(vectors: np.ndarray) -> np.ndarray | None:
    """Return vectors (n, m) that are orthonormal to rounding, None if far from it, or with NaN.

    The polar factor of V is nearest to V; one step of the iteration of Newton and Schulz,
    V (3 - V^H V) / 2, squares the deviation. It takes n m^2 multiply-adds, or twice as many.
    """
    if not vectors.size:
        return vectors
    eps = float(np.finfo(vectors.dtype).eps)
    conjugate_transposed = 2
    gemm = blas_routine("gemm", vectors.dtype)
    deviation = gemm(1.0, vectors, vectors, trans_a=conjugate_transposed)
    deviation.ravel("K")[:: len(deviation) + 1] -= 1.0
    largest = float(np.abs(deviation).max())
    if not largest < math.sqrt(eps):
        return None
    if largest <= _ROUNDING * eps:
        return vectors
    improved: np.ndarray = gemm(-0.5, vectors, deviation, 1.0, vectors)
    return improved


def tridiagonal_residuals(d: Any, e: Any, values: Any, x: Any) -> Any:
    """Return T X - X W for columns X (n, m) of NumPy or CuPy and a tridiagonal matrix T."""
    residuals = (d[:, None] - values) * x
    residuals[:-1] += e[:, None] * x[1:]
    residuals[1:] += e[:, None] * x[:-1]
    return residuals


def full_residuals(a: np.ndarray, lower: bool, values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return A X - X W for columns X (n, m) and a full matrix, of which one triangle is filled."""
    # For BLAS, which has arrays in columns, an array in rows is the transposed one, conj(A).
    multiply = blas_routine("hemm" if a.dtype.kind == "c" else "symm", a.dtype)
    image: np.ndarray = multiply(1.0, a.T, x.conj(), lower=int(not lower)).conj()
    return image - x * values


def are_small(residuals: np.ndarray, norm: float) -> bool:
    """Return whether the columns (n, m) are small beside a norm of the matrix; not for NaN."""
    eps = float(np.finfo(residuals.dtype).eps)
    largest = float(np.linalg.norm(residuals, axis=0).max())
    return largest <= RESIDUAL * len(residuals) * eps * norm
