"""Fits of windows and of columns can be asked what single fits are: risk, profiles and plots."""

import matplotlib.dates
import numpy as np
import pandas as pd
import pytest
from scipy.stats import levy_stable

import stablegpu
from stablegpu.__main__ import main

X = levy_stable.rvs(1.7, 0.1, loc=0.001, scale=0.01, size=400, random_state=3)
DAYS = pd.Series(X, pd.bdate_range("2020-01-01", periods=400))


def test_one_of_many_fits_has_its_data():
    """Also behind slices, weights and gaps, and though the caller overwrites the array."""
    x, weights = X.copy(), np.arange(400.0) % 3
    windows = stablegpu.fit_windows(x, 150, step=100, device="cpu")
    rows = stablegpu.fit(x.reshape(2, 200), weights=weights.reshape(2, 200), device="cpu")
    x[:] = 0.0
    np.testing.assert_array_equal(windows[1:][1].data, X[200:350])
    np.testing.assert_array_equal(rows[1].data, X[200:][weights[200:] > 0.0])
    np.testing.assert_array_equal(rows[1].weights, weights[200:][weights[200:] > 0.0])
    alone = stablegpu.fit(X[200:350], device="cpu")
    assert windows[2].ks_distance == pytest.approx(alone.ks_distance, abs=1e-6)
    found, expected = (f.value_at_risk(0.99, method="profile") for f in (windows[2], alone))
    assert found.interval == pytest.approx(expected.interval, rel=1e-4)
    assert stablegpu.fit({"a": X}, device="cpu")["a"].data.size == 400


def test_the_risk_of_every_fit_is_that_of_each():
    data = X.reshape(2, 200).copy()
    bad = stablegpu.fit({"a": data[0], "b": np.ones(9), "c": data[1]}, device="cpu")
    for measure in ("value_at_risk", "expected_shortfall"):
        found = getattr(bad, measure)(0.975, of="losses", confidence=0.9)
        one = getattr(bad["c"], measure)(0.975, of="losses", confidence=0.9)
        assert np.isnan(found.value[1])
        assert found.to_frame().loc["c"].tolist() == [one.value, one.stderr, one.low, one.high, 0]
        assert found.interval[1][2] == one.interval[1]
    with pytest.raises(ValueError, match="level must lie in"):
        bad.value_at_risk(99)


def test_windows_are_drawn_over_their_dates():
    windows = stablegpu.fit_windows(DAYS, 150, step=100, device="cpu")
    (line,) = windows.plot().axes[0].lines
    assert list(matplotlib.dates.num2date(line.get_xdata(orig=False))) == [
        pd.Timestamp(day, tz="UTC") for day in windows.labels
    ]
    columns = stablegpu.fit({"SPX": X[:200], "DAX": X[200:]}, device="cpu").plot().axes[0]
    assert [text.get_text() for text in columns.get_xticklabels()] == ["SPX", "DAX"]


def test_the_page_of_a_fit_has_the_risk_that_was_asked_for(tmp_path, capsys):
    np.savetxt(tmp_path / "x.csv", X.reshape(200, 2), delimiter=",", header="a,b", comments="")
    options = ["--var", "0.99", "--device", "cpu", "--quiet"]
    for columns in (["--column", "a", "--risk-interval", "profile"], ["--all-columns"]):
        page = tmp_path / "fit.html"
        call = ["fit", str(tmp_path / "x.csv"), *columns, *options, "--plot", str(page)]
        assert main(call) == 0
        assert "99 % value at risk" in page.read_text()
