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
from hetero.devices import device_of, resolve
from hetero.memory import SMALL, free_bytes, shortage
from sbth._array_module import as_module_array, expand_triangle
from sbth._lapack.choice import requested_device, require_method
from sbth._pencils.full import reduce_full_pencil
from sbth.band_storage import magnitudes, shape_and_dtype, validate_numbers

WORKING_ARRAYS = 8
"""Number of (n, n) matrices that a reduction takes: both triangles, the matrices that they define,
the Cholesky factor, both solutions and a copy that one of them makes."""


def gpu_for_pencil(
    a_band: Any, b_band: Any, method: str, device: str | Device | None, routine: str
) -> Device | None:
    """Return the GPU on which a generalized band problem is solved, or None for the CPU.

    Raises
    ------
    ValueError, hetero.DeviceUnavailableError
        Only one of both matrices is on a GPU; the device or the method cannot be used.
    """
    chosen = resolve(requested_device(method, device, a_band, b_band), a_band, b_band)
    if chosen.kind == "cpu":
        return None
    require_method(method, chosen, name=routine)
    if (device_of(a_band) is None) != (device_of(b_band) is None):
        raise ValueError("a_band and b_band must be in one memory: one is on a GPU, the other not")
    return chosen


def reduce_as_full(
    xp: ModuleType, a_band: Any, b_band: Any, lower: bool, device: Device
) -> tuple[Any, Callable[[Any], Any]]:
    """Reduce A x = lambda B x to C y = lambda y with a full matrix C.

    Parameters
    ----------
    xp : module
        CuPy, or in tests NumPy.
    a_band, b_band : array_like (bandwidth + 1, n)
        Not validated yet; the bandwidths may differ.
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
    dtypes = []
    for name, band in bands.items():
        if device_of(band) is None:
            bands[name] = validate_numbers(name, band)
        shape, dtype = shape_and_dtype(name, bands[name], allow_complex=True)
        if len(shape) != 2 or shape[0] == 0:
            raise ValueError(f"{name} must have the shape (bandwidth + 1, n), got {shape}")
        dtypes.append(dtype)
    n = bands["a_band"].shape[1]
    if (shape := tuple(bands["b_band"].shape))[1] != n:
        raise ValueError(f"b_band must be of the order of a_band, {n}, got shape {shape}")
    dtype = np.result_type(*dtypes)
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
