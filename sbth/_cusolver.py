"""Full matrices that the solver of the GPU's vendor takes, through CuPy."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero import region
from sbth._array_module import as_module_array
from sbth._selection import Selection
from sbth.band_storage import require_finite_triangle, safe_scale, shape_and_dtype
from sbth.eigenvalues import round_to_dtype

CUSOLVER_ORDER = {False: 250, True: 4300}
"""Order up to which cuSOLVER is faster on an H200, for eigenvalues (False) and for all eigenvectors
(True): between measurements at n = 200 and 300, and at n = 3000 and 5000."""


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
