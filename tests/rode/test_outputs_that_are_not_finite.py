"""NaN and infinity at any saved time show in every reduction and in the status."""

import math

import numpy as np
import pytest

import rode

VALUES = np.array([[5.0, 5.0, 5.0, 5.0], [2.0, math.nan, math.inf, 2.0], [1.0, 1.0, 1.0, -7.0]])
"""Outputs of four paths at times 0, 1 and 2."""

SETTINGS = {"t_span": (0, 2), "h": 1.0, "paths": 4, "rng": 1}
LEVELS = (0.0, 0.4, 1.0)


@pytest.fixture(scope="module")
def problem():
    """Return a problem that stays where it is and whose outputs are `VALUES`."""

    def no_drift(x, p):
        return (x[0] - x[0],)

    def no_noise(p):
        return (p[0] - p[0],)

    def show(t, x, o, p):
        # Parameters must be finite, so what is not comes from an infinite difference.
        infinity = type(p[0])(math.inf)
        middle = p[1]
        if p[3] > 1.5:
            middle = infinity
        elif p[3] > 0.5:
            middle = infinity - infinity
        return ((p[0] if t < 0.5 else middle if t < 1.5 else p[2]),)

    kinds = np.array([0.0, 1.0, 2.0, 0.0])
    parameters = (*np.where(np.isfinite(VALUES), VALUES, 0.0), kinds)
    return rode.additive(no_drift, no_noise, dimension=1, observe=show, parameters=parameters)


def solve(problem, device, reduction, **changes):
    return rode.solve(problem, "euler", reduction=reduction, device=device, **(SETTINGS | changes))


@pytest.mark.parametrize("dtype", [pytest.param("float32", marks=pytest.mark.slow), "float64"])
def test_peaks_keep_a_nan_as_numpy_does(problem, device, dtype):
    result = solve(problem, device, "peaks", dtype=dtype)
    np.testing.assert_array_equal(result.peaks, np.max(np.abs(VALUES), axis=0)[None])
    assert (result.status, "2 of 4 paths" in result.message) == ("diverged", True)


def test_every_reduction_shows_what_is_not_finite(problem, device):
    requested = ("paths", "moments", rode.Quantiles(*LEVELS))
    result = solve(problem, device, requested)
    np.testing.assert_array_equal(result.paths[:, 0], VALUES)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(result.mean[:, 0], VALUES.mean(axis=1))
        np.testing.assert_array_equal(result.variance[:, 0], VALUES.var(axis=1, ddof=1))
        expected = np.quantile(VALUES, LEVELS, axis=1)
    np.testing.assert_allclose(result.quantiles[:, :, 0], expected, rtol=1e-14)
    assert result.status == "diverged"


@pytest.mark.parametrize("reduction", ["paths", "moments", rode.Quantiles(0.5)])
def test_status_tells_of_saved_times_alone(problem, device, reduction):
    assert solve(problem, device, reduction).status == "diverged"
    result = solve(problem, device, reduction, save_every=2)  # times 0 and 2
    assert (result.status, result.message) == ("success", "all paths are finite")
    assert solve(problem, device, ("peaks", reduction), save_every=2).status == "diverged"


def test_parts_and_windows_of_time_forget_nothing(problem, monkeypatch):
    result = rode.solve(problem, "euler", parts=2, device="cpu", reduction="peaks", **SETTINGS)
    assert result.status == "diverged"
    assert result == rode.solve(problem, "euler", device="cpu", reduction="peaks", **SETTINGS)
    assert np.isnan(result.peaks[0, 1])
    monkeypatch.setattr("rode._solver.memory_forecast.BUFFER", 8)
    result = solve(problem, "cpu", "moments", h=0.5)
    assert result.status == "diverged"
    assert "2 of 4 paths" in result.message
