"""Euler's scheme x + h (G + g H(x)), which sees the process at the start of each coarse step."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import int64

from hetero.jit import scalar
from rode._intrinsics.tuple_algebra import add, axpy, cast, replace_component, scale
from rode._solver.schemes.scheme import Field, Numbers, Scheme


def forms(h: float, fine_steps: int | None) -> np.ndarray:
    """Return the row of O_0."""
    return np.array([[1.0, 0.0, 0.0]])


@functools.cache
def make_additive_step(H: Any, B: Any) -> Any:
    """Make the step from the form of the path that stands for O."""

    @scalar(forceinline=True)
    def euler(t: float, x: Numbers, o: float, forms: Numbers, p: Numbers, h: float) -> Numbers:
        G = scale(forms[0], cast(B(p), h))
        return axpy(h, add(G, cast(H(x, p), h)), x)

    return euler


@functools.cache
def make_general_step(f: Any) -> Any:
    """Make the step for any f."""

    @scalar(forceinline=True)
    def euler(t: float, x: Numbers, o: Any, forms: Numbers, p: Numbers, h: float) -> Numbers:
        return axpy(h, cast(f(t, x, o, p), h), x)

    return euler


@functools.cache
def make_separable_step(H: Any) -> Any:
    """Make the step from the averages of (G, g)."""

    @scalar(forceinline=True)
    def euler(x: Numbers, single: Numbers, double: Numbers, p: Numbers, h: float) -> Numbers:
        G1, g1, _, _ = split_averages(x, single, double)
        return axpy(h, axpy(g1, cast(H(x, p), h), G1), x)

    return euler


@scalar(forceinline=True)
def split_averages(x: Numbers, single: Numbers, double: Numbers) -> tuple[Any, Any, Any, Any]:
    """Return the averages of G and g: G_1, g_1 (single), G_2, g_2 (double)."""
    # Numba needs tuples of known length: G has the length of x, and g follows.
    G1, G2, n = x, x, len(x)
    for i in range(n):
        G1, G2 = (
            replace_component(G1, int64(i), single[i]),
            replace_component(G2, int64(i), double[i]),
        )
    return G1, single[n], G2, double[n]


def reference_forms(o: np.ndarray, h: float) -> np.ndarray:
    """Return O_0."""
    return o[:1]


def reference_step(
    H: Field, x: np.ndarray, h: float, start: np.ndarray, G: np.ndarray, g: np.ndarray
) -> np.ndarray:
    """Take the step."""
    return x + h * (G[0] + g[0] * H(x))


EULER = Scheme(
    name="euler",
    order=1,
    form_count=1,
    forms=forms,
    stability=(1.0, 1.0),
    make_additive_step=make_additive_step,
    make_separable_step=make_separable_step,
    reference_forms=reference_forms,
    reference_step=reference_step,
    uses_fine_steps=False,
    make_general_step=make_general_step,
)
