"""Data with gaps are fitted without them if asked, and refusals name the remedy."""

import numpy as np
import pandas as pd
import pytest

import stablegpu

X = stablegpu.stable(1.6, 0.2).rvs((3, 400), rng=1)


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


def test_refusals_name_the_remedy():
    empty = np.full(9, np.nan)
    empty[:4] = 1.0
    for call, message in (
        (lambda: stablegpu.fit(empty, nan_policy="omit"), "at least 5 values in a set beside NaN"),
        (lambda: stablegpu.fit(X, nan_policy="drop"), "nan_policy must be one of 'raise', 'omit'"),
        (lambda: stablegpu.fit(X[0], weights=np.full(400, 1e300)), "a sum of at most 9.0072e"),
        (lambda: stablegpu.fit(X[0], floc=0.0), r"'floc'; use fixed=\{'loc': ...\}"),
        (lambda: stablegpu.fit(X[0], f1=0.0), r"'f1'; use fixed=\{'beta': ...\}"),
        (lambda: stablegpu.fit(X[0], nothing=0.0), "unexpected keyword argument 'nothing'$"),
        (
            lambda: stablegpu.stable([1.2, 1.5], 0.3),
            "alpha must be a real number: stablegpu.pdf.* arrays",
        ),
        (
            lambda: stablegpu.fit(np.ma.masked_greater(X, 0.0)),
            r"data must not be masked: fill the gaps, for example by data\.filled",
        ),
        (
            lambda: stablegpu.pdf([np.ma.masked_greater(row, 0.0) for row in (X[0], X[1])], 1.5, 0),
            r"x must not be masked: pass compressed\(\) of each masked array",
        ),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            call()


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
