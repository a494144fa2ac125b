"""Generalized problems of band matrices on a GPU, as those of full matrices.

Keeping the band takes rotations of pairs of rows one after the other, by LAPACK on one core of the
CPU (`band`): about 6 n^2 operations for each subdiagonal, and 3 n^3 for the vectors. On a GPU the
Cholesky factorization of the full matrices and two triangular solutions take 7/3 n^3 multiply-adds,
nearly all of them in matrix products, and memory for `WORKING_ARRAYS` matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from hetero import Device, region
from hetero.memory import SMALL, free_bytes, shortage
from sbth._problem.arrays import shape_and_dtype
from sbth._problem.inspection import magnitudes
from sbth._problem.storage import expand_triangle
from sbth._reduction.pencils.full import reduce_full_pencil
from sbth._vendor.array_modules import as_module_array

WORKING_ARRAYS = 8
"""Number of (n, n) matrices that a reduction takes: both triangles, the matrices that they define,
the Cholesky factor, both solutions and a copy that one of them makes."""


def reduce_as_full(
    xp: ModuleType, a_band: Any, b_band: Any, lower: bool, device: Device
) -> tuple[Any, Callable[[Any], Any]]:
    """Reduce A x = lambda B x to C y = lambda y with a full matrix C.

    Parameters
    ----------
    xp : module
        CuPy, or in tests NumPy.
    a_band, b_band : array_like (bandwidth + 1, n)
        Validated; the bandwidths may differ.
    lower : bool
        Storage of both bands.
    device : hetero.Device

    Returns
    -------
    c : array (n, n) of `xp`
        Its lower triangle is filled.
    transform : function
        Turns eigenvectors y, an array (n, m), into x.

    Raises
    ------
    TypeError, ValueError, MemoryError
        The bands do not suit each other, are not finite, or B is not positive definite.
    """
    bands = {"a_band": a_band, "b_band": b_band}
    forms = [shape_and_dtype(name, band, allow_complex=True) for name, band in bands.items()]
    n, dtype = forms[0][0][1], np.result_type(*(dtype for _, dtype in forms))
    _require_memory(n, dtype, device)
    if n == 0:
        return xp.zeros((0, 0), dtype), lambda y: y
    with region("Cholesky factorization"):
        full = []
        for name, band in bands.items():
            matrix = expand_triangle(xp, as_module_array(xp, band).astype(dtype), lower)
            if not bool(xp.isfinite(magnitudes(matrix)).all()):
                raise ValueError(f"{name} must be finite: its band holds NaN or infinity")
            full.append(matrix)
        return reduce_full_pencil(xp, full[0], full[1], True, ("a_band", "b_band"))


def _require_memory(n: int, dtype: np.dtype, device: Device) -> None:
    """Raise MemoryError if the matrices do not fit into the memory of the device."""
    need = WORKING_ARRAYS * dtype.itemsize * n * n
    if need >= SMALL and need > (free := free_bytes(device, need)):
        subject = f"a generalized band problem of order {n}, as one of full matrices on a GPU,"
        raise shortage(subject, device, need, free, ["device='cpu', which keeps the band"])
