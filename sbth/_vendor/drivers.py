"""LAPACK's drivers for finite matrices in host memory, by SciPy's functions for single routines.

SciPy's solvers check arguments that are checked already, which takes as long as a matrix of order
20. Large full matrices and stacks are solved by NumPy, which releases the interpreter's lock.

Eigenvalues are in ascending order, eigenvectors columns. Matrices are real or complex Hermitian, in
single or double precision, scaled so that squares of their elements stay within range.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sbth._problem.inspection import Sizes, sizes_of, unscale
from sbth._problem.selection import Selection
from sbth._vendor import checks
from sbth._vendor.routines import call_pointer, routine

_FEW = 6, 4
"""Inverse iteration computes at most n / 6 eigenvectors up to the order below, and of full matrices
n / 4 beyond it. For more, divide and conquer takes less time for all (AMD EPYC, random ones)."""

_SMALL = 300
"""The order up to which the first of these shares holds."""

_BISECTED_SHARE = 16
"""Bisection computes less than n / 16 eigenvalues of a tridiagonal matrix faster than the root-free
QL algorithm computes all."""


_DUST = 2.0**-200
"""Elements below this share of the largest are 0 for the root-free QL algorithm. It divides their
squares by one another: subnormal ones have few digits, and it lost the largest eigenvalues."""


def are_few(count: int, order: int) -> bool:
    """Return whether a subset of the eigenvectors is computed by inverse iteration."""
    return count * _FEW[order > _SMALL] <= order


def _failure(info: int, name: str) -> np.linalg.LinAlgError:
    """Return the error for a routine that failed, with `info` other than 0."""
    return np.linalg.LinAlgError(
        f"LAPACK's {name} did not converge (info = {info}); try method='sbth', whose "
        "iterations always do"
    )


def tridiagonal_values(d: np.ndarray, e: np.ndarray, sizes: Sizes) -> np.ndarray:
    """Return all eigenvalues of a real tridiagonal matrix, by the root-free QL algorithm."""
    name, solve = routine("sterf", "", d.dtype)
    largest, smallest, _ = sizes
    dust = _DUST * largest
    if smallest < dust:
        d, e = (np.where(np.abs(x) < dust, 0.0, x) for x in (d, e))
    values: np.ndarray
    values, info = solve(d, e)
    if info != 0:
        raise _failure(info, name)
    return values


def tridiagonal_vectors(
    d: np.ndarray, e: np.ndarray, choose: Callable[[np.ndarray], tuple[int, int]] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute all eigenvalues (n,) of a real tridiagonal matrix, and eigenvectors (n, m).

    `choose` returns the index of the first eigenvalue, of all, whose vector is needed, and that
    after the last one; without it, all are computed.
    """
    n = d.size
    if choose is not None:
        values = tridiagonal_values(d, e, sizes_of(d, e))
        first, stop = choose(values)
        if stop <= first:
            return values, np.zeros((n, 0), d.dtype)
        if (stop - first) * _FEW[0] <= n:
            vectors = _iterate_inversely(d, e, values[first:stop])
            if vectors is not None:
                return values, vectors
    name, solve = routine("stevd", "", d.dtype)
    values, vectors, info = solve(d, e if n > 1 else np.zeros(1, d.dtype))
    if info != 0:
        raise _failure(info, name)
    return values, vectors if choose is None else vectors[:, slice(*choose(values))]


