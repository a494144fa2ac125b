"""Control variates for linear problems: sums of powers of an output, whose means are known.

The solution of a linear problem is Gaussian, by each scheme and at each step. So the mean of
sum y^2 and that of sum y^4 over the coarse steps follow from the mean and the variance of y at each
of them, which obey recurrences of small matrices. Together they explain two thirds and more of the
variance of the largest |y| (measured for the ground of Kanai and Tajimi).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rode._solver.plan import Plan
from rode._solver.reductions.functional import Functional
from rode.problems.calls import call_uncompiled

MAX_DIMENSION = 64
"""Largest number of unknowns of the recurrence, which multiplies matrices for each step; not
tuned."""


def square(t: float, y: float) -> tuple[float]:
    """Begin the sum of squares."""
    return (y * y,)


def add_square(state: tuple[float], t: float, y: float, h: float) -> tuple[float]:
    """Add a square."""
    return (state[0] + y * y,)


def fourth_power(t: float, y: float) -> tuple[float]:
    """Begin the sum of fourth powers."""
    return (y * y * y * y,)


def add_fourth_power(state: tuple[float], t: float, y: float, h: float) -> tuple[float]:
    """Add a fourth power."""
    return (state[0] + y * y * y * y,)


CONTROLS = (
    Functional("squares", square, add_square),
    Functional("fourth powers", fourth_power, add_fourth_power),
)


def means_of_controls(plan: Plan, index: int) -> np.ndarray:
    """Return the means of `CONTROLS` of an output for the steps of a plan.

    The array is empty where they are not known: the problem is not linear, its start or the output
    no linear function, or it has an excitation instead of the process.
    """
    problem, none = plan.problem, np.zeros(0)
    if not problem.linear or problem.excitation or problem.dimension > MAX_DIMENSION:
        return none
    size, fixed, deviation = problem.dimension, problem.start_process, problem.process.deviation
    p = tuple(map(float, problem.parameters[:, 0]))
    ends = plan.t0, plan.t0 + plan.h * plan.steps

    def start_at(z: np.ndarray, t: float) -> Any:
        return problem.start_numbers or call_uncompiled(problem, "start", O=float(z[0]), p=p)

    def observe_at(z: np.ndarray, t: float) -> Any:
        x = tuple(map(float, z[:size]))
        return call_uncompiled(problem, "observe", t=t, x=x, O=float(z[size]), p=p)[index]

    try:
        start = _affine(start_at, np.full(1, deviation), ends)
        scale = np.append(np.abs(start).sum(axis=1) + 1.0, deviation)
        row = _affine(observe_at, scale, ends)[0]
    except ValueError:
        return none
    transfer, noise = _recurrence(plan)
    mean, spread = np.zeros(size + 1), np.zeros((size + 1, size + 1))
    mean[:size], mean[size] = start @ (fixed or 0.0, 1.0), fixed or 0.0
    if fixed is None:
        column = deviation * np.append(start[:, 0], 1.0)
        spread = np.outer(column, column)
    totals, C, e = np.zeros(2), row[:-1], row[-1]
    for n in range(plan.steps + 1):
        if n > 0:
            mean, spread = transfer @ mean, transfer @ spread @ transfer.T + noise
        m, v = float(C @ mean + e) ** 2, float(C @ spread @ C)
        totals += m + v, m * m + 6.0 * m * v + 3.0 * v * v
    return totals if np.isfinite(totals).all() else none


def _affine(function: Any, scale: np.ndarray, ends: tuple[float, float]) -> np.ndarray:
    """Return A and b of a function A z + b that does not depend on time, as the matrix (A, b).

    Raise ValueError if a value at a random z is another one.
    """
    b = np.atleast_1d(np.array(function(np.zeros(scale.size), ends[0]), dtype=float))
    columns = [(np.atleast_1d(function(z, ends[0])) - b) for z in np.diag(scale)]
    A, rng = np.transpose(columns) / scale, np.random.default_rng(1)
    for t in (*ends, *rng.uniform(*ends, 4)):
        z = scale * rng.standard_normal(scale.size)
        size = np.abs(A) @ np.abs(z) + np.abs(b)
        if not np.all(np.abs(function(z, float(t)) - A @ z - b) <= 1e-9 * size):
            raise ValueError("the function is not linear")
    return np.column_stack([A, b])


def _recurrence(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Return T and Q of a step (x, O) -> T (x, O) + noise of covariance Q, by the plan's scheme."""
    problem, scheme, size = plan.problem, plan.scheme, plan.problem.dimension
    law, rows = plan.sums_distribution(), scheme.forms(plan.h, plan.fine_steps)
    p = tuple(map(float, problem.parameters[:, 0]))
    A, B = problem.matrix(), np.array(call_uncompiled(problem, "B", p=p), dtype=float)

    def step(x: np.ndarray, o: float, sums: np.ndarray) -> np.ndarray:
        forms = rows @ np.append(o, sums)
        ones = np.ones(len(forms))
        after = scheme.reference_step(lambda v: A @ v, x, plan.h, o * B, np.outer(forms, B), ones)
        return np.append(after, sums[0])

    origin = np.zeros(size)
    columns = [step(unit, 0.0, np.zeros(len(law.mean))) for unit in np.eye(size)]
    columns.append(step(origin, 1.0, law.mean))
    noise = np.array([step(origin, 0.0, column) for column in law.factor.T])
    return np.transpose(columns), noise.T @ noise
