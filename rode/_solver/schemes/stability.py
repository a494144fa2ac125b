"""The largest step for which an explicit scheme is stable on a linear problem."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rode._solver.schemes.scheme import Scheme
from rode.problems.problem import Problem

_BATCH = 256  # number of eigenvalues whose largest steps are computed at a time; not tuned
_ROUNDING = 1e-12  # relative error of eigenvalues, below which real parts count as 0 (no damping)
_PARTS = np.linspace(0.0, 1.0, 17)[1:]
"""Parts of a step at which growth is looked for: on a ray from 0 a polynomial may exceed 1 and fall
below 1 again, as that of order 5 of K-RODE-Taylor does."""


def largest_step(problem: Problem, scheme: Scheme) -> float:
    """Return the supremum of h with |R(h lambda)| < 1 for every eigenvalue with Re lambda < 0.

    All sets of parameters count, but only `problem.SETS` of them if H does not accept arrays.
    R is the scheme's polynomial; for Euler, whose R is 1 + z, that is min -2 Re lambda/|lambda|^2.
    """
    coefficients = list(reversed(scheme.stability))
    named_rates = problem.rates
    rates = (np.linalg.eigvals(problem.matrices()) if named_rates is None else named_rates).ravel()
    rates = rates[rates.real < -_ROUNDING * np.abs(rates)]
    step, stride = math.inf, max(1, rates.size // _BATCH)
    rates = np.concatenate([rates[k::stride] for k in range(stride)])
    while rates.size:
        step = min(step, *(_reach(coefficients, z) for z in rates[:_BATCH]))
        rates = rates[_BATCH:]
        growth = np.zeros(rates.size)
        for part in _PARTS:
            np.maximum(growth, np.abs(np.polyval(coefficients, part * step * rates)), out=growth)
        rates = rates[np.argsort(-growth)[: np.count_nonzero(growth > 1.0)]]
    return step


def _reach(coefficients: list[float], rate: complex) -> float:
    """Return the smallest h at which |R(h rate)| becomes 1: by steps, then by bisection."""

    rate = complex(rate)

    def grows(h: Any) -> Any:
        value = 0.0 * h * rate
        for c in coefficients:
            value = value * (h * rate) + c
        return abs(value) > 1.0

    steps = np.linspace(0.0, 20.0, 4001) / abs(rate)
    first = int(np.argmax(grows(steps)[1:]))
    low, high = float(steps[first]), float(steps[first + 1])
    for _ in range(60):
        middle = 0.5 * (low + high)
        if grows(middle):
            high = middle
        else:
            low = middle
    return low
