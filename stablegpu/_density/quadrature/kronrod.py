"""Gauss-Kronrod rules of any order, computed (Laurie 1997) rather than tabulated.

D. P. Laurie: Calculation of Gauss-Kronrod quadrature rules, Math. Comp. 66 (1997), 1133-1145.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

FORCED_BELOW = 0.3
"""Stability index below which the panels that matter are always evaluated a second time."""

MOST_PASSES = 12
"""Number of evaluations of all panels after which every result is taken as it is."""


def _jacobi_kronrod(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return diagonal a and squared off-diagonal b of the Jacobi-Kronrod matrix of order 2n + 1.

    Legendre's first 3n/2 recurrence coefficients are known; the mixed moments s, t of Laurie's
    algorithm give the rest, going first eastward, then southward, through their triangle.
    """
    a, b = np.zeros(2 * n + 1), np.zeros(2 * n + 1)
    indices = np.arange(1, (3 * n + 1) // 2 + 1)
    b[0] = 2.0
    b[indices] = indices**2 / (4.0 * indices**2 - 1.0)
    s, t = np.zeros(n // 2 + 2), np.zeros(n // 2 + 2)
    t[1] = b[n + 1]
    for m in range(n - 1):
        u = 0.0
        for k in range((m + 1) // 2, -1, -1):
            i = m - k
            u += (a[k + n + 1] - a[i]) * t[k + 1] + b[k + n + 1] * s[k] - b[i] * s[k + 1]
            s[k + 1] = u
        s, t = t, s
    s[1 : n // 2 + 2] = s[: n // 2 + 1].copy()
    for m in range(n - 1, 2 * n - 2):
        u = 0.0
        for k in range(m + 1 - n, (m - 1) // 2 + 1):
            i = m - k
            j = n - 1 - i
            u -= (a[k + n + 1] - a[i]) * t[j + 1] + b[k + n + 1] * s[j + 1] - b[i] * s[j + 2]
            s[j + 1] = u
        k = (m + 1) // 2
        if m % 2 == 0:
            a[k + n + 1] = a[k] + (s[j + 1] - b[k + n + 1] * s[j + 2]) / t[j + 2]
        else:
            b[k + n + 1] = s[j + 1] / s[j + 2]
        s, t = t, s
    a[2 * n] = a[n - 1] - b[2 * n] * s[1] / t[1]
    return a, b


class HalfRule(NamedTuple):
    """Nodes >= 0 of a symmetric rule on [-1, 1], with two weights for each; float64 arrays.

    The node 0 comes first, with half its weight, so that every node stands for the pair (-x, x).
    """

    nodes: np.ndarray
    kronrod: np.ndarray
    gauss: np.ndarray  # 0 if the node belongs to Kronrod's extension alone


@functools.cache
def half_rule(n: int) -> HalfRule:
    """Compute the Gauss-Kronrod rule of 2n + 1 points, n odd."""
    if n < 3 or n % 2 == 0:
        raise ValueError(f"n must be an odd integer >= 3, got {n!r}")
    a, b = _jacobi_kronrod(n)
    off = np.sqrt(b[1:])
    nodes, vectors = np.linalg.eigh(np.diag(a) + np.diag(off, 1) + np.diag(off, -1))
    weights = 2.0 * vectors[0] ** 2
    gauss = np.zeros(2 * n + 1)
    gauss[1::2] = np.polynomial.legendre.leggauss(n)[1]
    x, wk, wg = ((v[n:] + s * v[n::-1]) / 2 for v, s in ((nodes, -1), (weights, 1), (gauss, 1)))
    x[0] = 0.0
    wk[0] /= 2
    wg[0] /= 2
    for v in (x, wk, wg):
        v.setflags(write=False)
    return HalfRule(x, wk, wg)
