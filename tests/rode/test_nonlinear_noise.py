"""K-RODE-Taylor schemes in NumPy for f that is not linear in O."""

import json

import numpy as np
import pytest

from studies.__main__ import main as run_studies
from studies.rode.nonlinear_noise import (
    ORDERS,
    derivative_of_sine,
    paths_of_process,
    solve_by_taylor,
)

STEPS = 1 << 10
DELTA = 1.0 / STEPS


def solve_by_heun(o):
    """Return x at the end of x' = sin(O + x) by Heun's method in the fine steps."""
    x = np.zeros(len(o))
    for j in range(o.shape[1] - 1):
        first = np.sin(o[:, j] + x)
        x = x + 0.5 * DELTA * (first + np.sin(o[:, j + 1] + x + DELTA * first))
    return x


def test_short_steps_of_the_third_order_tend_to_the_solution_by_heun():
    o = paths_of_process(8, STEPS, 1)
    true = solve_by_heun(o)
    errors = [
        np.abs(solve_by_taylor(derivative_of_sine, 3, o, DELTA, fine) - true).max()
        for fine in (STEPS // 4, STEPS // 32)
    ]
    assert errors[0] > 30 * errors[1]
    assert errors[1] < 2e-5


def test_a_step_of_the_first_order_is_the_published_formula():
    o = paths_of_process(5, 64, 2)
    delta = 1.0 / 64
    integral = delta * (0.5 * o[:, 0] + o[:, 1:-1].sum(axis=1) + 0.5 * o[:, -1]) - o[:, 0]
    expected = np.sin(o[:, 0]) + np.cos(o[:, 0]) * integral
    result = solve_by_taylor(derivative_of_sine, 1, o, delta, 64)
    np.testing.assert_allclose(result, expected, rtol=1e-13)


@pytest.mark.parametrize("order", ORDERS)
def test_of_a_linear_equation_nothing_is_left_out_but_powers_of_h(order):
    """For x' = -x + O one step is the Taylor polynomial of the exact solution in h."""

    def derivative(a, b, o, x):
        return {(0, 0): o - x, (1, 0): np.ones_like(x), (0, 1): -np.ones_like(x)}.get(
            (a, b), np.zeros_like(x)
        )

    t = np.linspace(0.0, 0.25, 2001)
    o = np.vstack([np.ones_like(t), 1.0 + t])
    exact = [1.0 - np.exp(-0.25), 0.25]
    result = solve_by_taylor(derivative, order, o, t[1], 2000)
    assert np.abs(result - exact).max() < 0.25 ** (order + 1)


def test_the_study_measures_the_orders(tmp_path):
    options = ["--quick", "--device", "cpu", "--out", str(tmp_path)]
    assert run_studies(["run", "rode-nonlinear", *options]) == 0
    rows = json.loads((tmp_path / "rode-nonlinear-cpu.json").read_text())["result"]["rows"]
    for order, row in zip(ORDERS, rows, strict=True):
        assert row[-1] == pytest.approx(order, abs=0.4)
