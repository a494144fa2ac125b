"""Which method solves a problem, without solving it."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from hetero import Device, validation
from hetero.devices import resolve
from sbth._array_module import has_cupy
from sbth._lapack.choice import (
    band_driver,
    full_driver,
    requested_device,
    require_method,
    tridiagonal_driver,
)
from sbth._one_stage import suits_one_stage
from sbth._selection import Selection
from sbth.band_storage import validate_bool
from sbth.dense import BREAK_EVEN as FULL_BREAK_EVEN
from sbth.dense import choose_driver
from sbth.eigenvalues import BREAK_EVEN as TRIDIAGONAL_BREAK_EVEN
from sbth.eigenvectors import BREAK_EVEN as VECTORS_BREAK_EVEN
from sbth.tridiagonalization import BREAK_EVEN as BAND_BREAK_EVEN
from sbth.tridiagonalization import MAX_GPU_BANDWIDTH

_LAPACK_BANDS = {
    "band": "LAPACK, as a band matrix (sbevd, hbevd)",
    "dense": "LAPACK, as a full matrix (syevd, heevd)",
}
_DTYPES = "float32", "float64", "complex64", "complex128"

_TRIDIAGONAL = {
    ("sbth", False): "bisection",
    ("lapack", False): "LAPACK's QL iteration without square roots (sterf)",
    ("sbth", True): "divide and conquer",
    ("lapack", True): "LAPACK's divide and conquer (stevd)",
}


def solver_for(
    order: int,
    bandwidth: int | None = None,
    *,
    eigvals_only: bool = False,
    dtype: DTypeLike = np.float64,
    method: str = "auto",
    device: str | Device | None = None,
) -> str:
    """Return how a matrix of this kind is solved: what `method="auto"` chooses, or another one.

    Parameters
    ----------
    order : int
    bandwidth : int, optional
        Number of subdiagonals: 1 for `eigh_tridiagonal`, more for `eig_banded`; by default the
        matrix is a full one (`eigh`).
    eigvals_only : bool
        Whether only eigenvalues are computed, all of them.
    dtype : dtype
        Type of the elements; complex ones are solved by LAPACK on a CPU.
    method : {"auto", "sbth", "lapack", "cusolver"}
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    str
        The steps, for example "sbth: bulge chasing, divide and conquer, back-transformation".

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        An argument is wrong, or the method does not suit the matrix or the device.
    """
    order = validation.check_integer("order", order, 0)
    vectors = not validate_bool("eigvals_only", eigvals_only)
    if bandwidth is not None:
        bandwidth = min(validation.check_integer("bandwidth", bandwidth, 0), max(order - 1, 0))
    device = _device(requested_device(method, device), order, bandwidth, vectors)
    require_method(method, device, full=bandwidth is None, name="a band matrix")
    dtype = validation.check_dtype("dtype", dtype, _DTYPES)
    is_complex = dtype.kind == "c"
    if is_complex and method == "sbth" and device.kind == "cpu":
        raise ValueError(
            f"method='sbth' is for real matrices on {device}, where dtype={dtype} is solved by "
            "LAPACK: use 'auto'"
        )
    if device.kind == "cuda":
        is_full = bandwidth is None
        if is_full and choose_driver(method, dtype, device, order, vectors=vectors) == "cusolver":
            return "cuSOLVER (syevd, heevd)"
        if is_complex and bandwidth is not None and bandwidth > MAX_GPU_BANDWIDTH:
            bandwidth = None  # as a full matrix
        if is_full and not is_complex and suits_one_stage(device, order, dtype, vectors=vectors):
            return _steps(1, vectors, "sbth", first="reduction to tridiagonal form")
        return _steps(bandwidth, vectors, "sbth")
    if bandwidth is None:
        if full_driver(method, dtype) == "lapack":
            return "LAPACK (syevd, heevd)"
    else:
        driver = band_driver(method, order, bandwidth, dtype, vectors)
        if driver != "sbth":
            return _LAPACK_BANDS[driver]
    everything = Selection.create("a", None, None, order)
    return _steps(bandwidth, vectors, tridiagonal_driver(method, order, everything, vectors))


def _device(
    device: str | Device | None, order: int, bandwidth: int | None, vectors: bool
) -> Device:
    """Return the device that the functions choose for a NumPy array."""
    least = VECTORS_BREAK_EVEN
    if bandwidth is None:
        least = FULL_BREAK_EVEN
    elif not vectors:
        least = BAND_BREAK_EVEN if bandwidth > 1 else TRIDIAGONAL_BREAK_EVEN
    needs_cupy = vectors or bandwidth is None
    return resolve(device, work=order, break_even=None if needs_cupy and not has_cupy() else least)


def _steps(bandwidth: int | None, vectors: bool, tridiagonal: str, first: str = "") -> str:
    """Return the steps of this package, after a `first` one for full matrices."""
    chases = bandwidth is None or bandwidth > 1
    steps = [first] * bool(first)
    if bandwidth is None:
        steps.append("reduction to a band")
    steps += ["bulge chasing"] * chases
    steps.append(_TRIDIAGONAL[tridiagonal, vectors])
    steps += ["back-transformation"] * (vectors and (chases or bool(first)))
    return "sbth: " + ", ".join(steps)
