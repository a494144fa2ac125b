"""Full matrices that the solver of the GPU's vendor takes, through CuPy."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero import region
from sbth._array_module import as_module_array
from sbth._selection import Selection
from sbth.band_storage import safe_scale, shape_and_dtype

CUSOLVER_ORDER = {False: 250, True: 4300}
"""Order up to which cuSOLVER is faster on an H200, for eigenvalues (False) and for all eigenvectors
(True): between measurements at n = 200 and 300, and at n = 3000 and 5000."""


def solve_by_vendor(
    xp: ModuleType, a: Any, lower: bool, selection: Selection, *, vectors: bool
) -> tuple[np.ndarray, Any]:
    """Compute the selected eigenvalues, in host memory, and eigenvectors by CuPy's cuSOLVER."""
    _, dtype = shape_and_dtype("a", a, allow_complex=True)
    a = as_module_array(xp, a).astype(dtype, copy=False)
    triangle = xp.tril(a) if lower else xp.triu(a)
    parts = (triangle.real, triangle.imag) if a.dtype.kind == "c" else (triangle,)
    largest = float(np.max([float(abs(x).max()) for x in parts])) if a.size else 0.0
    if not np.isfinite(largest):
        which = "lower" if lower else "upper"
        raise ValueError(f"a must be finite: its {which} triangle holds NaN or infinity")
    factor = safe_scale(largest, triangle.real.dtype)
    scaled, uplo = triangle, "L" if lower else "U"
    if factor != 1.0:
        scaled = triangle * triangle.real.dtype.type(factor)
    columns = None
    with region("cuSOLVER"):
        if vectors:
            values, columns = xp.linalg.eigh(scaled, uplo)
        else:
            values = xp.linalg.eigvalsh(scaled, uplo)
    with np.errstate(over="ignore"):
        host = values.get().astype(float) / factor
    chosen = slice(*selection.bounds(host))
    return host[chosen], None if columns is None else columns[:, chosen]
