"""The K-RODE-Taylor schemes of order K = 1 .. 8, for linear problems x' = A x + B O.

A step is x + sum_(d<K) A^d (h^(d+1)/(d+1)! f + B T_d), where f = A x + B O_0 and
T_d = delta/d! sum_(j=1..M) (h - j delta)^d (O_j - O_0) (Riesinger 2017, equation 10.3). The limit
of T_d for ever finer steps is J_d - h^(d+1)/(d+1)! O_0. For other problems the schemes leave out
terms without which their order is 1.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from hetero.jit import scalar
from rode._intrinsics.tuple_algebra import add, axpy, cast, scale
from rode._solver.schemes.scheme import Field, Numbers, Scheme

MAX_ORDER = 8
"""Largest order K; not tuned."""


def forms(K: int, h: float, fine_steps: int | None) -> np.ndarray:
    """Return the rows of T_0 .. T_(K-1)."""
    rows = np.zeros((K, K + 2))
    for d in range(K):
        if fine_steps is None:
            rows[d, 0], rows[d, 2 + d] = -(h ** (d + 1)) / math.factorial(d + 1), 1.0
        else:
            rows[d] = _riemann_row(K, d, h / fine_steps, fine_steps)
    return rows


def _riemann_row(K: int, d: int, delta: float, fine_steps: int) -> np.ndarray:
    """Return the row of T_d: the powers (M - j)^d by binomials, whose sums the F are."""
    row = np.zeros(K + 2)
    weight = delta ** (d + 1) / math.factorial(d)
    row[0] = -weight * sum(k**d for k in range(fine_steps)) if d else -delta * fine_steps
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


@functools.cache
def make_additive_step(H: Any, B: Any) -> Any:
    """Make the step; its order is the number of forms that it gets."""

    @scalar(forceinline=True)
    def taylor(t: float, x: Numbers, o: float, forms: Numbers, p: Numbers, h: float) -> Numbers:
        # Horner in the matrix A = H': w_0 + A (w_1 + A (..)), w_d = h^(d+1)/(d+1)! f + B T_d.
        T = type(h)
        b = cast(B(p), h)
        f = axpy(o, b, cast(H(x, p), h))
        power = h
        for d in range(1, len(forms)):
            power = power * h / T(d + 1)
        last = len(forms) - 1
        total = axpy(power, f, scale(forms[last], b))
        for d in range(last - 1, -1, -1):
            power = power * T(d + 2) / h
            total = add(cast(H(total, p), h), axpy(power, f, scale(forms[d], b)))
        return add(x, total)

    return taylor


def reference_forms(K: int, o: np.ndarray, h: float) -> np.ndarray:
    """Return T_0 .. T_(K-1)."""
    M = len(o) - 1
    delta = h / M
    return np.array(
        [
            delta
            / math.factorial(d)
            * sum((h - j * delta) ** d * (o[j] - o[0]) for j in range(1, M + 1))
            for d in range(K)
        ]
    )


def reference_step(
    H: Field, x: np.ndarray, h: float, start: np.ndarray, G: np.ndarray, g: np.ndarray
) -> np.ndarray:
    """Take the step, in which H multiplies a vector by A."""
    f, total = H(x) + start, np.zeros_like(x)
    for d, T in enumerate(G):
        term = h ** (d + 1) / math.factorial(d + 1) * f + T
        for _ in range(d):
            term = H(term)
        total = total + term
    return x + total


def _make_scheme(K: int) -> Scheme:
    """Make the scheme of order K."""
    return Scheme(
        name=f"{K}-rode-taylor",
        order=K,
        form_count=K,
        forms=functools.partial(forms, K),
        stability=tuple(1.0 / math.factorial(k) for k in range(K + 1)),
        make_additive_step=make_additive_step,
        make_separable_step=None,
        reference_forms=functools.partial(reference_forms, K),
        reference_step=reference_step,
        linear_only=True,
    )


RODE_TAYLOR = tuple(_make_scheme(K) for K in range(1, MAX_ORDER + 1))
