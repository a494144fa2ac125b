"""Blocks of Householder reflections in compact WY form, by NumPy or by CuPy."""

from __future__ import annotations

from typing import Any


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
        Q = 1 - u v^T with u = v T. `v` is unit lower trapezoidal; columns of reflections that
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
    inverse = xp.triu(v.T @ v, 1) + xp.diag(1.0 / (tau + (tau == 0.0)))
    u = v @ xp.linalg.inv(inverse).astype(panel.dtype)
    return v, u, xp.triu(packed), tau


def symmetric_update_factor(x: Any, v: Any, u: Any) -> Any:
    """Return W = X - V (X^T U) / 2 for X = A U, with which Q^T A Q = A - W V^T - V W^T."""
    return x - v @ (0.5 * (x.T @ u))