def selected_tridiagonal_vectors(
    d: np.ndarray, e: np.ndarray, selection: Selection, require_memory: Callable[[], None]
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the selected eigenvalues (m,) and eigenvectors (n, m) of a tridiagonal matrix.

    The order is 2 at least, and no subdiagonal element is negligible. `require_memory` raises
    MemoryError if there is no room for all eigenvectors; it is called before they are computed.
    """
    n = d.size
    if selection.kind == "a":
        require_memory()
        return tridiagonal_vectors(d, e, None)
    if selection.kind == "i":
        first, stop = int(selection.low), int(selection.high) + 1
    else:
        first, stop = _count_up_to(d, e, selection.low, selection.high)
        if stop <= first:
            return np.zeros(0), np.zeros((n, 0))
    if (stop - first) * _FEW[0] <= n:
        values = _some_tridiagonal_values(d, e, first, stop)
        vectors = _iterate_inversely(d, e, values)
        if vectors is not None:
            return values, vectors
    require_memory()
    values, vectors = tridiagonal_vectors(d, e, None)
    return values[first:stop], vectors[:, first:stop]


def _count_up_to(d: np.ndarray, e: np.ndarray, low: float, high: float) -> tuple[int, int]:
    """Return the numbers of eigenvalues of a tridiagonal matrix up to `low` and up to `high`."""
    bound = 4.0 * max(float(np.abs(d).max()), float(np.abs(e).max()))
    interval = _clip_interval(low, high, bound)
    if interval is None:
        return 0, 0
    # Another routine for this, dlarrc, counts one too many where a pivot is 0.
    d, squares = np.ascontiguousarray(d), e * e
    smallest_pivot = float(np.finfo(float).tiny) * max(1.0, float(squares.max()))
    count_only = 1, 0, d.size, 1, 1, 0, 0.0, 0.0, smallest_pivot
    counts, x, i = np.zeros(2, np.int32), np.zeros(1), np.zeros(1, np.int32)
    matrix = d, squares, squares
    call_pointer("dlaebz", (*count_only, *matrix, i, np.array(interval), x, i, counts, x, i))
    return int(counts[0]), int(counts[1])


def _some_tridiagonal_values(d: np.ndarray, e: np.ndarray, first: int, stop: int) -> np.ndarray:
    """Return eigenvalues number first, ..., stop - 1 of a tridiagonal matrix, in ascending order.

    LAPACK's bisection by index may lose some at the ends of a cluster; then all are computed.
    """
    by_index, count = 2, stop - first
    if count * _BISECTED_SHARE <= d.size:
        _, solve = routine("stebz", "", d.dtype)
        number, values, _, _, info = solve(d, e, by_index, 0.0, 1.0, first + 1, stop, 0.0, b"E")
        if info == 0 and number == count:
            return np.asarray(values[:count])
    return tridiagonal_values(d, e, sizes_of(d, e))[first:stop]


def _iterate_inversely(d: np.ndarray, e: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """Return the eigenvectors (n, m) of some eigenvalues of a tridiagonal matrix.

    None if LAPACK's inverse iteration fails, or does not give orthonormal vectors with small
    residuals.
    """
    n = d.size
    _, solve = routine("stein", "", d.dtype)
    one_block = np.ones(n, np.int32), np.full(n, n, np.int32)
    vectors, info = solve(d, e, values, *one_block)
    vectors = checks.orthonormalize(vectors) if info == 0 else None
    if vectors is not None and checks.may_have_large_residuals(values, n):
        norm = float(np.abs(d).max()) + 2.0 * float(np.abs(e).max())
        if not checks.are_small(checks.tridiagonal_residuals(d, e, values, vectors), norm):
            return None
    return vectors


def _clip_interval(low: float, high: float, bound: float) -> tuple[float, float] | None:
    """Return the part within (-bound, bound] of an interval (low, high], None if there is none.

    LAPACK takes no infinity.
    """
    low, high = min(max(low, -bound), bound), min(max(high, -bound), bound)
    return (low, high) if low < high else None


_LARGEST_QL = 25
"""Order up to which LAPACK's divide and conquer is its QL iteration, with copies and a product of
matrices around it, which the routine for the QL iteration itself does without."""


def solve_band(ab: np.ndarray, lower: bool, *, vectors: bool) -> tuple[np.ndarray, Any]:
    """Return all eigenvalues of a band matrix, reduced by rotations as a band, and eigenvectors.

    Without `vectors` these are None.
    """
    symmetric = "sbev" if ab.shape[1] <= _LARGEST_QL else "sbevd"  # SciPy has no hbev
    if ab.dtype.kind == "c":
        # LAPACK divides elements by their magnitudes, and subnormal ones have too few digits for a
        # phase of magnitude 1, by which it then multiplies other elements.
        real = np.finfo(ab.dtype)
        parts = np.ascontiguousarray(ab).view(real.dtype)
        ab = np.where(np.abs(parts) < real.tiny / real.eps, 0, parts).view(ab.dtype)
    name, solve = routine(symmetric, "hbevd", ab.dtype)
    values, columns, info = solve(ab, int(vectors), int(lower), overwrite_ab=0)  # SciPy: 1
    if info != 0:
        raise _failure(info, name)
    return values, columns if vectors else None


def expand(ab: np.ndarray, lower: bool) -> np.ndarray:
    """Return the full matrix of which only the triangle is filled that band storage holds.

    In an array with rows for them all, elements of band storage are n numbers apart from those
    below them, n + 1 from those to the right. Those outside the matrix are in rows that are cut.
    """
    width, n = ab.shape[0] - 1, ab.shape[1]
    a = np.zeros((n + width, n), ab.dtype)
    np.ndarray(ab.shape, ab.dtype, a, strides=(a.strides[0], sum(a.strides)))[...] = ab
    return a[:n] if lower else a[width:]


def stack_values(a: np.ndarray, lower: bool) -> np.ndarray:
    """Return all eigenvalues of full matrices (..., n, n)."""
    return np.asarray(np.linalg.eigvalsh(a, "L" if lower else "U"))


def full_values(a: np.ndarray, lower: bool) -> np.ndarray:
    """Return all eigenvalues of a full matrix (n, n)."""
    return _solve_full(a, lower, 0)[0]


def _solve_full(a: np.ndarray, lower: bool, compute_v: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all eigenvalues, and the eigenvectors if `compute_v` is 1."""
    n = a.shape[0]
    if not 0 < n <= _LARGEST_DIRECT:
        if compute_v:
            return np.linalg.eigh(a, "L" if lower else "U")
        return stack_values(a, lower), np.zeros((0, 0), a.dtype)
    name, solve, sizes = _routine_with_workspace("syevd", "heevd", a.dtype, n, compute_v)
    # Arguments by name, of which the sizes are the next, take SciPy's function 0.3 us longer.
    values, vectors, info = solve(a, compute_v, int(lower), *sizes.values())
    if info != 0:
        raise _failure(info, name)
    return values, vectors


@functools.lru_cache(maxsize=256)
def _routine_with_workspace(
    symmetric: str, hermitian: str, dtype: np.dtype, n: int, compute_v: int | None = None
) -> tuple[str, Callable, dict[str, int]]:
    """Return what `routine` does, and the sizes of workspace for blocks, by argument.

    `compute_v` is that of the routine, None if the size does not depend on it.
    """
    options = {} if compute_v is None else {"compute_v": compute_v}
    _, ask = routine(symmetric + "_lwork", hermitian + "_lwork", dtype)
    *sizes, _ = ask(n, lower=1, **options)
    names = _WORKSPACES[hermitian if dtype.kind == "c" else symmetric]
    # A size comes as a number in the type of the matrix, to which float32 may have rounded it down.
    grow = 1.0 + float(np.finfo(dtype).eps)
    space = {name: math.ceil(x.real * grow) for name, x in zip(names, sizes, strict=True)}
    return *routine(symmetric, hermitian, dtype), space


_LARGEST_DIRECT = 64
"""Order up to which full matrices are solved by SciPy's function for one routine, which takes 4 us
less than NumPy's solver, but does not release the interpreter's lock, here for up to 0.3 ms."""

_WORKSPACES = {
    **{"syevd": ("lwork", "liwork"), "heevd": ("lwork", "liwork", "lrwork")},
    **{"syevr": ("lwork", "liwork"), "heevr": ("lwork", "lrwork", "liwork")},
}
"""Sizes of workspace of each routine, in the order in which SciPy's queries return them."""


def full_vectors(
    a: np.ndarray, lower: bool, selection: Selection, factor: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the selected eigenvalues and eigenvectors of a full matrix, multiplied by `factor`.

    The selection refers to the matrix without the factor.
    """
    n = a.shape[0]
    if selection.kind == "a" or n == 0:
        return _solve_full(a, lower, 1)
    if selection.kind == "v" or are_few(selection.count_indices(), n):
        pairs = _some_full_vectors(a, lower, selection, factor)
        if pairs is not None:
            return pairs
    values, vectors = _solve_full(a, lower, 1)
    chosen = slice(*selection.bounds(unscale(values, factor)))
    return values[chosen], vectors[:, chosen]


def _some_full_vectors(
    a: np.ndarray, lower: bool, selection: Selection, factor: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return selected eigenvalues and eigenvectors by bisection and inverse iteration.

    None if LAPACK finds fewer than asked for, as it may at the ends of a cluster, fails, does not
    give orthonormal vectors with small residuals, or cannot represent the interval.
    """
    n = a.shape[0]
    options: dict[str, Any] = {"compute_v": 1, "lower": int(lower)}
    if selection.kind == "i":
        options |= {"range": "I", "il": int(selection.low) + 1, "iu": int(selection.high) + 1}
    else:
        bound = 2.0 * n * float(np.abs(a).max(initial=0.0)) + 1.0
        interval = _clip_interval(selection.low * factor, selection.high * factor, bound)
        if interval is None:
            return np.zeros(0, a.real.dtype), np.zeros((n, 0), a.dtype)
        low, high = (float(a.real.dtype.type(x)) for x in interval)
        if not low < high:
            return None  # the ends agree in the precision of the routine
        options |= {"range": "V", "vl": low, "vu": high}
    _, solve, sizes = _routine_with_workspace("syevr", "heevr", a.dtype, n)
    values, vectors, count, _, info = solve(a, **options, **sizes)
    if info != 0 or (selection.kind == "i" and count != selection.count_indices()):
        return None
    values, vectors = values[:count], checks.orthonormalize(vectors[:, :count])
    if vectors is not None and checks.may_have_large_residuals(values, n):
        residuals = checks.full_residuals(a, lower, values, vectors)
        if not checks.are_small(residuals, float(np.abs(values).max())):
            return None
    return None if vectors is None else (values, vectors)
