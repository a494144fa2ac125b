"""The object that describes a scheme to the solver, to the bound of stability and to the oracle."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Numbers: TypeAlias = tuple[Any, ...]
"""Tuple of floats of one type in compiled code, such as x or the linear forms of a path."""

Field: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""Right-hand side H of an equation for the oracle: a function of x."""

ReferenceStep: TypeAlias = Callable[
    [Field, np.ndarray, float, np.ndarray, np.ndarray, np.ndarray], np.ndarray
]
"""The type of `Scheme.reference_step`."""


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """A scheme for x' = H(x) + B O and, where it has their steps, G + g H(x) or f(t, x, O).

    A coarse step of length h has M fine steps, which give O_0 .. O_M. All that a step uses of them
    are a few linear forms, such as averages. It gets them from F_d, the sum of
    binomial(M - j, d) O_j over j = 1 .. M, or for the limit of ever finer steps from
    J_d, the integral of (h - s)^d/d! O_s over the coarse step.

    Functions that are compiled may get any mixture of floats from a user's function; `cast` brings
    them to the type of x. The oracle's functions are slow and obvious: they repeat no code of the
    others.

    Attributes
    ----------
    name : the value of the argument `method` of `rode.solve`
    order : the order in h, if delta is at most h^order
    form_count : the number of linear forms
    forms : function (h, M) -> array (form_count, form_count + 2)
        A row for each form, over (O_0, O_M, F_0, F_1, ..), and for M = None over
        (O_0, O_h, J_0, J_1, ..).
    stability : 1, 1, .., the coefficients of R(z), which multiplies x in a step of x' = lambda x,
        in ascending powers of z = h lambda
    make_additive_step : function (H, B) -> compiled step(t, x, o, forms, p, h), which returns x at
        the end of the step; o is O_0
    make_separable_step : function (H) -> compiled step(x, single, double, p, h), or None
        The arguments are averages A_1 and A_2 of (G_1, .., G_n, g) over the fine steps, see
        `averages`, or both their values at the start for a scheme that does not use fine steps.
    reference_forms : function (O_0 .. O_M, h) -> the forms, by their definition
    reference_step : function (H, x, h, start, G, g) -> x at the end of a step
        `start` is the inhomogeneous part of the equation at the start, B O_0; G[k] is its form
        number k, and g[k] that of the factor of H, which is 1 for additive noise.
    uses_fine_steps : False if a coarse step uses the process at its start only
    averages : {"linear", "printed"}
        Weights of the averages of G and g over the fine steps 0 .. M of a separable problem:
        "linear" ones, (1/2, 1, .., 1, 1/2)/M and 2/M^2 (M/2 - 1/6, M - 1, .., 1, 1/6), are exact
        for constants and linear functions of time; those that are printed in (Riesinger 2017), of
        `rode.average` and `rode.double_average`, give a constant the weight 1 + 1/M.
    linear_only : whether `make_additive_step` is for linear H only
    make_nonlinear_step : function (H, B, first, second) -> compiled step as of
        `make_additive_step`, for H whose derivatives are given; or None
    derivatives : number of derivatives of H that the nonlinear step uses
    make_general_step : function (f) -> compiled step as of `make_additive_step`, for
        x' = f(t, x, O); or None
    """

    name: str
    order: int
    form_count: int
    forms: Callable[[float, int | None], np.ndarray]
    stability: tuple[float, ...]
    make_additive_step: Callable[[Any, Any], Any]
    make_separable_step: Callable[[Any], Any] | None
    reference_forms: Callable[[np.ndarray, float], np.ndarray]
    reference_step: ReferenceStep
    uses_fine_steps: bool = True
    averages: str = "linear"
    linear_only: bool = False
    make_nonlinear_step: Callable[[Any, Any, Any, Any], Any] | None = None
    derivatives: int = 0
    make_general_step: Callable[[Any], Any] | None = None

    def fine_steps(self, h: float) -> int:
        """Return M for delta = h^order: sub-sampling costs no order.

        The error of the averages is O(delta) in the mean square for an Ornstein-Uhlenbeck process
        (measured; Kloeden and Rosa 2023 for Euler), not O(delta^1/2) as in (Riesinger 2017).
        """
        return max(1, math.ceil(h ** (1 - self.order) - 1e-9))
