"""Reduction of a dense symmetric matrix to band form, by blocked Householder reflections."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hetero import Device, DeviceUnavailableError, region, validation
from hetero.arrays import Workspace
from hetero.devices import device_of, resolve
from hetero.display.progress_bar import loop_progress, report_loop
from sbth._compact_wy import qr_compact_wy, symmetric_update_factor
from sbth._selection import Selection
from sbth._sparse_matrices import bandwidth_of, is_sparse, is_wide, mirrored, narrowed
from sbth.band_storage import (
    band_from_sparse,
    copy_like,
    safe_scale,
    shape_and_dtype,
    validate_band,
    validate_bool,
    validate_real,
)
from sbth.eigenvalues import band_eigenvalues

BANDWIDTH = 64
"""Default number of subdiagonals: a GPU reduces them to tridiagonal form in a single stage."""

BREAK_EVEN = 1000
"""Order from which on an H200 is faster than two CPU cores."""


def full_to_band(
    a: ArrayLike,
    bandwidth: int = BANDWIDTH,
    *,
    lower: bool = False,
    progress: bool = False,
    device: str | Device | None = None,
) -> Any:
    """Reduce a dense symmetric matrix to a band matrix with the same eigenvalues.

    Parameters
    ----------
    a : array_like (n, n) of float
        Only its lower triangle is read, and it is not modified. An array on a GPU is reduced there.
    bandwidth : int
        Number of subdiagonals to leave, at least 1.
    lower : bool
        Return lower storage. As everywhere in sbth and SciPy, upper storage is the default.
    progress : bool
        Show how far a long computation is.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        A GPU requires CuPy (cuBLAS and cuSOLVER); without CuPy, "auto" chooses the CPU.

    Returns
    -------
    array (min(bandwidth, n - 1) + 1, n)
        LAPACK band storage, float32 if `a` is, else float64. A NumPy array, or for an `a` on a GPU
        an array of its library on that GPU.

    Raises
    ------
    TypeError, ValueError
        `a` is complex, not square, holds NaN or infinity, or is so large that the band overflows.
    hetero.DeviceUnavailableError
        The device cannot be used, or it is a GPU and CuPy is not installed.

    Notes
    -----
    The algorithm factors the part of each panel below the band into Q R, and computes A <- Q^T A Q
    by matrix products (Bischof, Lang and Sun 2000). It takes n^3 multiply-adds, all but a fraction
    of about bandwidth/n of them in matrix products.
    """
    bandwidth = validation.check_integer("bandwidth", bandwidth, 1)
    lower = validate_bool("lower", lower)
    a = _validate_matrix(a)
    bar = loop_progress("dense to band", enabled=progress)
    with _array_module(a, _resolve_device(a, device)) as xp, region("dense to band"), bar:
        scaled, factor = _reduce_to_band(xp, a, bandwidth)
        with np.errstate(over="ignore"):
            ab = scaled / scaled.dtype.type(factor)
        if factor < 1.0 and not bool(xp.isfinite(ab).all()):
            raise ValueError(
                f"a is too large: its band form exceeds the largest {ab.dtype}, "
                f"{np.finfo(ab.dtype).max:.4g}. Divide the matrix by a power of two"
            )
        if not lower:
            ab = _to_upper_storage(xp, ab)
        return _as_library_array(xp, ab, a)


def _validate_matrix(a: ArrayLike) -> Any:
    """Validate a matrix; return it unchanged if it is on a GPU, else as a NumPy array."""
    if device_of(a) is None:
        a = validate_real("a", a)
        shape = a.shape
    else:
        shape, _ = shape_and_dtype("a", a)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {shape}")
    return a


def _resolve_device(a: Any, device: str | Device | None) -> Device:
    """Choose the device for a matrix; "auto" considers GPUs only if CuPy is installed."""
    order = a.shape[0] if isinstance(a, np.ndarray) else 0
    break_even = BREAK_EVEN if importlib.util.find_spec("cupy") else None
    return resolve(device, a, work=order, break_even=break_even)


@contextlib.contextmanager
def _array_module(a: Any, device: Device) -> Iterator[ModuleType]:
    """Yield NumPy, or on a GPU CuPy with the current stream of the library of `a`."""
    if device.kind == "cpu":
        yield np
        return
    cupy = _import_cupy(device)
    with device.active(), contextlib.ExitStack() as stack:
        stream = int(Workspace(device, a).stream)
        if stream:
            stack.enter_context(cupy.cuda.ExternalStream(stream))
        yield cupy


def _reduce_to_band(xp: ModuleType, a: Any, bandwidth: int) -> tuple[Any, float]:
    """Reduce a validated matrix to lower band storage, scaled by a power of two.

    Returns the band as an array of `xp`, and the power of two.
    """
    _, dtype = shape_and_dtype("a", a)
    a = xp.tril(_as_module_array(xp, a).astype(dtype, copy=False))
    n = a.shape[0]
    largest = float(abs(a).max()) if n else 0.0
    if not np.isfinite(largest):
        raise ValueError("a must be finite: its lower triangle holds NaN or infinity")
    factor = safe_scale(largest, a.dtype)
    a = (a + xp.tril(a, -1).T) * a.dtype.type(factor)
    with report_loop(float(n) ** 3) as advance:
        for start in range(0, n - bandwidth - 1, bandwidth):
            _reduce_panel(xp, a, start, bandwidth)
            left, next_left = n - start, max(n - start - bandwidth, 0)
            advance(float(left) ** 3 - float(next_left) ** 3)  # each panel updates what is left
    d = min(bandwidth, max(n - 1, 0))
    ab = xp.zeros((d + 1, n), a.dtype)
    for k in range(d + 1):
        ab[k, : n - k] = xp.diagonal(a, -k)
    return ab, factor


def _as_module_array(xp: ModuleType, a: Any) -> Any:
    """Return a matrix as an array of `xp`, without a copy if it is on the device already."""
    if device_of(a) is not None:
        if hasattr(a, "detach"):  # a PyTorch tensor may require a gradient
            a = a.detach()
            if str(a.dtype) == "torch.bfloat16":  # CuPy does not support this type
                a = a.float()
        if not hasattr(a, "__cuda_array_interface__"):
            return xp.from_dlpack(a)
    return xp.asarray(a)


def _to_upper_storage(xp: ModuleType, ab: Any) -> Any:
    """Convert lower band storage to upper band storage."""
    d, n = ab.shape[0] - 1, ab.shape[1]
    upper = xp.zeros_like(ab)
    for k in range(d + 1):
        upper[d - k, k:] = ab[k, : n - k]
    return upper


def _as_library_array(xp: ModuleType, ab: Any, like: Any) -> Any:
    """Return an array of `xp` as an array of the library of `like`, on the same device."""
    device = device_of(like)
    if device is None:
        return ab if xp is np else ab.get()
    space = Workspace(device, like)
    array = space.output(ab.shape, ab.dtype)
    if ab.size:
        xp.asarray(array)[...] = ab.reshape(-1)
    return space.result(array, ab.shape)


def _import_cupy(device: Device) -> ModuleType:
    """Import CuPy, or raise DeviceUnavailableError with a remedy."""
    try:
        import cupy
    except ImportError:
        cause, remedy = "sbth.full_to_band requires CuPy on a GPU", "pip install cupy-cuda13x"
        raise DeviceUnavailableError(str(device), cause, f"{remedy}, or device='cpu'") from None
    return cupy


def _reduce_panel(xp: ModuleType, a: Any, start: int, b: int) -> None:
    """Eliminate the elements below the band in columns start, ..., start + b - 1 of a, in place."""
    below = start + b
    v, u, r, _ = qr_compact_wy(xp, a[below:, start:below])
    a[below:, start:below] = r
    a[start:below, below:] = r.T
    trailing = a[below:, below:]
    w = symmetric_update_factor(trailing @ u, v, u)
    trailing -= xp.hstack((w, v)) @ xp.hstack((v, w)).T


def _narrow_band(a: Any) -> np.ndarray | None:
    """Return the lower band storage of a sparse matrix; None if its band is wide."""
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {a.shape}")
    matrix, _ = narrowed(mirrored(a))
    if is_wide(bandwidth_of(matrix), a.shape[0]):
        return None
    band: np.ndarray = validate_band(band_from_sparse(matrix, lower=True), "a")
    if not np.isfinite(band).all():
        raise ValueError("a must be finite: its lower triangle holds NaN or infinity")
    return band


def eigvalsh(
    a: Any,
    *,
    select: str | int = "a",
    select_range: tuple | None = None,
    tol: float | None = None,
    progress: bool = False,
    device: str | Device | None = None,
) -> Any:
    """Compute eigenvalues of a symmetric matrix, by `full_to_band` and `eigvals_banded`.

    Parameters, results and errors are those of these functions. Only the lower triangle of `a` is
    read. `a` may be a sparse matrix of SciPy; it is permuted if that narrows its band
    (`sbth.spectrum` also tells how), and a narrow band is reduced as such.
    """
    if is_sparse(a):
        band = _narrow_band(a)
        if band is not None:
            chosen = Selection.create(select, select_range, tol, band.shape[1])
            return band_eigenvalues("a", band, True, chosen, device, progress=progress)
        a = mirrored(a).toarray()
    a = _validate_matrix(a)
    selection = Selection.create(select, select_range, tol, shape_and_dtype("a", a)[0][0])
    with _array_module(a, _resolve_device(a, device)) as xp:
        with region("dense to band"), loop_progress("dense to band", enabled=progress):
            ab, factor = _reduce_to_band(xp, a, BANDWIDTH)
            if xp is not np and device_of(a) is None:
                ab = ab.get()
        values = band_eigenvalues("a", ab, True, selection, device, factor, progress)
    return copy_like(values, a)
