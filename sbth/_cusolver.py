"""Full matrices that the solver of the GPU's vendor takes, through CuPy."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hetero import region
from sbth._array_module import as_module_array
from sbth._selection import Selection
from sbth.band_storage import require_finite_triangle, safe_scale, shape_and_dtype
from sbth.eigenvalues import round_to_dtype

_ORDERS = {False: (range(251),), True: (range(451), range(2701, 3601))}
"""Orders for which cuSOLVER is faster on an H200, for eigenvalues (False) and for all eigenvectors
(True): between measurements at n = 200 and 500, 100 and 500, and 3500 and 4000. From 2701 on too
few rows fit in shared memory for a reduction in one stage, and in two a matrix has to be larger."""


_COMPLEX_ORDER = 4500
"""Order from which on the eigenvalues of a complex matrix are faster by way of a real one of twice
the order, which takes four times the memory: at n = 5000, 215 instead of 273 ms on an H200."""


def vendor_is_faster(order: int, dtype: DTypeLike, *, vectors: bool) -> bool:
    """Return whether cuSOLVER is faster than this package, or alone solves the problem."""
    if np.dtype(dtype).kind == "c":
        return vectors or order < _COMPLEX_ORDER or np.dtype(dtype) != np.complex128
    return any(order in orders for orders in _ORDERS[vectors])


def solve_by_vendor(
    xp: ModuleType, a: Any, lower: bool, selection: Selection, *, vectors: bool
) -> tuple[Any, Any]:
    """Compute the selected eigenvalues, and eigenvectors, as arrays of CuPy, by its cuSOLVER.

    cuSOLVER gets the matrix before it is known whether its elements are finite and need no
    scaling, because the check would take a tenth of its time. If they are not, or do, what it has
    computed is discarded.

    Raises
    ------
    ValueError
        There is NaN or infinity in the triangle, or an eigenvalue overflows.
    """
    from sbth._dense_to_band.triangles import MagnitudeSearch, as_rows  # imports CUDA

    _, dtype = shape_and_dtype("a", a, allow_complex=True)
    a = as_module_array(xp, a).astype(dtype, copy=False)
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
    if factor == 1.0 and selection.kind == "a":
        return values, columns
    with np.errstate(over="ignore"):
        host = values.get().astype(float) / factor
    chosen = slice(*selection.bounds(host))
    rounded = round_to_dtype("a", host[chosen], dtype)
    return xp.asarray(rounded), None if columns is None else columns[:, chosen]


def _call_cusolver(xp: ModuleType, a: Any, lower: bool, vectors: bool) -> tuple[Any, Any]:
    """Return the eigenvalues of a matrix, and its eigenvectors or None."""
    uplo = "L" if lower else "U"
    with region("cuSOLVER"):
        return xp.linalg.eigh(a, uplo) if vectors else (xp.linalg.eigvalsh(a, uplo), None)
