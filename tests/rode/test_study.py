"""The studies run at their smallest size, and the statistics detect wrong distributions."""

import json

import numpy as np
import pytest

import rode
from studies.__main__ import main
from studies.rode.nonlinear_noise import ORDERS
from studies.rode.normality.cpu import tally
from studies.rode.quality import scores


def worst(x, y):
    result = scores(*tally(x, y))
    distances = min(result["chi2 p"], result["KS p"])
    return max(abs(v) for k, v in result.items() if not k.endswith(" p")), distances


def test_scores_see_faults():
    x, y = (rode.normal(1 << 18, rng=1, path=p, device="cpu") for p in (0, 1))
    score, p = worst(x, y)
    assert score < 5
    assert p > 1e-4
    assert worst(1.01 * x, y)[0] > 5  # variance
    assert worst(np.where(np.abs(x) < 0.01, 0.5, x), y)[1] < 1e-4  # a hole
    assert worst(0.6 * x + 0.8 * np.roll(x, 3), y)[0] > 5  # serial correlation
    assert worst(x, x)[0] > 5  # one stream twice
    assert worst(x, -np.abs(x) * np.sign(y))[0] > 5  # equal sizes
    assert worst(np.clip(x, -3.5, 3.5), y)[1] < 1e-4 or worst(np.clip(x, -3.5, 3.5), y)[0] > 3


def run_study(name, folder):
    """Return the result of a study."""
    assert main(["run", name, "--quick", "--device", "cpu", "--out", str(folder)]) == 0
    return json.loads((folder / f"{name}-cpu.json").read_text())["result"]


def test_quality_finds_good_and_bad_numbers(tmp_path):
    scores = run_study("rode-quality", tmp_path)["scores"]
    assert scores["box-muller float64"]["chi2 p"] > 1e-4
    assert abs(scores["wallace-uncorrected float32"]["x^2"]) < 0.2


def test_schemes_have_their_orders_where_the_noise_is_not_linear(tmp_path):
    rows = run_study("rode-nonlinear", tmp_path)["rows"]
    for order, row in zip(ORDERS, rows, strict=True):
        assert row[-1] == pytest.approx(order, abs=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    *("convergence", "expectation", "multilevel", "normals", "occupancy", "paths", "peaks"),
    *("scaling", "solver", "subsets", "variance"),
])  # fmt: skip
def test_studies_run(tmp_path, name):
    assert main(["run", f"rode-{name}", "--quick", "--out", str(tmp_path)]) == 0
    assert list(tmp_path.glob(f"rode-{name}-*.json"))
