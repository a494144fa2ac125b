"""Intervals hold the truth as often as they say, and bad fits are seen."""

import dataclasses
import math
import warnings

import numpy as np
import pytest

import stablegpu
from stablegpu import bootstrap, goodness_of_fit, inference, profile_likelihood, stable
from stablegpu._inference.replicas import estimate_acceleration


@pytest.fixture(scope="module")
def result():
    data = stable(1.5, 0.3, 1.0, 2.0, parameterization="S0").rvs(400, rng=1)
    return stablegpu.fit(data, parameterization="S0", device="cpu")


def test_walds_interval_is_made_of_standard_errors(result):
    low, high = result.interval(0.95)["loc"]
    assert 0.5 * (low + high) == pytest.approx(result.loc)
    assert high - low == pytest.approx(2.0 * 1.959964 * result.stderr["loc"], rel=1e-6)
    intervals = result.interval(0.9)
    assert np.prod(intervals["scale"]) == pytest.approx(result.scale**2)
    low, high = intervals["alpha"]
    assert (2.0 - low) * (2.0 - high) == pytest.approx((2.0 - result.alpha) ** 2)
    assert high - low == pytest.approx(2.0 * 1.644854 * result.stderr["alpha"], rel=0.05)
    low, high = np.arcsin(intervals["beta"])
    assert 0.5 * (low + high) == pytest.approx(math.asin(result.beta))
    width = 2.0 * 1.644854 * result.stderr["beta"] / math.sqrt(1.0 - result.beta**2)
    assert high - low == pytest.approx(width, rel=1e-6)
    with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\)"):
        result.interval(1.0)
    rows = stablegpu.fit([result.data, result.data], parameterization="S0", device="cpu")
    for name, ends in rows.interval(0.9).items():
        np.testing.assert_allclose(ends, np.tile(intervals[name], (2, 1)).T)


def test_intervals_of_s1s_location_follow_its_pole():
    x = stable(1.15, 0.7, scale=1e-200, device="cpu").rvs((200, 500), rng=3)
    low, high = (fits := stablegpu.fit(x, device="cpu")).interval()["loc"]
    may_be_one = fits.alpha - 1.959964 * fits.stderr["alpha"] < 1.0
    assert np.array_equal(np.isinf(low), may_be_one)
    assert np.array_equal(may_be_one, ["a pole" in message for message in fits.message])
    assert (high < 0.0).sum() <= 11  # 2.5 % and 2.7 standard deviations; symmetric ones: 17
    for options in ({"parameterization": "S0"}, {"fixed": {"beta": 0.0}}):
        assert np.isfinite(stablegpu.fit(x[0], device="cpu", **options).interval()["loc"]).all()


@pytest.mark.parametrize("name", ["alpha", "beta", "scale"])
def test_the_profile_is_a_parabola_next_to_the_estimate(result, name):
    profile = profile_likelihood(result, name, 0.95, points=9)
    wald = result.interval(0.95)[name]
    assert profile.high - profile.low == pytest.approx(wald[1] - wald[0], rel=0.25)
    assert profile.drop.min() > -1e-3
    assert profile.drop[profile.points == getattr(result, name)] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(("alpha", "size"), [(2.0, 1000), (1.97, 1000), (1.9, 25)])
def test_the_profile_ends_where_the_likelihood_has_fallen(alpha, size):
    """Next to alpha = 2 the profile is far from a parabola, and may not reach the limit at all."""
    options = {"parameterization": "S0", "device": "cpu"}
    x = stable(alpha, 0.0, parameterization="S0").rvs(size, rng=4)
    result = stablegpu.fit(x, **options)
    profile = profile_likelihood(result, "alpha", 0.95, points=9)
    ends = [profile.low, profile.high]
    drop = 2.0 * (result.loglik - stablegpu.fit([x, x], fixed={"alpha": ends}, **options).loglik)
    limit = pytest.approx(1.959964**2, abs=0.15)
    assert drop[0] == limit
    assert drop[1] == limit or (profile.high == 2.0 and drop[1] < 3.85)
    assert (np.diff(profile.points) > 0.0).all()


