"""K-RODE-Taylor schemes in NumPy for f that is not linear in O."""

import json

import pytest

from studies.__main__ import main as run_studies
from studies.rode.nonlinear_noise import (
    ORDERS,
)


def test_the_study_measures_the_orders(tmp_path):
    options = ["--quick", "--device", "cpu", "--out", str(tmp_path)]
    assert run_studies(["run", "rode-nonlinear", *options]) == 0
    rows = json.loads((tmp_path / "rode-nonlinear-cpu.json").read_text())["result"]["rows"]
    for order, row in zip(ORDERS, rows, strict=True):
        assert row[-1] == pytest.approx(order, abs=0.4)
