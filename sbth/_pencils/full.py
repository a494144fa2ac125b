"""Generalized problems of full matrices, by the Cholesky factor of B."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from sbth._array_module import as_module_array
from sbth._lapack.routines import blas_routine, routine
from sbth.band_storage import shape_and_dtype

_FAILURE = "must be positive definite: its Cholesky factorization fails"


def reduce_full_pencil(
    xp: ModuleType, a: Any, b: Any, lower: bool, name: str = "b"
) -> tuple[Any, Callable[[Any], Any]]:
    """Reduce A x = lambda B x to C y = lambda y; return C and the function that turns y into x.

    `a` and `b` are finite arrays of one dtype, `lower` says which triangles are read. The lower
    triangle of C is filled. C = L^-1 A L^-H, where B = L L^H, and x = L^-H y. `name` is that of the
    argument for B.

    Raises
    ------
    ValueError
        B is not positive definite.
    """
    if not lower:
        a, b = a.conj().T, b.conj().T
    if xp is np:
        return _reduce_on_cpu(a, b, name)
    from cupyx.scipy.linalg import solve_triangular

    full = xp.tril(a) + xp.tril(a, -1).conj().T
    factor = xp.linalg.cholesky(xp.tril(b) + xp.tril(b, -1).conj().T)
    if not bool(xp.isfinite(factor).all()):
        raise ValueError(f"{name} {_FAILURE}")
    half = solve_triangular(factor, full, lower=True)
    c = solve_triangular(factor, half.conj().T, lower=True)
    return c, lambda y: solve_triangular(factor, y, lower=True, trans="C")


def _reduce_on_cpu(a: np.ndarray, b: np.ndarray, name: str) -> tuple[np.ndarray, Callable]:
    """Do it by LAPACK's potrf and sygst, which takes half the operations of two solutions."""
    if not a.size:
        return a, lambda y: y
    factor, info = routine("potrf", "potrf", b.dtype)[1](b, lower=1)
    if info > 0:
        raise ValueError(f"{name} {_FAILURE} at row {info - 1}")
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
