"""The studies run at their smallest size, and the statistics detect wrong distributions."""

import json

import numpy as np
import pytest

import hetero
import rode
from studies.__main__ import main
from studies.rode.nonlinear_noise import ORDERS
from studies.rode.normality import loops
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


def test_tally_is_the_same_on_every_device(device):
    x, y = (rode.normal(100_000, rng=1, path=p, device="cpu") for p in (0, 1))
    counts, sums = tally(x, y)
    if device == "cuda":
        from hetero.cuda.driver import cuda

        x, y = cuda.to_device(x), cuda.to_device(y)
    found_counts, found_sums = loops(hetero.resolve(device)).tally(x, y)
    assert np.abs(found_counts - counts).sum() <= 4  # numbers within rounding of an edge
    np.testing.assert_allclose(found_sums, sums, rtol=1e-9, atol=1e-6)


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
def test_occupancies_need_no_gpu(tmp_path):
    """Expected values are worked out by hand: 16 warps a block, and 64 on a multiprocessor."""
    result = run_study("rode-occupancy", tmp_path)
    rows = {
        (r["compute capability"], r["table"], r["strips"]): r["512 threads"]
        for r in result["ziggurat"]
    }
    # 8193 edges of 4 bytes take 33,024 of 49,152 bytes, a second block finds no room.
    assert rows["3.5", "shared", 8192] == 16 / 64
    # Eight blocks of 1025 edges would fit: registers are the limit, of which either may need fewer.
    assert min(rows["3.5", "shared", 1024], rows["3.5", "local", 1024]) > 16 / 64
    # On an H200 registers are the limit up to the largest table: six blocks of it fit.
    assert rows["9.0", "shared", 8192] == rows["9.0", "shared", 2] > 16 / 64
    parts = {r["part"]: r for r in result["parts"]}
    assert parts["ziggurat"]["shared memory, bytes"] == 1025 * 4
    assert parts["single average"]["shared memory, bytes"] == 0
    assert 0 < parts["solver, averaged-euler"]["occupancy on 9.0"] < 1
    assert list(tmp_path.glob("*.png"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("convergence", "expectation", "multilevel", "normals", "paths", "peaks", "scaling"),
        *("solver", "subsets", "variance"),
    ],
)
def test_studies_run(tmp_path, name):
    assert main(["run", f"rode-{name}", "--quick", "--out", str(tmp_path)]) == 0
    assert list(tmp_path.glob(f"rode-{name}-*.json"))
