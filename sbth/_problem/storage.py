"""Storage of band matrices: LAPACK's, full matrices, and names of matrices of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

import numpy as np


def diagonals(ab: np.ndarray, lower: bool) -> list[np.ndarray]:
    """Return the diagonal and the subdiagonals of a validated `ab`, as views of it."""
    d, n = ab.shape[0] - 1, ab.shape[1]
    width = min(d, max(n - 1, 0))
    return [ab[k, : n - k] if lower else ab[d - k, k:] for k in range(width + 1)]


def matrix_of_batch(names: Iterable[str], index: int, lead: Sequence[int]) -> str:
    """Return how errors call matrix number `index` of arrays with leading dimensions `lead`."""
    position = tuple(int(i) for i in np.unravel_index(index, tuple(lead)))
    return f"{', '.join(names)}, matrix {position} of the batch"


def expand_triangle(xp: ModuleType, band: Any, lower: bool) -> Any:
    """Return the lower triangle of the matrix (n, n) of a band, with a real diagonal."""
    d, n = band.shape[0] - 1, band.shape[1]
    flat = xp.zeros(n * n, band.dtype)
    for k in range(min(d, n - 1) + 1):
        diagonal = band[k, : n - k] if lower else band[d - k, k:].conj()
        # Elements of a subdiagonal are n + 1 numbers apart.
        flat[k * n :: n + 1][: n - k] = diagonal if k else diagonal.real
    return flat.reshape(n, n)


def dense_to_band(a: np.ndarray, bandwidth: int | None, lower: bool) -> np.ndarray:
    """Copy a triangle (n, n) to band storage, by default up to the last subdiagonal with elements.

    Raises
    ------
    ValueError
        There are elements outside `bandwidth`.
    """
    a = a if lower else a.T
    n, (rows, columns) = len(a), np.nonzero(np.tril(a))
    widest = int(np.max(rows - columns, initial=0))
    d = widest if bandwidth is None else bandwidth
    if d < widest:
        raise ValueError(f"bandwidth={d} is too small: a has {widest} nonzero subdiagonals")
    ab = np.zeros((d + 1, n), a.dtype)
    for k in range(min(d, n - 1) + 1):
        ab[k if lower else d - k, slice(n - k) if lower else slice(k, None)] = np.diag(a, -k)
    return ab


def sparse_to_band(a: Any, lower: bool) -> np.ndarray:
    """Copy the lower triangle of a square sparse matrix to band storage."""
    a = a.tocoo()
    stored = (a.row >= a.col) & (a.data != 0)
    k, column, data = (a.row - a.col)[stored], a.col[stored], a.data[stored]
    d = int(np.max(k, initial=0))
    ab = np.zeros((d + 1, a.shape[0]), a.dtype if a.dtype.kind in "fc" else np.float64)
    if lower:
        np.add.at(ab, (k, column), data)
    else:
        np.add.at(ab, (d - k, column + k), data.conj())
    return ab
