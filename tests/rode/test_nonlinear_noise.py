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


def test_a_step_of_the_first_order_is_the_published_formula():
    o = paths_of_process(5, 64, 2)
    delta = 1.0 / 64
    integral = delta * (0.5 * o[:, 0] + o[:, 1:-1].sum(axis=1) + 0.5 * o[:, -1]) - o[:, 0]
    expected = np.sin(o[:, 0]) + np.cos(o[:, 0]) * integral
    result = solve_by_taylor(derivative_of_sine, 1, o, delta, 64)
    np.testing.assert_allclose(result, expected, rtol=1e-13)


def test_the_study_measures_the_orders(tmp_path):
    options = ["--quick", "--device", "cpu", "--out", str(tmp_path)]
    assert run_studies(["run", "rode-nonlinear", *options]) == 0
    rows = json.loads((tmp_path / "rode-nonlinear-cpu.json").read_text())["result"]["rows"]
    for order, row in zip(ORDERS, rows, strict=True):
        assert row[-1] == pytest.approx(order, abs=0.4)
