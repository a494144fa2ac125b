"""Processes from data: the likelihood by a full covariance matrix, intervals, paths to an end."""

import math

import numpy as np
import pandas
import pytest
from scipy import optimize, stats

import rode


def simulate(rng, gaps, tau=2.0, c=3.0, mean=5.0):
    """Return a series by the exact law of each step."""
    v = c * tau / 2
    values = [rng.normal() * np.sqrt(v)]
    for gap in gaps:
        mu = np.exp(-gap / tau)
        values.append(mu * values[-1] + rng.normal() * np.sqrt(v * (1 - mu * mu)))
    return mean + np.array(values)


def test_the_likelihood_is_that_of_a_normal_vector():
    rng = np.random.default_rng(1)
    gaps = [rng.exponential(1.0, n) for n in (40, 25)]
    series = [simulate(rng, one) for one in gaps]
    times = [np.append(0.0, np.cumsum(one)) for one in gaps]

    def loss(parameters):
        tau, c, mean = np.exp(parameters[0]), np.exp(parameters[1]), parameters[2]
        total = 0.0
        for t, y in zip(times, series, strict=True):
            covariance = c * tau / 2 * np.exp(-np.abs(np.subtract.outer(t, t)) / tau)
            total -= stats.multivariate_normal.logpdf(y, np.full(t.size, mean), covariance)
        return total

    found = optimize.minimize(loss, [0.0, 0.0, 4.0], method="Nelder-Mead", options={"xatol": 1e-7})
    fit = rode.fit_process(series, times=times)
    assert fit.log_likelihood == pytest.approx(-found.fun, abs=1e-6)
    estimates = [np.log(fit.tau), np.log(fit.c), fit.mean]
    np.testing.assert_allclose(estimates, found.x, atol=1e-4)
    step = 1e-3 * np.eye(3)
    information = [
        [(loss(found.x + a + b) - loss(found.x + a - b) - loss(found.x - a + b)
          + loss(found.x - a - b)) / 4e-6 for a in step]
        for b in step
    ]  # fmt: skip
    np.testing.assert_allclose(fit.covariance, np.linalg.inv(information), rtol=1e-3, atol=1e-6)
    low, high = fit.interval("mean", 0.9)
    for end in (low, high):  # where the profile of the likelihood has fallen by chi^2/2
        lost = optimize.minimize(lambda q, end=end: loss([*q, end]), found.x[:2]).fun - found.fun
        assert lost == pytest.approx(stats.chi2.ppf(0.9, 1) / 2, abs=1e-4)
    assert (fit.samples, fit.series, fit.residuals.size) == (67, 2, 65)
    same = rode.fit_process(series, gaps)
    assert same.tau == pytest.approx(fit.tau, rel=1e-6)
    known = rode.fit_process(series, gaps, mean=5.0)
    assert known.mean == 5.0
    assert set(known.standard_errors) == {"tau", "c"}
    assert fit.process == rode.Process(fit.tau, fit.c)
    assert fit.excitation.mean[0] == fit.mean


def test_intervals_cover_the_truth():
    truth, hits, runs = {"tau": 2.0, "c": 3.0, "mean": 5.0}, {}, 20
    for seed in range(runs):
        rng = np.random.default_rng([2, seed])
        gaps = rng.exponential(0.5, 200)
        fit = rode.fit_process(
            simulate(rng, gaps), gaps, start="given" if seed % 2 else "stationary"
        )
        assert abs(fit.residuals.std() - 1.0) < 0.1
        for name, value in truth.items():
            low, high = fit.interval(name)
            hits[name] = hits.get(name, 0) + (low <= value <= high)
    for name, count in hits.items():
        assert stats.binomtest(count, runs, 0.95).pvalue > 1e-3, (name, count)


def test_paths_that_end_where_they_must():
    process, paths, delta, steps = rode.Process(0.8, 2.0), 20_000, 0.25, 6
    t = delta * np.arange(1, steps + 1)
    v = process.c * process.tau / 2

    def covariance(a, b):
        return v * np.exp(-np.abs(np.subtract.outer(a, b)) / process.tau)

    for start in (None, -1.0):
        found = rode.ornstein_uhlenbeck(
            (paths, steps), delta, process=process, start=start, end=2.0, rng=1, device="cpu"
        )
        assert np.all(found[:, -1] == 2.0)
        known, values = ([t[-1]], [2.0]) if start is None else ([0.0, t[-1]], [start, 2.0])
        gain = covariance(t, known) @ np.linalg.inv(covariance(known, known))
        mean = gain @ values
        spread = covariance(t, t) - gain @ covariance(known, t)
        error = np.sqrt(np.diag(spread)[:-1] / paths)
        assert np.all(np.abs(found.mean(axis=0) - mean)[:-1] < 4.5 * error)
        np.testing.assert_allclose(np.cov(found.T), spread, atol=0.04 * v)
    long = rode.ornstein_uhlenbeck(50_000, 1.0, start=0.0, end=3.0, rng=1, device="cpu")
    assert long[-1] == 3.0
    assert np.isfinite(long).all()


def test_columns_of_frames_are_series():
    series = np.cumsum(np.random.default_rng(3).normal(size=(3, 60)), 1) % 4.0
    frame = pandas.DataFrame(series.T, columns=["x", "y", "z"])
    assert rode.fit_process(frame, 0.1).tau == rode.fit_process(series, 0.1).tau


def test_series_at_the_edge_of_the_model_have_infinite_ends():
    # Noise without correlation explains these nearly as well: tau may be 0, and c infinite.
    flat = rode.fit_process([0, 1, 1, 0, 0, 1, 0, -1, 0, 1, 0], 0.1, mean=0.0)
    low, high = flat.interval("tau")
    assert low == 0.0
    assert flat.tau < high < 1.0
    assert flat.interval("c")[1] == math.inf
