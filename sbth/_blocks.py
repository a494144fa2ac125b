"""Blocks of Householder reflections, by NumPy or by CuPy."""

from __future__ import annotations


def factored(xp, panel):
    """(v, u, r, tau) of a panel (m, b): Q = 1 - v u^T with u = v T, Q R the panel; R is (m, b).

    v is (m, min(m, b)), unit lower trapezoidal but for the columns of reflections that do nothing
    (tau = 0), which are 0.
    """
    packed, tau = xp.linalg.qr(panel, mode="raw")
    packed, tau = packed.T, tau[: min(panel.shape)]  # LAPACK's: reflections below R
    v = xp.tril(packed, -1)[:, : len(tau)] + xp.eye(len(packed), len(tau), dtype=panel.dtype)
    v = v * (tau != 0.0)
    # The inverse of T; a reflection that does nothing may have any diagonal there.
    inverse = xp.triu(v.T @ v, 1) + xp.diag(1.0 / (tau + (tau == 0.0)))
    u = v @ xp.linalg.inv(inverse).astype(panel.dtype)
    return v, u, xp.triu(packed), tau


def half_image(x, v, u):
    """W = X - V (X^T U) / 2 for X = A U: Q^T A Q = A - W V^T - V W^T."""
    return x - v @ (0.5 * (x.T @ u))
