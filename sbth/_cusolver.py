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

_LARGEST_ORDERS = {
    "float": {False: 250, True: 450},
    "complex64": {False: 2500, True: 4500},
    "complex128": {False: 2000, True: 3300},
}
"""Orders up to which cuSOLVER is faster, for eigenvalues (False) and for all eigenvectors (True):
for real matrices between measurements on an H200 at n = 200 and 500, and 100 and 500, for complex
ones on an H100 at 2000, 2500, 3000 and 5000, which have no record."""


def vendor_is_faster(order: int, dtype: DTypeLike, *, vectors: bool) -> bool:
    """Return whether cuSOLVER is faster than this package."""
    dtype = np.dtype(dtype)
    name = dtype.name if dtype.kind == "c" else "float"
    return order <= _LARGEST_ORDERS[name][vectors]


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
