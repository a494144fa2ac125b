"""Heun's scheme for x' = f(t, x, O), which sees O at both ends of a coarse step.

Between them O moves as a Brownian path, so that the order is 1 for an Ornstein-Uhlenbeck process,
and 2 for excitations with a derivative in time, as recorded motions between their samples have.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hetero.jit import scalar
from rode._intrinsics.tuple_algebra import add, axpy, cast
from rode._solver.schemes.scheme import Field, Numbers, Scheme


def forms(h: float, fine_steps: int | None) -> np.ndarray:
    """Return the row of the end O_M."""
    return np.array([[0.0, 1.0, 0.0]])


@functools.cache
def make_additive_step(H: Any, B: Any) -> Any:
    """Make the step for additive noise."""

    @scalar(forceinline=True)
    def heun(t: float, x: Numbers, o: float, forms: Numbers, p: Numbers, h: float) -> Numbers:
        b = cast(B(p), h)
        start = axpy(o, b, cast(H(x, p), h))
        end = axpy(forms[0], b, cast(H(axpy(h, start, x), p), h))
        return axpy(type(h)(0.5) * h, add(start, end), x)

    return heun


@functools.cache
def make_general_step(f: Any) -> Any:
    """Make the step for any f."""

    @scalar(forceinline=True)
    def heun(t: float, x: Numbers, o: Any, forms: Numbers, p: Numbers, h: float) -> Numbers:
        start = cast(f(t, x, o, p), h)
        end = cast(f(t + h, axpy(h, start, x), forms[0], p), h)
        return axpy(type(h)(0.5) * h, add(start, end), x)

    return heun


def reference_forms(o: np.ndarray, h: float) -> np.ndarray:
    """Return O_M."""
    return o[-1:]


def reference_step(
    H: Field, x: np.ndarray, h: float, start: np.ndarray, G: np.ndarray, g: np.ndarray
) -> np.ndarray:
    """Take the step."""
    first = H(x) + start
    return x + h / 2 * (first + H(x + h * first) + G[0])


HEUN = Scheme(
    name="heun",
    order=1,
    form_count=1,
    forms=forms,
    stability=(1.0, 1.0, 0.5),
    make_additive_step=make_additive_step,
    make_separable_step=None,
    make_general_step=make_general_step,
    reference_forms=reference_forms,
    reference_step=reference_step,
)
