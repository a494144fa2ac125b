"""A Hermitian matrix as a real symmetric one of twice the order."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

WORKING_ARRAYS = 7
"""Number of arrays of the size of a matrix that its solution as a real one takes, besides it: the
real matrix and a copy for the reduction are four, and a triangle and its parts the others."""


def as_real_matrix(xp: ModuleType, a: Any) -> Any:
    """Return the real matrix (2 n, 2 n) that has each eigenvalue of a Hermitian one twice.

    For A = X + i Y it is ((X, -Y), (Y, X)), of which only the lower triangle is stored: A z =
    lambda z for z = x + i y means that both (x, y) and (-y, x) are its eigenvectors. Only the lower
    triangle of `a` (n, n) is read, without the imaginary parts of its diagonal.
    """
    n = len(a)
    real = xp.zeros((2 * n, 2 * n), a.real.dtype)
    lower = xp.tril(a)
    real[:n, :n] = real[n:, n:] = lower.real
    below = xp.tril(lower.imag, -1)
    real[n:, :n] = below - below.T
    return real


def join_pairs(values: np.ndarray) -> np.ndarray:
    """Return n eigenvalues from 2 n in ascending order, where each stands twice up to rounding."""
    return 0.5 * values[::2] + 0.5 * values[1::2]
