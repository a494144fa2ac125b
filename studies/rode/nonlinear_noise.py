"""Strong orders of K-RODE-Taylor schemes for f not linear in O (Riesinger 2017, 7.13 and 7.14).

The schemes are equations 7.13 and 7.14 in NumPy, for x' = f(O, x) with all derivatives of f: sums
over the multi-indices (a, b) with a/2 + b < K, because paths of O have the Hölder exponent 1/2.
`rode.solve` has no such schemes: they need integrals of powers of O, which are no linear forms. The
example is f = sin(O + x). All runs have the same fine steps, so the distance of a path from that of
a run with much shorter coarse steps is the error of its coarse steps.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy import signal

from rode._paths.process import Process
from studies.rode.orders import slope
from studies.study import Study

ORDERS = (1, 2, 3)
"""Orders K of the schemes."""

HOLDER = 0.5
"""Weight theta of derivatives by O: the Hölder exponent of its paths, as a supremum."""

SEED = 5

Derivative = Callable[[int, int, np.ndarray, np.ndarray], np.ndarray]
"""Derivative of f of orders (a, b) by O and by x, at arrays of both."""


def derivative_of_sine(a: int, b: int, o: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the derivative of sin(O + x) of orders a and b by O and by x."""
    return np.sin(o + x + 0.5 * math.pi * (a + b))


def solve_by_taylor(
    derivative: Derivative, order: int, o: np.ndarray, delta: float, fine: int
) -> np.ndarray:
    """Return x at the end of paths of O, from x = 0 at their beginning.

    Parameters
    ----------
    derivative : the derivatives of f
    order : K
    o : (paths, steps + 1) float64, O at fine steps of length `delta`
    fine : number of fine steps in a coarse one, which divides `steps`
    """
    x = np.zeros(len(o))
    for begin in range(0, o.shape[1] - 1, fine):
        x = x + _increments(derivative, order, x, o[:, begin : begin + fine + 1], delta)[:, -1]
    return x


def _increments(
    derivative: Derivative, order: int, x: np.ndarray, o: np.ndarray, delta: float
) -> np.ndarray:
    """Return the increments of x since the beginning of a coarse step, at all its fine steps."""
    change = o - o[:, :1]

    @functools.cache
    def increment(level: float) -> np.ndarray:
        """Return the increment of equation 7.14b for an order, which is a multiple of 1/2."""
        total = np.zeros_like(o)
        for b in range(math.ceil(level)):
            for a in range(math.ceil((level - b) / HOLDER)):
                integrand = change**a
                if b:
                    integrand = integrand * increment(level - HOLDER * a - b) ** b
                factor = derivative(a, b, o[:, 0], x) / (math.factorial(a) * math.factorial(b))
                total += factor[:, None] * _integrate(integrand, delta)
        return total

    return increment(float(order))


def _integrate(values: np.ndarray, delta: float) -> np.ndarray:
    """Return the integrals from the first column to each, by the trapezoidal rule."""
    integrals = np.zeros_like(values)
    np.cumsum(0.5 * delta * (values[:, 1:] + values[:, :-1]), axis=1, out=integrals[:, 1:])
    return integrals


def paths_of_process(count: int, steps: int, seed: int) -> np.ndarray:
    """Return paths of O over one second, (count, steps + 1), which begin with 0; tau = c = 1."""
    mu_minus_1, sigma = Process().step(1.0 / steps)
    noise = sigma * np.random.default_rng(seed).standard_normal((count, steps))
    o = np.zeros((count, steps + 1))
    o[:, 1:] = signal.lfilter([1.0], [1.0, -(1.0 + mu_minus_1)], noise)
    return o


def run(study: Study) -> dict:
    """Tabulate root mean square errors at the end, and orders by regression."""
    powers = (1, 2, 3) if study.quick else (2, 3, 4, 5)
    finest, log2_steps, paths = (5, 10, 8) if study.quick else (8, 16, 48)
    o = paths_of_process(paths, 1 << log2_steps, SEED)
    solve = functools.partial(solve_by_taylor, derivative_of_sine, o=o, delta=2.0**-log2_steps)
    limit = solve(max(ORDERS), fine=1 << (log2_steps - finest))
    rows = []
    for order in ORDERS:
        ends = [solve(order, fine=1 << (log2_steps - power)) for power in powers]
        errors = np.array([np.sqrt(np.mean((end - limit) ** 2)) for end in ends])
        rows.append((f"{order}-RODE-Taylor", *errors.tolist(), slope(powers, errors)))
    size = float(np.sqrt(np.mean(limit**2)))
    columns = ("scheme", *(f"h = 2^-{power}" for power in powers), "order")
    title = f"x' = sin(O + x): error of x(1), whose root mean square is {size:.3g}; {paths} paths"
    study.table(title, columns, rows)
    return {"paths": paths, "seed": SEED, "fine step": 2.0**-log2_steps, "rows": rows}