def test_weights_are_as_many_observations():
    x = stable(1.5, 0.3, parameterization="S0").rvs(150, rng=1)
    times = np.arange(150) % 4
    weighted = stablegpu.fit(x, weights=times, parameterization="S0", device="cpu")
    repeated = stablegpu.fit(np.repeat(x, times), parameterization="S0", device="cpu")

    def everything(result):
        simulated = bootstrap(result, 10, rng=3)
        yield from simulated.intervals.values()
        yield profile_likelihood(result, "scale", points=5).interval
        test = goodness_of_fit(result, 20, rng=3)
        yield from (test.kolmogorov_smirnov, test.anderson_darling)
        yield simulated.replicas.size

    for results, true in zip(everything(weighted), everything(repeated), strict=True):
        np.testing.assert_allclose(results, true, rtol=1e-5)
    for results, true in zip(weighted.plot().axes[1:], repeated.plot().axes[1:], strict=True):
        (results, true) = (axes.lines[0].get_xydata() for axes in (results, true))
        middles = true[np.cumsum(times[times > 0][np.argsort(x[times > 0])]) - 1, 1]
        assert np.abs(results[:, 1] - middles).max() < 0.01  # about slightly other medians
    for weights, words in (
        (times / times.sum(), "weights must be whole numbers"),
        (times * 1e13, "observations, too many for samples"),
    ):
        with pytest.raises(ValueError, match=words):
            bootstrap(stablegpu.fit(x, weights=weights, device="cpu"))


def test_what_was_fixed_stays_fixed(result):
    held = stablegpu.fit(result.data, parameterization="S0", fixed={"beta": 0.0}, device="cpu")
    assert (held.fixed, held.free) == ({"beta": 0.0}, 3)
    results = bootstrap(held, 20, rng=2)
    assert (results.replicas.beta == 0.0).all()
    assert results.intervals["beta"] == (0.0, 0.0)
    assert np.ptp(results.replicas.alpha) > 0.0
    profile = profile_likelihood(held, "alpha", points=5)
    assert profile.drop[profile.points == held.alpha] == pytest.approx(0.0, abs=1e-3)
    with pytest.raises(ValueError, match="was fixed"):
        profile_likelihood(held, "beta")


@pytest.mark.parametrize("beta", [-0.5, 1.0])
def test_a_wrong_fixed_parameter_is_seen(beta):
    """Simulated samples are fitted with it fixed too: their statistics are those of such fits."""
    skewed = stable(1.3, 0.9, parameterization="S0").rvs(600, rng=1)
    data = skewed if beta < 0.0 else np.random.default_rng(2).lognormal(sigma=1.0, size=300)
    held = stablegpu.fit(data, parameterization="S0", fixed={"beta": beta}, device="cpu")
    test = goodness_of_fit(held, 99, rng=3)
    assert (test.replicas, test.failed) == (99, 0)
    assert test.anderson_darling.pvalue < 0.05
    quick = stablegpu.fit(data, method="mcculloch", parameterization="S0", device="cpu")
    assert bootstrap(quick, 20, rng=2).replicas.method == "mcculloch"


def test_accelerations_follow_slopes_and_skewness():
    x = np.random.default_rng(1).poisson(50.0, 200_000)  # skewness 1/sqrt(50)
    expected = (1.0 / 2.0 - 1.0 / 12.0) / math.sqrt(50.0)
    acceleration = estimate_acceleration(x, np.where(x < 90, np.sqrt(x), np.nan))
    assert acceleration == pytest.approx(expected, rel=0.02)
    assert estimate_acceleration(x, np.full(x.size, np.nan)) == 0.0


@pytest.mark.statistical
def test_simulated_intervals_are_near_walds(result):
    results = bootstrap(result, 200, rng=2)
    assert results.replicas.converged.all()
    for name, (low, high) in result.interval().items():
        ends = results.intervals[name]
        assert ends[1] - ends[0] == pytest.approx(high - low, rel=0.35)


@pytest.mark.statistical
def test_goodness_tells_fits_from_misfits(result):
    good = goodness_of_fit(result, 60, rng=3)
    assert good.kolmogorov_smirnov.pvalue > 0.05
    assert good.anderson_darling.pvalue > 0.05
    x = np.random.default_rng(4).normal(size=400)
    x[:200] += 8.0  # two humps
    bad = goodness_of_fit(stablegpu.fit(x, device="cpu"), 60, rng=3)
    assert bad.kolmogorov_smirnov.pvalue < 0.05
    assert bad.anderson_darling.pvalue < 0.05


