"""Full matrices that the solver of the GPU's vendor takes, through CuPy."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero import region
from sbth._problem.inspection import require_finite_triangle, round_to_dtype, safe_scale
from sbth._problem.limits import LARGEST_CUSOLVER
from sbth._problem.problem import Problem, Stage
from sbth._vendor.array_modules import as_module_array


def is_faster(problem: Problem) -> bool:
    """Return whether cuSOLVER is faster than this package, and is there."""
    from hetero.cuda.driver import SIMULATOR  # which has no CuPy

    name = problem.dtype.name if problem.dtype.kind == "c" else "float"
    return problem.order <= LARGEST_CUSOLVER[name][problem.vectors] and not SIMULATOR


def _solve(xp: ModuleType, problem: Problem, before: Any) -> tuple[Any, Any]:
    """Compute the selected eigenvalues, and eigenvectors, as arrays of CuPy, by its cuSOLVER.

    cuSOLVER gets the matrix before it is known whether its elements are finite and need no
    scaling, because the check would take a tenth of its time. If they are not, or do, what it has
    computed is discarded.

    Raises
    ------
    ValueError
        There is NaN or infinity in the triangle, or an eigenvalue overflows.
    """
    from sbth._reduction.dense_to_band.triangles import MagnitudeSearch, as_rows  # imports CUDA

    lower, vectors, dtype = problem.lower, problem.vectors, problem.dtype
    a = as_module_array(xp, problem.arrays[0]).astype(dtype, copy=False)
    search = MagnitudeSearch(xp, *as_rows(xp, a, lower))
    failure, results = None, None
    try:
        results = _call_cusolver(xp, a, lower, vectors)
    except (RuntimeError, np.linalg.LinAlgError) as error:  # perhaps because of NaN
        failure = error
    largest = search.result()
    require_finite_triangle(largest, lower)
    factor = safe_scale(largest, dtype)
    if factor != 1.0:
        triangle = xp.tril(a) if lower else xp.triu(a)
        scaled = triangle * np.dtype(dtype.char.lower()).type(factor)
        results = _call_cusolver(xp, scaled, lower, vectors)
    elif failure is not None:
        raise failure
    assert results is not None
    values, columns = results
    if factor == 1.0 and problem.selection.kind == "a":
        return values, columns
    with np.errstate(over="ignore"):
        host = values.get().astype(float) / factor
    chosen = slice(*problem.selection.bounds(host))
    rounded = round_to_dtype("a", host[chosen], dtype)
    return xp.asarray(rounded), None if columns is None else columns[:, chosen]


def _call_cusolver(xp: ModuleType, a: Any, lower: bool, vectors: bool) -> tuple[Any, Any]:
    """Return the eigenvalues of a matrix, and its eigenvectors or None."""
    uplo = "L" if lower else "U"
    with region("cuSOLVER"):
        return xp.linalg.eigh(a, uplo) if vectors else (xp.linalg.eigvalsh(a, uplo), None)


CUSOLVER = Stage(lambda problem: "cuSOLVER (syevd, heevd)", _solve)
