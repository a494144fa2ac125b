"""A dense symmetric matrix to band form, by blocked Householder reflections."""

from __future__ import annotations

import contextlib
import importlib.util

import numpy as np

from hetero import DeviceUnavailableError, errors, region
from hetero.arrays import Workspace, device_of
from hetero.devices import resolve
from sbth._blocks import factored, half_image
from sbth.eigenvalues import Search, band_eigenvalues
from sbth.storage import checked_bool, checked_real, deliver, describe, scale_of

BANDWIDTH = 64
"""Subdiagonals left by default: what a GPU reduces to tridiagonal form without another step."""

BREAK_EVEN = 1000
"""Order from which one H200 beats two cores."""


def full_to_band(a, bandwidth: int = BANDWIDTH, *, lower: bool = False, device=None):
    """Reduce a dense symmetric matrix to a band matrix with the same eigenvalues.

    Parameters
    ----------
    a : array_like (n, n) of float
        Its lower triangle is read; it is not modified. An array on a GPU is reduced there.
    bandwidth : int
        Subdiagonals to leave, at least 1.
    lower : bool
        Return lower storage. As everywhere in sbth and SciPy, upper storage is the default.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        A GPU needs CuPy (cuBLAS and cuSOLVER); "auto" chooses among devices that can do the work,
        so the CPU where there is no CuPy.

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
        The device cannot be used, or it is a GPU and there is no CuPy.

    Notes
    -----
    Panel by panel: Q R of what is below the band, and A <- Q^T A Q by matrix products (Bischof,
    Lang and Sun 2000). n^3 multiply-adds, all but a share of bandwidth/n of them in products.
    """
    bandwidth = errors.whole("bandwidth", bandwidth, 1)
    lower = checked_bool("lower", lower)
    a = _checked(a)
    with _array_module(a, _resolved(a, device)) as xp, region("dense to band"):
        scaled, factor = _reduced(xp, a, bandwidth)
        with np.errstate(over="ignore"):
            ab = scaled / scaled.dtype.type(factor)
        if factor < 1.0 and not bool(xp.isfinite(ab).all()):
            raise ValueError(
                f"a is too large: its band form overflows {ab.dtype}, which ends at "
                f"{np.finfo(ab.dtype).max:.4g}. Divide the matrix by a power of two"
            )
        if not lower:
            ab = _as_upper(xp, ab)
        return _returned(xp, ab, a)


def _checked(a):
    """Validate a matrix. One on a GPU comes back as it is, others as NumPy arrays."""
    if device_of(a) is None:
        a = checked_real("a", a)
        shape = a.shape
    else:
        shape, _ = describe("a", a)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {shape}")
    return a


def _resolved(a, device):
    """Choose the device for a matrix; a GPU that nobody asked for must have CuPy."""
    order = a.shape[0] if isinstance(a, np.ndarray) else 0
    break_even = BREAK_EVEN if importlib.util.find_spec("cupy") else None
    return resolve(device, a, work=order, break_even=break_even)


@contextlib.contextmanager
def _array_module(a, device):
    """Yield NumPy, or on a GPU CuPy with the current stream of the library of `a`."""
    if device.kind == "cpu":
        yield np
        return
    cupy = _cupy(device)
    with device.active(), contextlib.ExitStack() as stack:
        stream = int(Workspace(device, a).stream)
        if stream:
            stack.enter_context(cupy.cuda.ExternalStream(stream))
        yield cupy


def _reduced(xp, a, bandwidth):
    """Reduce a checked matrix to lower band storage that is scaled by a power of two.

    Returns the band, in host memory or on the GPU as `xp` says, and the power of two.
    """
    _, dtype = describe("a", a)
    a = xp.tril(_adopted(xp, a).astype(dtype, copy=False))
    n = a.shape[0]
    largest = float(abs(a).max()) if n else 0.0
    if not np.isfinite(largest):
        raise ValueError("a must be finite: its lower triangle holds NaN or infinity")
    factor = scale_of(largest, a.dtype)
    a = (a + xp.tril(a, -1).T) * a.dtype.type(factor)
    for start in range(0, n - bandwidth - 1, bandwidth):
        _reduce_panel(xp, a, start, bandwidth)
    d = min(bandwidth, max(n - 1, 0))
    ab = xp.zeros((d + 1, n), a.dtype)
    for k in range(d + 1):
        ab[k, : n - k] = xp.diagonal(a, -k)
    return ab, factor


def _adopted(xp, a):
    """Return a matrix as an array of `xp`, without a copy where it is on the device already."""
    if device_of(a) is not None:
        if hasattr(a, "detach"):  # a PyTorch tensor may carry a gradient
            a = a.detach()
            if str(a.dtype) == "torch.bfloat16":  # CuPy does not know this type
                a = a.float()
        if not hasattr(a, "__cuda_array_interface__"):
            return xp.from_dlpack(a)
    return xp.asarray(a)


def _as_upper(xp, ab):
    """Turn lower band storage into upper band storage."""
    d, n = ab.shape[0] - 1, ab.shape[1]
    upper = xp.zeros_like(ab)
    for k in range(d + 1):
        upper[d - k, k:] = ab[k, : n - k]
    return upper


def _returned(xp, ab, like):
    """Return an array of `xp` in host memory, or where `like` is, as an array of its library."""
    device = device_of(like)
    if device is None:
        return ab if xp is np else ab.get()
    space = Workspace(device, like)
    array = space.output(ab.shape, ab.dtype)
    if ab.size:
        xp.asarray(array)[...] = ab.reshape(-1)
    return space.result(array, ab.shape)


def _cupy(device):
    try:
        import cupy
    except ImportError:
        cause, remedy = "sbth.full_to_band needs CuPy there", "pip install cupy-cuda13x"
        raise DeviceUnavailableError(str(device), cause, f"{remedy}, or device='cpu'") from None
    return cupy


def _reduce_panel(xp, a, start: int, b: int) -> None:
    """Eliminate what is below the band in columns start ... start + b - 1 of a, in place."""
    below = start + b
    v, u, r, _ = factored(xp, a[below:, start:below])
    a[below:, start:below] = r
    a[start:below, below:] = r.T
    rest = a[below:, below:]
    w = half_image(rest @ u, v, u)
    rest -= xp.hstack((w, v)) @ xp.hstack((v, w)).T


def eigvalsh(a, *, select="a", select_range=None, tol=None, device=None):
    """Compute eigenvalues of a dense symmetric matrix: `full_to_band`, then `eigvals_banded`.

    Parameters, errors and results are those of the two. The lower triangle of `a` is read.
    """
    a = _checked(a)
    search = Search.checked(select, select_range, tol, describe("a", a)[0][0])
    with _array_module(a, _resolved(a, device)) as xp:
        with region("dense to band"):
            ab, factor = _reduced(xp, a, BANDWIDTH)
            if xp is not np and device_of(a) is None:
                ab = ab.get()
        values = band_eigenvalues("a", ab, True, search, device, factor)
    return deliver(values, a)
