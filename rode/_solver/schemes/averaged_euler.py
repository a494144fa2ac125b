"""The averaged Euler scheme: Euler's step with the average A_1 instead of O_0.

A_1 = 1/M sum_(j<M) O_j (Riesinger 2017, equation 7.9), or J_0/h for the limit of ever finer steps.
"""

from __future__ import annotations

import numpy as np

from rode._solver.schemes import euler
from rode._solver.schemes.scheme import Scheme


def forms(h: float, fine_steps: int | None) -> np.ndarray:
    """Return the row of A_1: F_0 has the end O_M instead of the start O_0."""
    if fine_steps is None:
        return np.array([[0.0, 0.0, 1.0 / h]])
    return np.array([[1.0, -1.0, 1.0]]) / fine_steps


def reference_forms(o: np.ndarray, h: float) -> np.ndarray:
    """Return A_1."""
    M = len(o) - 1
    return np.array([sum(o[j] for j in range(M)) / M])


AVERAGED_EULER = Scheme(
    name="averaged-euler",
    order=1,
    form_count=1,
    forms=forms,
    stability=euler.EULER.stability,
    make_additive_step=euler.make_additive_step,
    make_separable_step=euler.make_separable_step,
    reference_forms=reference_forms,
    reference_step=euler.reference_step,
)
