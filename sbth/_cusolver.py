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


_COMPLEX_ORDERS = {False: (range(2000),), True: (range(3000),)}
"""The same orders for complex matrices."""


def vendor_is_faster(order: int, dtype: DTypeLike, *, vectors: bool) -> bool:
    """Return whether cuSOLVER is faster than this package."""
    orders = _COMPLEX_ORDERS if np.dtype(dtype).kind == "c" else _ORDERS
    return any(order in of_vendor for of_vendor in orders[vectors])


def solve_by_vendor(
    xp: ModuleType, a: Any, lower: bool, selection: Selection, *, vectors: bool
) -> tuple[Any, Any]:
    """Compute the selected eigenvalues, and eigenvectors, as arrays of CuPy, by its cuSOLVER.

    Raises
    ------
    ValueError
        There is NaN or infinity in the triangle, or an eigenvalue overflows.
    """
    from sbth._dense_to_band.triangles import as_rows, largest_magnitude  # imports CUDA

    _, dtype = shape_and_dtype("a", a, allow_complex=True)
    a = as_module_array(xp, a).astype(dtype, copy=False)
    largest = largest_magnitude(xp, *as_rows(xp, a, lower))
    require_finite_triangle(largest, lower)
    factor = safe_scale(largest, dtype)
    scaled, uplo = a, "L" if lower else "U"
    if factor != 1.0:
        scaled = (xp.tril(a) if lower else xp.triu(a)) * np.dtype(dtype.char.lower()).type(factor)
    columns = None
    with region("cuSOLVER"):
        if vectors:
            values, columns = xp.linalg.eigh(scaled, uplo)
        else:
            values = xp.linalg.eigvalsh(scaled, uplo)
    if factor == 1.0 and selection.kind == "a":
        return values, columns
    with np.errstate(over="ignore"):
        host = values.get().astype(float) / factor
    chosen = slice(*selection.bounds(host))
    rounded = round_to_dtype("a", host[chosen], dtype)
    return xp.asarray(rounded), None if columns is None else columns[:, chosen]
