"""The oracle of the studies, and every study at its smallest."""

import json

import pytest

from hetero import Device
from stable_references import DENSITIES
from studies.__main__ import ON_CPUS_ONLY, STUDIES, main
from studies.stablegpu import ball_oracle


@pytest.mark.parametrize("row", DENSITIES[7::97], ids=lambda r: r["x"])
def test_oracle_agrees_with_the_reference(row):
    """Two routes that share no formula: 20 digits of one, 1e-15 asked of the other."""
    if float(row["logpdf"]) < -700.0:
        pytest.skip("underflows")
    true = ball_oracle.evaluate(float(row["x"]), float(row["alpha"]), float(row["beta"]))
    assert true.error <= 1e-15
    for name in ("pdf", "cdf", "sf"):
        assert abs(getattr(true, name) / ball_oracle.arb(row[name]) - 1) < 2e-15
    for result, name in ((true.dx, "dlogpdf_dx"), (true.dalpha, "dlogpdf_dalpha")):
        factor = float(row["x"] if name == "dlogpdf_dx" else row["alpha"])
        if float(row["alpha"]) < 2.0:
            assert result == pytest.approx(abs(factor * float(row[name])), rel=0.1, abs=0.02)


TABLES_ONLY = {
    f"stablegpu-{name}" for name in ("accuracy", "coverage", "maxima", "random", "stream")
}
"""Studies that draw no pictures."""

QUICK = {"stablegpu-fit", "stablegpu-random"}
"""Studies that are no slow tests: one with pictures, and one that judges evaluators."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[pytest.mark.slow] * (n not in QUICK))
        for n in STUDIES
        if n.startswith("stablegpu-")
    ],
)
def test_study_runs(name, tmp_path, device, capsys):
    if name in ("stablegpu-accuracy", "stablegpu-map") and Device.parse(device).kind == "cuda":
        pytest.skip("most of it is the oracle's and SciPy's work, done on the CPU")
    if name in ON_CPUS_ONLY and Device.parse(device).kind == "cuda":
        pytest.skip("measures the cores of a CPU")
    assert main(["run", name, "--quick", "--device", device, "--out", str(tmp_path)]) == 0
    record = json.loads((tmp_path / f"{name}-{device}.json").read_text())
    assert record["tables"]
    assert record["facts"]["cpu"]
    assert record["tables"][0]["title"] in capsys.readouterr().out
    if name not in TABLES_ONLY:
        assert all(p.stat().st_size > 5000 for p in tmp_path.glob("*.png"))
        assert list(tmp_path.glob("*.png"))
    if name == "stablegpu-random":
        result = record["result"]
        assert result["oracle_error"] < 1e-14
        for evaluator in ("quadrature", "nodes", "polynomials"):
            assert result[evaluator]["max_ratio"] <= 1.0
