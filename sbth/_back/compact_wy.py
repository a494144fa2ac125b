"""Blocks of Householder reflections in compact WY form, by NumPy or by CuPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def qr_compact_wy(xp: Any, panel: Any) -> tuple[Any, Any, Any, Any]:
    """Factor a panel (m, b) into Q R, with Q in compact WY form.

    Parameters
    ----------
    xp : module
        NumPy or CuPy.
    panel : array (m, b)

    Returns
    -------
    v, u : arrays (m, min(m, b))
        Q = 1 - u v^H with u = v T. `v` is unit lower trapezoidal; columns of reflections that
        change nothing (tau = 0) are 0.
    r : array (m, b)
        Upper trapezoidal.
    tau : array (min(m, b),)
    """
    packed, tau = xp.linalg.qr(panel, mode="raw")
    packed, tau = packed.T, tau[: min(panel.shape)]  # as LAPACK: reflections are below R
    v = xp.tril(packed, -1)[:, : len(tau)] + xp.eye(len(packed), len(tau), dtype=panel.dtype)
    v = v * (tau != 0.0)
    # The inverse of T. Its diagonal is arbitrary for reflections that change nothing.
    inverse = xp.triu(v.conj().T @ v, 1) + xp.diag(1.0 / (tau + (tau == 0.0)))
    u = v @ xp.linalg.inv(inverse).astype(panel.dtype)
    return v, u, xp.triu(packed), tau


def triangular_factors(xp: Any, v: Any, tau: Any) -> Any:
    """Return T (count, b, b) of the products 1 - V T V^H of reflections.

    Parameters
    ----------
    xp : module
        NumPy or CuPy.
    v : array (count, m, b)
        Unit lower trapezoidal matrices; columns of reflections that change nothing are 0.
    tau : array (count, b)
        The factors of the reflections, real numbers, 0 for those that change nothing.
    """
    grams = xp.matmul(v.conj().transpose(0, 2, 1), v)
    if not isinstance(v, np.ndarray):
        from sbth._back import triangular_factors as kernels

        if v.shape[2] <= kernels.COLUMNS:
            return _factors_by_kernel(xp, kernels, grams, tau)
    # The diagonal of the inverse is arbitrary for reflections that change nothing.
    inverse = xp.triu(grams, 1)
    diagonal = xp.arange(v.shape[2])
    inverse[:, diagonal, diagonal] = 1 / xp.where(tau != 0, tau, 1)
    return xp.linalg.inv(inverse).astype(v.dtype, copy=False)


def _factors_by_kernel(xp: Any, kernels: Any, grams: Any, tau: Any) -> Any:
    """Compute what `triangular_factors` does from the Gram matrices V^H V, in place."""
    from hetero.cuda import launch
    from hetero.cuda.ready_arrays import ready

    grams, tau = xp.ascontiguousarray(grams), xp.ascontiguousarray(tau)
    arrays = (ready(x.reshape(-1)) for x in (grams, tau))
    kernel = kernels.KERNELS[f"form_{grams.dtype}"]
    stream = xp.cuda.get_current_stream().ptr
    arguments, size = (*arrays, grams.shape[1]), kernels.SHARED_SIZE * grams.itemsize
    launch.launch(kernel, len(grams), kernels.THREADS, stream, arguments, size)
    return grams


def symmetric_update_factor(x: Any, v: Any, u: Any) -> Any:
    """Return W = X - V (X^H U) / 2 for X = A U, with which Q^H A Q = A - W V^H - V W^H."""
    return x - v @ (0.5 * (x.conj().T @ u))
