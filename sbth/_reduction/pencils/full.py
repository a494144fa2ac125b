"""Generalized problems of full matrices, by the Cholesky factor of B."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from sbth._problem.arrays import shape_and_dtype
from sbth._problem.inspection import is_plainly_safe, magnitudes, require_finite_triangle
from sbth._reduction.pencils import scaling
from sbth._vendor.array_modules import as_module_array
from sbth._vendor.routines import blas_routine, routine

_FAILURE = "must be positive definite: its Cholesky factorization fails"


_BENIGN = {4: 2.0**32, 8: 2.0**256}
"""Diagonal elements of B, by the bytes of a real number, up to which rows need not be scaled, nor
from their inverses on. The Cholesky factorization has the same relative errors with and without, as
long as nothing over- or underflows."""


def reduce_full_pencil(
    xp: ModuleType, a: Any, b: Any, lower: bool, names: tuple[str, str] = ("a", "b")
) -> tuple[Any, Callable[[Any], Any]]:
    """Reduce A x = lambda B x to C y = lambda y; return C and the function that turns y into x.

    `a` and `b` are arrays of one dtype, `lower` says which triangles are read. The lower triangle
    of C is filled. C = L^-1 A L^-H, where B = L L^H, and x = L^-H y. Rows of very large or
    small elements are scaled before. `names` are those of the arguments.

    Raises
    ------
    ValueError
        One is not finite, B is not positive definite, or C overflows.
    """
    if not lower:
        a, b = a.conj().T, b.conj().T
    if is_benign(a, b) if xp is np else _is_benign_on_gpu(xp, a, b):
        return reduce_unscaled(xp, a, b, names[1])
    a, b = xp.tril(a), xp.tril(b)
    for name, x in zip(names, (a, b), strict=True):
        if not bool(xp.isfinite(x).all()):
            require_finite_triangle(math.inf, lower, name)
    exponents = scaling.row_exponents(xp, b.diagonal().real)
    sums = exponents[:, None] + exponents
    shift = scaling.largest_exponent(xp, a, sums)
    a, b = scaling.multiply_by_powers(xp, a, sums - shift), scaling.multiply_by_powers(xp, b, sums)
    c, transform = reduce_unscaled(xp, a, b, names[1])
    with np.errstate(over="ignore", under="ignore"):
        c = scaling.multiply_by_powers(xp, xp.tril(c), np.int32(shift))
    scaling.require_no_overflow(xp, c, names)
    return c, lambda y: scaling.multiply_by_powers(xp, transform(y), exponents[:, None])


def is_benign(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether pencils (..., n, n) are finite, and their rows surely need no scaling."""
    diagonal, most = b.diagonal(axis1=-2, axis2=-1).real, _BENIGN[b.real.dtype.itemsize]
    if not b.size or not (diagonal.min() > 1.0 / most and diagonal.max() < most):
        return not b.size
    return is_plainly_safe(a, 1.0) and is_plainly_safe(b, 1.0)


def _is_benign_on_gpu(xp: ModuleType, a: Any, b: Any) -> bool:
    """Do the work of `is_benign` for lower triangles on a GPU, with a single transfer."""
    diagonal, most = b.diagonal().real, _BENIGN[b.real.dtype.itemsize]
    largest = [abs(magnitudes(xp.tril(x))).max() for x in (a, b)]
    figures = xp.stack([*largest, diagonal.max(), 1.0 / diagonal.min()])
    limits = most**2, most**2, most, most
    return all(0.0 <= x < y for x, y in zip(figures.tolist(), limits, strict=True))  # not for NaN


def reduce_unscaled(xp: ModuleType, a: Any, b: Any, name: str) -> tuple[Any, Callable[[Any], Any]]:
    """Do the work of `reduce_full_pencil` for lower triangles, without scaling."""
    if xp is np:
        return _reduce_on_cpu(a, b, name)
    from cupyx.scipy.linalg import solve_triangular

    full = xp.tril(a) + xp.tril(a, -1).conj().T
    factor = xp.linalg.cholesky(xp.tril(b) + xp.tril(b, -1).conj().T)
    if not bool(xp.isfinite(factor).all()):
        raise np.linalg.LinAlgError(f"{name} {_FAILURE}")
    half = solve_triangular(factor, full, lower=True)
    c = solve_triangular(factor, half.conj().T, lower=True)
    return c, lambda y: solve_triangular(factor, y, lower=True, trans="C")


def _reduce_on_cpu(a: np.ndarray, b: np.ndarray, name: str) -> tuple[np.ndarray, Callable]:
    """Do it by LAPACK's potrf and sygst, which takes half the operations of two solutions."""
    if not a.size:
        return a, lambda y: y
    factor, info = routine("potrf", "potrf", b.dtype)[1](b, lower=1)
    if info > 0:
        raise np.linalg.LinAlgError(f"{name} {_FAILURE} at row {info - 1}")
    c, _ = routine("sygst", "hegst", a.dtype)[1](a, factor, itype=1, lower=1)
    return c, functools.partial(_solve_transposed, factor)


def _solve_transposed(factor: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return L^-H y by BLAS (OpenBLAS's trtrs starts its threads for the smallest matrices)."""
    conjugate_transposed = 2
    solve = blas_routine("trsm", factor.dtype)
    x: np.ndarray = solve(1.0, factor, y, lower=1, trans_a=conjugate_transposed)
    return x


def module_arrays(xp: ModuleType, a: Any, b: Any) -> tuple[Any, Any]:
    """Return both matrices of a problem as arrays of `xp` with the wider dtype of both."""
    dtypes = (shape_and_dtype(name, x, allow_complex=True)[1] for name, x in (("a", a), ("b", b)))
    dtype = np.result_type(*dtypes)
    first, second = (as_module_array(xp, x).astype(dtype, copy=False) for x in (a, b))
    return first, second
