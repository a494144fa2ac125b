"""The averaged Heun scheme (Riesinger 2017, equation 7.12), with the averages A_1 and A_2.

A_2 = 2/M^2 sum_(j<M) (M - j) O_j (equation 7.11), or 2 J_1/h^2 for the limit of ever finer steps.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hetero.jit import scalar
from rode._intrinsics.tuple_algebra import add, axpy, cast, double, scale
from rode._solver.schemes.euler import split_averages
from rode._solver.schemes.scheme import Field, Numbers, Scheme


def forms(h: float, fine_steps: int | None) -> np.ndarray:
    """Return the rows of A_1 and A_2."""
    if fine_steps is None:
        return np.array([[0.0, 0.0, 1.0 / h, 0.0], [0.0, 0.0, 0.0, 2.0 / h**2]])
    M = fine_steps
    return np.array([[1.0 / M, -1.0 / M, 1.0 / M, 0.0], [2.0 / M, 0.0, 0.0, 2.0 / M**2]])


@functools.cache
def make_additive_step(H: Any, B: Any) -> Any:
    """Make the step for additive noise."""

    @scalar(forceinline=True)
    def heun(t: float, x: Numbers, o: float, forms: Numbers, p: Numbers, h: float) -> Numbers:
        T = type(h)
        b = cast(B(p), h)
        start = cast(H(x, p), h)
        y = axpy(h, axpy(forms[1], b, start), x)
        both = add(start, cast(H(y, p), h))
        return axpy(T(0.5) * h, axpy(double(forms[0]), b, both), x)

    return heun


@functools.cache
def make_separable_step(H: Any) -> Any:
    """Make the step for separable noise."""

    @scalar(forceinline=True)
    def heun(x: Numbers, single: Numbers, double: Numbers, p: Numbers, h: float) -> Numbers:
        T = type(h)
        G1, g1, G2, g2 = split_averages(x, single, double)
        start = cast(H(x, p), h)
        y = axpy(h, axpy(g2, start, G2), x)
        both = add(start, cast(H(y, p), h))
        return axpy(T(0.5) * h, axpy(g1, both, scale(T(2.0), G1)), x)

    return heun


def reference_forms(o: np.ndarray, h: float) -> np.ndarray:
    """Return A_1 and A_2."""
    M = len(o) - 1
    first = sum(o[j] for j in range(M)) / M
    second = 2 / M**2 * sum((M - j) * o[j] for j in range(M))
    return np.array([first, second])


def reference_step(
    H: Field, x: np.ndarray, h: float, start: np.ndarray, G: np.ndarray, g: np.ndarray
) -> np.ndarray:
    """Take the step."""
    y = x + h * (G[1] + g[1] * H(x))
    return x + h / 2 * (2 * G[0] + g[0] * (H(x) + H(y)))


AVERAGED_HEUN = Scheme(
    name="averaged-heun",
    order=2,
    form_count=2,
    forms=forms,
    stability=(1.0, 1.0, 0.5),
    make_additive_step=make_additive_step,
    make_separable_step=make_separable_step,
    reference_forms=reference_forms,
    reference_step=reference_step,
)
