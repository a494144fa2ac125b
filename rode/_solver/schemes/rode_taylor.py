"""The K-RODE-Taylor schemes of order K = 1 .. 8 for linear problems, K <= 3 for x' = H(x) + B O.

For x' = A x + B O a step is x + sum_(d<K) A^d (h^(d+1)/(d+1)! f + B T_d), where f = A x + B O_0 and
T_d = delta/d! sum_(j=1..M) (h - j delta)^d (O_j - O_0) (Riesinger 2017, equation 10.3). The limit
of T_d for ever finer steps is J_d - h^(d+1)/(d+1)! O_0.

For other H the scheme (equations 7.13 and 7.14 there, after Jentzen and Kloeden 2011) takes the
derivatives of f by x of orders below K. With f = H(x) + B O_0, the step of K = 3 is

    x + h f + B T_0 + H'(h^2/2 f + B T_1 + H'(h^3/6 f + B T_2))
                                                          + H''(f, h^3/6 f + B (h T_1 - T_2)).

The last term is the integral of H''(D, D)/2 over the step. D = s f + B I is the change of x to
lowest order, I the integral of O - O_0 up to s, and h T_1 - T_2 the integral of s I, by parts. The
square of I is of the order h^4, as all that the scheme leaves out. K = 2 has the terms
with powers of h up to 2, without H'', and K = 1 has f and B T_0 alone.
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


@functools.cache
def make_first_order_step(H: Any, B: Any, first: Any, second: Any) -> Any:
    """Make the step of K = 1 for any H, which needs no derivative."""

    @scalar(forceinline=True)
    def taylor(t: float, x: Numbers, o: float, forms: Numbers, p: Numbers, h: float) -> Numbers:
        b = cast(B(p), h)
        f = axpy(o, b, cast(H(x, p), h))
        return add(x, axpy(h, f, scale(forms[0], b)))

    return taylor


@functools.cache
def make_second_order_step(H: Any, B: Any, first: Any, second: Any) -> Any:
    """Make the step of K = 2 for any H; `first` is (x, v, p) -> H'(x) v."""

    @scalar(forceinline=True)
    def taylor(t: float, x: Numbers, o: float, forms: Numbers, p: Numbers, h: float) -> Numbers:
        T = type(h)
        b = cast(B(p), h)
        f = axpy(o, b, cast(H(x, p), h))
        inner = axpy(T(0.5) * h * h, f, scale(forms[1], b))
        change = axpy(h, f, scale(forms[0], b))
        return add(x, add(change, cast(first(x, inner, p), h)))

    return taylor


@functools.cache
def make_third_order_step(H: Any, B: Any, first: Any, second: Any) -> Any:
    """Make the step of K = 3 for any H; `second` is (x, u, v, p) -> H''(x)(u, v)."""

    @scalar(forceinline=True)
    def taylor(t: float, x: Numbers, o: float, forms: Numbers, p: Numbers, h: float) -> Numbers:
        T = type(h)
        b = cast(B(p), h)
        f = axpy(o, b, cast(H(x, p), h))
        cubic = h * h * h / T(6.0)
        inner = axpy(cubic, f, scale(forms[2], b))
        middle = axpy(T(0.5) * h * h, f, scale(forms[1], b))
        middle = add(middle, cast(first(x, inner, p), h))
        bend = axpy(cubic, f, scale(h * forms[1] - forms[2], b))
        change = axpy(h, f, scale(forms[0], b))
        change = add(change, cast(first(x, middle, p), h))
        return add(x, add(change, cast(second(x, f, bend, p), h)))

    return taylor


NONLINEAR_STEPS = (make_first_order_step, make_second_order_step, make_third_order_step)
"""Makers of the steps for any H, those of K = 1, 2, 3; K needs K - 1 derivatives."""


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
        make_nonlinear_step=NONLINEAR_STEPS[K - 1] if K <= len(NONLINEAR_STEPS) else None,
        derivatives=K - 1,
    )


RODE_TAYLOR = tuple(_make_scheme(K) for K in range(1, MAX_ORDER + 1))
