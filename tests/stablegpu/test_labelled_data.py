"""Fits of frames, series and mappings, and the results that carry their labels."""

import math

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import stablegpu

NAMES = ("A", "B", "C")


@pytest.fixture(scope="module")
def columns():
    values = stablegpu.stable(1.6, 0.3, scale=0.01, device="cpu").rvs((3, 60), rng=5)
    return dict(zip(NAMES, values, strict=True))


@pytest.fixture(scope="module")
def fits(columns):
    return stablegpu.fit(columns, method="mcculloch", device="cpu")


@pytest.mark.parametrize(
    "make", [dict, pandas.DataFrame, polars.DataFrame, pyarrow.table], ids=lambda f: f.__module__
)
def test_a_frame_is_fitted_by_columns(columns, make):
    fits = stablegpu.fit(make(columns), method="mcculloch", device="cpu")
    assert tuple(fits.labels) == NAMES
    for name, values in columns.items():
        alone = stablegpu.fit(values, method="mcculloch", device="cpu")
        assert fits[name].alpha == alone.alpha
        assert fits[name].label == name


def test_a_series_is_one_set_with_its_name(columns):
    for series in (pandas.Series(columns["B"], name="B"), polars.Series("B", columns["B"])):
        result = stablegpu.fit(series, method="mcculloch", device="cpu")
        assert isinstance(result, stablegpu.FitResult)
        assert result.label == "B"


def test_columns_that_cannot_be_fitted(columns):
    for make in (pandas.DataFrame, polars.DataFrame):
        frame = make(columns | {"day": ["Monday"] * 60})
        with pytest.raises(TypeError, match=r"data\['day'\] must .*leave this column out"):
            stablegpu.fit(frame)
    frame = pandas.DataFrame(columns)
    weights = pandas.DataFrame(1.0, index=frame.index, columns=["B", "A", "C"])
    with pytest.raises(ValueError, match="weights must have the labels of data"):
        stablegpu.fit(frame, weights=weights)
    with pytest.raises(ValueError, match=r"in each row of a 2-D array \(pass data.T .*got 3"):
        stablegpu.fit(np.column_stack(list(columns.values())))
    frame.loc[3, "B"] = None
    frame["B"] = frame["B"].astype("Float64")
    fits = stablegpu.fit(frame, method="mcculloch", device="cpu")
    assert fits.status.tolist() == ["converged", "not finite", "converged"]


def test_results_are_sliced_by_position_mask_and_label(fits):
    assert [one.label for one in fits[1:]] == ["B", "C"]
    assert fits[[2, 0]].labels == ("C", "A")
    assert fits[np.array([False, True, False])].alpha.tolist() == [fits.alpha[1]]
    assert fits[-1].alpha == fits["C"].alpha
    with pytest.raises(KeyError, match="'D'; the labels are 'A', 'B', 'C'"):
        fits["D"]
    with pytest.raises(IndexError):
        fits[3]


def test_many_fits_are_a_frame_and_a_table(fits):
    frame = fits.to_frame()
    assert tuple(frame.index) == NAMES
    np.testing.assert_array_equal(frame["alpha"], fits.alpha)
    assert frame.loc["B", "status"] == "converged"
    np.testing.assert_array_equal(frame["bic"], 4 * math.log(60) - 2 * fits.loglik)
    lines = fits.summary().splitlines()
    assert [line.split()[0] for line in lines[3:6]] == list(NAMES)
    assert ">B</th>" in fits._repr_html_()


def test_windows_carry_the_date_of_their_last_observation(columns):
    days = pandas.date_range("2026-01-01", periods=60)
    series = pandas.Series(columns["A"], index=days)
    options = {"step": 20, "method": "mcculloch", "device": "cpu"}
    windows = stablegpu.fit_windows(series, 20, **options)
    assert list(windows.labels) == list(days[[19, 39, 59]])
    same = stablegpu.fit_windows(columns["A"], 20, index=list(days), **options)
    assert list(same.to_frame().index) == list(days[[19, 39, 59]])
    assert stablegpu.fit_windows(columns["A"], 20, **options).labels is None
    assert stablegpu.fit_windows(series.reset_index(drop=True), 20, **options).labels is None
    with pytest.raises(ValueError, match="index must have a label for each of 60 values, got 59"):
        stablegpu.fit_windows(columns["A"], 20, index=days[1:], **options)
    with pytest.raises(ValueError, match="of a frame pass one column"):
        stablegpu.fit_windows(pandas.DataFrame(columns), 20)
