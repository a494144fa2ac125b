"""A dense symmetric matrix to band form, by blocked Householder reflections."""

from __future__ import annotations

import importlib.util

import numpy as np

from hetero import DeviceUnavailableError, errors, region
from hetero.arrays import device_of
from hetero.devices import resolve
from sbth._blocks import factored, half_image
from sbth.eigenvalues import eigvals_banded, selection
from sbth.storage import checked_real, scale_of

BANDWIDTH = 64
"""Subdiagonals left by default: what a GPU reduces to tridiagonal form without another step."""

BREAK_EVEN = 1000
"""Order from which one H200 beats two cores."""


def full_to_band(a, bandwidth: int = BANDWIDTH, *, device=None) -> np.ndarray:
    """Reduce a dense symmetric matrix to a band matrix with the same eigenvalues.

    Parameters
    ----------
    a : array_like (n, n) of float
        Its lower triangle is read; it is not changed. A CuPy array is reduced on its GPU.
    bandwidth : int
        Subdiagonals to leave, at least 1.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        A GPU needs CuPy (cuBLAS and cuSOLVER); "auto" chooses among devices that can do the work,
        so the CPU where there is no CuPy.

    Returns
    -------
    NumPy array (min(bandwidth, n - 1) + 1, n)
        LAPACK band storage, lower; float32 if `a` is, else float64.

    Raises
    ------
    TypeError, ValueError
        `a` is complex, not square, or holds NaN or infinity.
    hetero.DeviceUnavailableError
        The device cannot be used, or it is a GPU and there is no CuPy.

    Notes
    -----
    Panel by panel: Q R of what is below the band, and A <- Q^T A Q by matrix products (Bischof,
    Lang and Sun 2000). 4/3 n^3 multiply-adds, all but a share of bandwidth/n of them in products.
    """
    bandwidth = errors.whole("bandwidth", bandwidth, 1)
    a = _checked(a)
    n = a.shape[0]
    free = BREAK_EVEN if importlib.util.find_spec("cupy") else None  # if nobody asked for a GPU
    device = resolve(device, a, work=n, break_even=free)
    xp = _cupy(device) if device.kind == "cuda" else np
    with device.active(), region("dense to band"):
        a = xp.tril(xp.asarray(a))
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
        return (ab if xp is np else ab.get()) / a.dtype.type(factor)


def _checked(a):
    if device_of(a) is None:
        a = checked_real("a", a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {tuple(a.shape)}")
    return a


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


def eigvalsh(a, *, select="a", select_range=None, device=None) -> np.ndarray:
    """Eigenvalues of a dense symmetric matrix: `full_to_band`, then `eigvals_banded`.

    Parameters, errors and results are those of the two.
    """
    a = _checked(a)
    selection(select, select_range, a.shape[0])  # wrong ones are found out before the reduction
    ab = full_to_band(a, device=device)
    return eigvals_banded(ab, select=select, select_range=select_range, device=device)
