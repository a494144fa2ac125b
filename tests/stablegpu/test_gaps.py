"""Data with gaps are fitted without them if asked, and refusals name the remedy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import levy_stable

import stablegpu

X = levy_stable.rvs(1.6, 0.2, size=(3, 400), random_state=1)


def gaps():
    """Return the data with gaps at the start, in the middle, and none."""
    data = X.copy()
    data[0, 0] = data[1, 7:90:5] = np.nan
    return data


def assert_same(one, other):
    for name in ("alpha", "beta", "loc", "scale", "loglik"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("method", ["ml", "mcculloch", "koutrouvelis"])
def test_gaps_are_omitted_in_every_form_of_data(method):
    data = gaps()
    without = [row[~np.isnan(row)] for row in data]
    options = {"method": method, "nan_policy": "omit"}
    expected = stablegpu.fit(without, method=method)
    frame = pd.DataFrame(data.T, columns=["a", "b", "c"])
    for form in (data, list(data), frame):
        assert_same(stablegpu.fit(form, **options), expected)
    assert stablegpu.fit(frame, **options).labels == ("a", "b", "c")
    assert_same(stablegpu.fit(data[1], **options), stablegpu.fit(without[1], method=method))
    assert list(stablegpu.fit(data, method=method).status) == ["not finite"] * 2 + ["converged"]
    with pytest.raises(ValueError, match="NaN by nan_policy='omit'"):
        stablegpu.fit(data[0], method=method)


def test_weights_follow_the_data():
    data, weights = gaps(), np.tile(np.arange(400.0) % 3, (3, 1))
    kept = [~np.isnan(row) for row in data]
    expected = stablegpu.fit(
        [row[k] for row, k in zip(data, kept, strict=True)],
        weights=[w[k] for w, k in zip(weights, kept, strict=True)],
    )
    assert_same(stablegpu.fit(data, weights=weights, nan_policy="omit"), expected)


def test_windows_have_so_many_observations_and_their_labels():
    series = pd.Series(gaps()[1], pd.date_range("2020-01-01", periods=400))
    without = series.dropna()
    options = {"window": 100, "step": 60, "method": "mcculloch"}
    expected = stablegpu.fit_windows(without, **options)
    found = stablegpu.fit_windows(series, nan_policy="omit", **options)
    assert_same(found, expected)
    assert found.labels == expected.labels
    for step in (0, -1):
        with pytest.raises(ValueError, match=f"step must be an integer >= 1, got {step}"):
            stablegpu.fit_windows(X[0], 100, step=step)


def test_streams_leave_gaps_out(tmp_path):
    data = stablegpu.stable(1.6, 0.4, device="cpu").rvs(30_000, rng=1)
    data[::7] = np.nan
    np.save(tmp_path / "x.npy", data)
    expected = stablegpu.fit(data, nan_policy="omit", device="cpu")
    sources = (tmp_path / "x.npy", data, lambda: np.array_split(data, 9), [data[:7], data[7:900]])
    for source in sources[:3]:
        found = stablegpu.fit_stream(source, nan_policy="omit", piece=4000, device="cpu")
        assert found.size == expected.size
        assert found.alpha == pytest.approx(expected.alpha, abs=1e-7)
        assert found.loglik == pytest.approx(expected.loglik, rel=1e-9)
    small = stablegpu.fit_stream(sources[3], nan_policy="omit", device="cpu")
    assert_same(small, stablegpu.fit(data[:900], nan_policy="omit", device="cpu"))
    with pytest.raises(ValueError, match="NaN by nan_policy='omit'"):
        stablegpu.fit_stream(data, device="cpu")
