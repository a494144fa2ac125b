"""LAPACK's drivers, as SciPy and NumPy call them, for finite matrices in host memory.

Eigenvalues are in ascending order, eigenvectors columns. Matrices are real or complex Hermitian, in
single or double precision, scaled so that squares of their elements stay within range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from sbth._selection import Selection
from sbth.band_storage import diagonals

PREFIXES = {"f": "s", "d": "d", "F": "c", "D": "z"}
"""First letters of the names of routines, by the character of the dtype."""

_FEW = 3
"""Relatively robust representations compute at most n / 3 eigenvectors, divide and conquer more."""


def routine(symmetric: str, hermitian: str, dtype: DTypeLike) -> tuple[str, Callable]:
    """Return the name of the routine for a dtype, and SciPy's function for it."""
    from scipy.linalg import lapack

    kind = np.dtype(dtype).char
    name = PREFIXES[kind] + (hermitian if kind in "FD" else symmetric)
    return name, getattr(lapack, name)


def _check(info: int, name: str) -> None:
    """Raise LinAlgError if a routine failed."""
    if info != 0:
        raise np.linalg.LinAlgError(
            f"LAPACK's {name} did not converge (info = {info}); try method='sbth', whose "
            "iterations always do"
        )


def tridiagonal_values(d: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return all eigenvalues of a real tridiagonal matrix, by the root-free QL algorithm."""
    name, solve = routine("sterf", "", d.dtype)
    values, info = solve(d, e)
    _check(info, name)
    return np.asarray(values)


def tridiagonal_vectors(
    d: np.ndarray, e: np.ndarray, choose: Callable[[np.ndarray], tuple[int, int]] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute all eigenvalues (n,) of a real tridiagonal matrix, and eigenvectors (n, m).

    `choose` returns the index of the first eigenvalue, of all, whose vector is needed, and that
    after the last one; without it, all are computed.
    """
    n = d.size
    if choose is not None and n > _FEW:
        values = tridiagonal_values(d, e)
        first, stop = choose(values)
        if stop <= first:
            return values, np.zeros((n, 0), d.dtype)
        if stop - first <= n // _FEW:
            return values, _some_tridiagonal_vectors(d, e, first, stop)
    name, solve = routine("stevd", "", d.dtype)
    values, vectors, info = solve(d, e if n > 1 else np.zeros(1, d.dtype))
    _check(info, name)
    return values, vectors if choose is None else vectors[:, slice(*choose(values))]


def _some_tridiagonal_vectors(d: np.ndarray, e: np.ndarray, first: int, stop: int) -> np.ndarray:
    """Return eigenvectors by multiple relatively robust representations."""
    padded = np.append(e, 0.0)
    by_index = 2
    arguments = d, padded, by_index, 0.0, 1.0, first + 1, stop
    *sizes, info = routine("stemr_lwork", "", d.dtype)[1](*arguments, compute_v=1)
    name, solve = routine("stemr", "", d.dtype)
    _, _, vectors, info = solve(*arguments, compute_v=1, lwork=int(sizes[0]), liwork=int(sizes[1]))
    _check(info, name)
    return np.asarray(vectors)[:, : stop - first]


def band_values(ab: np.ndarray, lower: bool) -> np.ndarray:
    """Return all eigenvalues of a band matrix, reduced by rotations as a band."""
    name, solve = routine("sbevd", "hbevd", ab.dtype)
    values, _, info = solve(ab, compute_v=0, lower=int(lower))
    _check(info, name)
    return np.asarray(values)


def band_vectors(ab: np.ndarray, lower: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return all eigenvalues and eigenvectors of a band matrix, reduced by rotations as a band."""
    name, solve = routine("sbevd", "hbevd", ab.dtype)
    values, vectors, info = solve(ab, compute_v=1, lower=int(lower))
    _check(info, name)
    return values, vectors


def expand(ab: np.ndarray, lower: bool) -> np.ndarray:
    """Return the full matrix of which only the triangle is filled that band storage holds."""
    n = ab.shape[1]
    a = np.zeros((n, n), ab.dtype)
    flat = a.reshape(-1)
    for k, diagonal in enumerate(diagonals(ab, lower)):
        first = k * n if lower else k
        flat[first :: n + 1][: n - k] = diagonal
    return a


def full_values(a: np.ndarray, lower: bool) -> np.ndarray:
    """Return all eigenvalues of full matrices (..., n, n)."""
    return np.asarray(np.linalg.eigvalsh(a, "L" if lower else "U"))


def full_vectors(
    a: np.ndarray, lower: bool, selection: Selection, factor: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the selected eigenvalues and eigenvectors of a full matrix, multiplied by `factor`.

    The selection refers to the matrix without the factor.
    """
    n = a.shape[0]
    few = selection.kind == "v" or selection.high - selection.low < n // _FEW
    if selection.kind == "a" or not few:
        values, vectors = np.linalg.eigh(a, "L" if lower else "U")
        chosen = slice(*selection.bounds(values / factor))
        return values[chosen], vectors[:, chosen]
    return _some_full_vectors(a, lower, selection, factor)


def _some_full_vectors(
    a: np.ndarray, lower: bool, selection: Selection, factor: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return selected eigenvalues and eigenvectors by relatively robust representations."""
    n = a.shape[0]
    options: dict[str, Any] = {"compute_v": 1, "lower": int(lower)}
    if selection.kind == "i":
        options |= {"range": "I", "il": int(selection.low) + 1, "iu": int(selection.high) + 1}
    else:
        bound = 2.0 * n * float(np.max(np.abs(a), initial=0.0)) + 1.0  # LAPACK takes no infinity
        low, high = (min(max(x * factor, -bound), bound) for x in (selection.low, selection.high))
        if not low < high:
            return np.zeros(0, a.real.dtype), np.zeros((n, 0), a.dtype)
        options |= {"range": "V", "vl": low, "vu": high}
    *sizes, info = routine("syevr_lwork", "heevr_lwork", a.dtype)[1](n, lower=int(lower))
    names = ("lwork", "lrwork", "liwork") if a.dtype.kind == "c" else ("lwork", "liwork")
    options |= {name: int(size.real) for name, size in zip(names, sizes, strict=True)}
    name, solve = routine("syevr", "heevr", a.dtype)
    values, vectors, count, _, info = solve(a, **options)
    _check(info, name)
    return values[:count], vectors[:, :count]