def fail_some(monkeypatch, module, share):
    """Let the last fits of each batch end at nonsense, without a maximum."""

    def fit_badly(data, **options):
        fits = stablegpu.fit(data, **options)
        bad = np.arange(len(fits)) >= (1.0 - share) * len(fits)
        status = np.where(bad, "exhausted", fits.status)
        alpha, scale = np.where(bad, 0.1, fits.alpha), np.where(bad, 1e9, fits.scale)
        loglik = np.where(bad, 1e9, fits.loglik)
        return dataclasses.replace(fits, status=status, alpha=alpha, scale=scale, loglik=loglik)

    monkeypatch.setattr(module, "fit", fit_badly)


def test_samples_whose_fit_failed_are_counted_and_left_out(result, monkeypatch):
    fail_some(monkeypatch, inference, 0.1)
    with pytest.warns(UserWarning, match="2 of 20 samples could not be fitted"):
        simulated = bootstrap(result, 20, rng=2)
    assert simulated.failed == 2
    assert "2 of them could not be fitted" in simulated._repr_html_()
    good = simulated.replicas.loc[:18]
    expected = 2.0 * result.loc - np.quantile(good, [0.975, 0.025], method="weibull")
    assert simulated.intervals["loc"] == pytest.approx(expected)
    with pytest.warns(UserWarning, match="2 of 20 samples could not be fitted"):
        test = goodness_of_fit(result, 20, rng=2)
    assert (test.replicas, test.failed) == (18, 2)
    assert "2 more could not be fitted" in test._repr_html_()
    assert (19.0 * test.kolmogorov_smirnov.pvalue) % 1.0 == pytest.approx(0.0, abs=1e-9)


def test_too_many_failures_are_refused(result, monkeypatch):
    fail_some(monkeypatch, inference, 0.2)
    for function in (bootstrap, goodness_of_fit):
        with pytest.raises(ValueError, match=r"4 of 20 samples could not be fitted, more than 10%"):
            function(result, 20, rng=2)
    fail_some(monkeypatch, inference, 0.3)
    with pytest.raises(ValueError, match="points of the profile could not be fitted"):
        profile_likelihood(result, "alpha", points=9)


def test_a_fit_that_failed_has_no_intervals(result):
    failed = dataclasses.replace(result, status="exhausted")
    for call in (
        lambda: bootstrap(failed),
        lambda: goodness_of_fit(failed),
        lambda: profile_likelihood(failed, "alpha"),
        lambda: failed.value_at_risk(0.99, method="profile"),
    ):
        with pytest.raises(ValueError, match="a fit that converged"):
            call()


def test_rounded_data_are_named(result):
    def warnings_of(data):
        fit = stablegpu.fit(data, device="cpu")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            goodness_of_fit(fit, 5, rng=1)
        return [str(one.message) for one in caught]

    rounded = np.round(result.data, 1)
    values, counts = np.unique(rounded, return_counts=True)
    (message,) = warnings_of(rounded)
    assert f"{counts.max()} of 400 observations are equal" in message
    assert f"there are {values.size} different values" in message
    (message,) = warnings_of(np.where(np.arange(400) < 40, 0.0, result.data))
    assert "40 of 400" in message
    assert warnings_of(result.data) == []
    assert warnings_of(np.r_[result.data, result.data[:5]]) == []  # pairs do not matter
    assert warnings_of(0.01 * result.scale * np.round(100.0 * result.data / result.scale)) == []


def test_comparisons_and_kupiecs_test_of_results():
    x = np.random.default_rng(1).standard_t(3, 200)
    result = stablegpu.fit(x)
    with pytest.raises(ValueError, match="method='ml'"):
        stablegpu.fit(x, method="mcculloch").compare()
    with pytest.raises(KeyError, match="'Student t'"):
        result.compare()["t"]
    risk = result.value_at_risk(0.95, method="delta")
    assert stablegpu.kupiec_test(x, risk, 0.95) == stablegpu.kupiec_test(x, risk.value, 0.95)
    other = result.expected_shortfall(0.95, method="delta")
    for wrong in ((risk, 0.99, "returns"), (risk, 0.95, "losses"), (other, 0.95, "returns")):
        with pytest.raises(ValueError, match="must be an estimate with"):
            stablegpu.kupiec_test(x, *wrong[:2], of=wrong[2])
    huge = stablegpu.fit(np.append(x, 1e200)).compare()  # its square is infinite
    assert huge.best == "stable"
