"""Control variates for linear problems: sums of powers of an output, whose means are known.

The solution of a linear problem is Gaussian, by each scheme and at each step. So the mean of
sum y^2 and that of sum y^4 over the coarse steps follow from the mean and the variance of y at each
of them, which obey recurrences of small matrices. Together they explain two thirds and more of the
variance of the largest |y| (measured for the ground of Kanai and Tajimi).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rode._estimators.given_noise import GivenNoise
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
    no linear function of O and x, or its excitation is not Gaussian or has a record for each path.
    """
    problem, none = plan.problem, np.zeros(0)
    if not problem.linear or (problem.excitation and problem.excitation.draws_at_start):
        return none
    noise, size, components = GivenNoise(plan, index), problem.dimension, problem.components
    states, arrays = noise.states, noise.arrays
    if size + states > MAX_DIMENSION or arrays.given.shape[3] > 1:
        return none
    p = tuple(map(float, problem.parameters[:, 0]))
    ends, deviation = (plan.t0, plan.t0 + plan.h * plan.steps), problem.deviations

    def start_at(o: np.ndarray, t: float) -> Any:
        return problem.start_numbers or call_uncompiled(problem, "start", O=_as_o(o), p=p)

    def observe_at(z: np.ndarray, t: float) -> Any:
        x = tuple(map(float, z[:size]))
        return call_uncompiled(problem, "observe", t=t, x=x, O=_as_o(z[size:]), p=p)[index]

    try:
        scale = np.where(deviation > 0.0, deviation, 1.0)
        start = _affine(start_at, scale, ends)
        row = _affine(observe_at, np.append(np.abs(start).sum(axis=1) + 1.0, scale), ends)[0]
    except ValueError:
        return none
    # z = (x, s) has the unknowns and the states of filters; u is (gather e C) s and what is given.
    certain = np.zeros((plan.steps, components, noise.length)) + arrays.given[..., 0]
    ends_of_steps = np.concatenate([certain[:, :, 0], certain[-1:, :, 1]])
    shapes = [noise.gather @ (e[:, None] * arrays.outputs) for e in arrays.envelopes]
    mean, spread = arrays.starting[:, 0], arrays.starting[:, 1:]
    begin = np.vstack([start[:, :-1] @ shapes[0], np.eye(states)])
    x = start @ np.append(ends_of_steps[0], 1.0)
    mean, spread = begin @ mean + np.append(x, np.zeros(states)), begin @ spread
    spread, totals = spread @ spread.T, np.zeros(2)
    carry, forces = _recurrence(plan)
    s = np.eye(states, noise.carry.shape[1] + noise.spread.shape[1])
    after = np.hstack([noise.carry, noise.spread])
    for n in range(plan.steps + 1):
        if n > 0:
            pushed = np.einsum("ijc,cjk->ik", forces, noise.integrals_of_step(n - 1, s, after))
            step = np.vstack([pushed, after[:states]])
            transfer = np.hstack([np.vstack([carry, np.zeros((states, size))]), step[:, :states]])
            mean = transfer @ mean
            mean[:size] += np.einsum("ijc,cj->i", forces, certain[n - 1])
            spread = transfer @ spread @ transfer.T + step[:, states:] @ step[:, states:].T
        of_u = row[size:-1]
        C = np.append(row[:size], of_u @ shapes[n])
        m, v = float(C @ mean + of_u @ ends_of_steps[n] + row[-1]) ** 2, float(C @ spread @ C)
        totals += m + v, m * m + 6.0 * m * v + 3.0 * v * v
    return totals if np.isfinite(totals).all() else none


def _as_o(values: np.ndarray) -> Any:
    """Return O as users' functions take it: a number, or a tuple of several."""
    return float(values[0]) if values.size == 1 else tuple(map(float, values))


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
    """Return R and W of a step x -> R x + sum_jc W[:, j, c] v[c, j] by the plan's scheme.

    v has the numbers of each component that `GivenNoise.integrals_of_step` returns.
    """
    problem, scheme, size = plan.problem, plan.scheme, plan.problem.dimension
    rows, p = scheme.forms(plan.h, plan.fine_steps), tuple(map(float, problem.parameters[:, 0]))
    A = problem.matrix()
    B = np.atleast_2d(np.array(call_uncompiled(problem, "B", p=p), dtype=float))

    def step(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        forms, ones = rows @ v.T, np.ones(len(rows))
        return scheme.reference_step(lambda y: A @ y, x, plan.h, v[:, 0] @ B, forms @ B, ones)

    components, length = len(B), rows.shape[1]
    none = np.zeros((components, length))
    carry = np.transpose([step(unit, none) for unit in np.eye(size)])
    units = np.eye(length * components).reshape(-1, length, components)
    forces = np.transpose([step(np.zeros(size), unit.T) for unit in units])
    return carry, forces.reshape(size, length, components)
