"""Names of the schemes, and the linear forms of a path that each uses."""

from __future__ import annotations

import math
import re

import numpy as np

from hetero import validation

SCHEMES = ("euler", "averaged-euler", "averaged-heun")
MAX_ORDER = 8
"""Largest K of a K-RODE-Taylor scheme."""


def parse_method(method: str) -> tuple[str, int]:
    """Return (scheme, K) of "euler", "averaged-euler", "averaged-heun" or "K-rode-taylor".

    K is the number of forms of the path that the scheme uses; it is the order of a Taylor scheme.
    """
    is_text = isinstance(method, str)  # an array cannot be compared with texts
    if is_text and method in SCHEMES:
        return method, 2 if method == "averaged-heun" else 1
    match = re.fullmatch(r"(\d+)-rode-taylor", method) if is_text else None
    if not match or not 1 <= int(match.group(1)) <= MAX_ORDER:
        names = ", ".join(map(repr, SCHEMES))
        raise ValueError(
            f"method must be one of {names}, or 'K-rode-taylor' with K from 1 to {MAX_ORDER}, "
            f"got {validation.describe(method)}"
        )
    return "rode-taylor", int(match.group(1))


def order(method: str) -> int:
    """Return the order in h if delta is as fine as `fine_steps` says."""
    scheme, K = parse_method(method)
    return {"euler": 1, "averaged-euler": 1, "averaged-heun": 2}.get(scheme, K)


def fine_steps(method: str, h: float) -> int:
    """Return the fine steps in a coarse one for delta = h^order: sub-sampling costs no order.

    The error of the averages is O(delta) in the mean square for an Ornstein-Uhlenbeck process
    (measured; Kloeden and Rosa 2023 for Euler), not O(delta^1/2) as in (Riesinger 2017).
    """
    return 1 if method == "euler" else max(1, math.ceil(h ** (1 - order(method)) - 1e-9))


def forms(scheme: str, K: int, h: float, steps: int | None) -> np.ndarray:
    """Return the forms as rows over (O_0, O_M, F_0, .., F_(K-1)); over J_d for steps None.

    Averages A_1 = sum_(j<M) O_j/M and A_2 = 2/M^2 sum_(j<M) (M - j) O_j (Riesinger 2017,
    equations 7.9 and 7.11), or T_d = delta/d! sum_(j=1..M) (h - j delta)^d (O_j - O_0) (equation
    10.3), and for steps None their limits
    J_0/h, 2 J_1/h^2 and J_d - h^(d+1)/(d+1)! O_0.
    """
    validation.check_choice("scheme", scheme, (*SCHEMES, "rode-taylor"))
    rows = np.zeros((K, K + 2))
    if scheme == "euler":
        rows[0, 0] = 1.0
    elif scheme == "rode-taylor":
        for d in range(K):
            rows[d] = _remainder(d, K, h) if steps is None else _riemann(d, K, h / steps, steps)
    elif steps is None:
        for d in range(K):
            rows[d, 2 + d] = math.factorial(d + 1) / h ** (d + 1)
    else:
        M = steps
        rows[0, :3] = 1.0 / M, -1.0 / M, 1.0 / M
        if K == 2:
            rows[1, 0], rows[1, 3] = 2.0 / M, 2.0 / M**2
    return rows


def _remainder(d: int, K: int, h: float) -> np.ndarray:
    """Return the row of the limit of T_d."""
    row = np.zeros(K + 2)
    row[0], row[2 + d] = -(h ** (d + 1)) / math.factorial(d + 1), 1.0
    return row


def _riemann(d: int, K: int, delta: float, steps: int) -> np.ndarray:
    """Return the row of T_d: powers (M - j)^d by binomials, whose sums the state holds."""
    row = np.zeros(K + 2)
    weight = delta ** (d + 1) / math.factorial(d)
    row[0] = -weight * sum(k**d for k in range(steps)) if d else -delta * steps
    for i in range(d + 1):
        row[2 + i] = weight * _stirling(d, i) * math.factorial(i)
    return row


def _stirling(n: int, k: int) -> int:
    """Return Stirling's number of the second kind."""
    if n == k:
        return 1
    if k == 0 or k > n:
        return 0
    return k * _stirling(n - 1, k) + _stirling(n - 1, k - 1)
