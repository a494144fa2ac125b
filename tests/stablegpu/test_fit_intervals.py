"""Intervals hold the truth as often as they say, and bad fits are seen."""

import numpy as np
import pytest

import stablegpu
from stablegpu import inference, stable


@pytest.fixture(scope="module")
def result():
    data = stable(1.5, 0.3, 1.0, 2.0, parameterization="S0").rvs(400, random_state=1)
    return stablegpu.fit(data, parameterization="S0", device="cpu")


def test_walds_interval_is_made_of_standard_errors(result):
    low, high = result.interval(0.95)["loc"]
    assert 0.5 * (low + high) == pytest.approx(result.loc)
    assert high - low == pytest.approx(2.0 * 1.959964 * result.stderr["loc"], rel=1e-6)
    low, high = result.interval(0.9)["scale"]
    assert low * high == pytest.approx(result.scale**2)
    low, high = result.interval(0.9)["alpha"]
    assert (2.0 - low) * (2.0 - high) == pytest.approx((2.0 - result.alpha) ** 2)
    assert high - low == pytest.approx(2.0 * 1.644854 * result.stderr["alpha"], rel=0.05)
    with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\)"):
        result.interval(1.0)
    rows = stablegpu.fit([result.data, result.data], parameterization="S0", device="cpu")
    for name, ends in rows.interval(0.9).items():
        np.testing.assert_allclose(ends, np.tile(result.interval(0.9)[name], (2, 1)).T)


@pytest.mark.parametrize("name", ["alpha", "beta", "scale"])
def test_the_profile_is_a_parabola_next_to_the_estimate(result, name):
    (low, high), places, drop = inference.profile(result, name, 0.95, points=9)
    wald = result.interval(0.95)[name]
    assert high - low == pytest.approx(wald[1] - wald[0], rel=0.25)
    assert drop.min() > -1e-3
    assert drop[places == getattr(result, name)] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(("alpha", "size"), [(2.0, 1000), (1.97, 1000), (1.9, 25)])
def test_the_profile_ends_where_the_likelihood_has_fallen(alpha, size):
    """Next to alpha = 2 the profile is far from a parabola, and may not reach the limit at all."""
    x = stable(alpha, 0.0, parameterization="S0").rvs(size, random_state=4)
    result = stablegpu.fit(x, parameterization="S0", device="cpu")
    (low, high), places, _ = inference.profile(result, "alpha", 0.95, points=9)
    held = stablegpu.fit(
        np.tile(x, (2, 1)), fixed={"alpha": [low, high]}, parameterization="S0", device="cpu"
    )
    drop = 2.0 * (result.loglik - held.loglik)
    assert drop[0] == pytest.approx(1.959964**2, abs=0.15)
    assert drop[1] == pytest.approx(1.959964**2, abs=0.15) or (high == 2.0 and drop[1] < 3.85)
    assert (np.diff(places) > 0.0).all()


def test_weights_are_as_many_observations():
    x = stable(1.5, 0.3, parameterization="S0").rvs(150, random_state=1)
    times = np.arange(150) % 4
    weighted = stablegpu.fit(x, weights=times, parameterization="S0", device="cpu")
    repeated = stablegpu.fit(np.repeat(x, times), parameterization="S0", device="cpu")

    def everything(result):
        ends, fits = inference.bootstrap(result, 10, random_state=3)
        yield from ends.values()
        yield inference.profile(result, "scale", points=5)[0]
        yield from inference.goodness(result, 20, random_state=3).values()
        yield fits.sizes

    for results, true in zip(everything(weighted), everything(repeated), strict=True):
        np.testing.assert_allclose(results, true, rtol=1e-5)
    for results, true in zip(weighted.plot().axes[1:], repeated.plot().axes[1:], strict=True):
        (results, true) = (axes.lines[0].get_xydata() for axes in (results, true))
        middles = true[np.cumsum(times[times > 0][np.argsort(x[times > 0])]) - 1, 1]
        np.testing.assert_allclose(
            results[:, 1], middles, atol=0.01
        )  # about slightly other medians
    shares = stablegpu.fit(x, weights=times / times.sum(), device="cpu")
    for function in (inference.bootstrap, inference.goodness):
        with pytest.raises(ValueError, match="weights must be whole numbers"):
            function(shares)
    many = stablegpu.fit(x, weights=times * 1e14, device="cpu")
    for function in (inference.bootstrap, inference.goodness):
        with pytest.raises(ValueError, match="observations, too many for samples"):
            function(many)


def test_samples_may_come_in_parts(result, monkeypatch):
    monkeypatch.setattr(inference, "_MOST", 7 * result.size)
    _, fits = inference.bootstrap(result, 20, random_state=2)
    assert np.unique(fits.alpha).size == 20
    results = inference.goodness(result, 19, random_state=2)
    assert 20.0 * results["ks"][1] == pytest.approx(round(20.0 * results["ks"][1]))


def test_what_intervals_need(result):
    rows = stablegpu.fit([result.data, result.data], device="cpu")
    for function in (inference.bootstrap, inference.goodness):
        with pytest.raises(TypeError, match="fit that data set alone"):
            function(rows[0])
        with pytest.raises(TypeError, match="replicas must be an integer"):
            function(result, 2.5)
        with pytest.raises(ValueError, match="replicas must be an integer >= 1"):
            function(result, 0)
    with pytest.raises(TypeError, match="fit that data set alone"):
        inference.profile(rows, "alpha")
    with pytest.raises(TypeError, match="fit that data set alone"):
        rows[1].plot()
    with pytest.raises(ValueError, match="points must be an integer >= 2"):
        inference.profile(result, "alpha", points=1)
    quick = stablegpu.fit(result.data, method="mcculloch", device="cpu")
    with pytest.raises(ValueError, match="method='ml'"):
        inference.profile(quick, "alpha")


def test_what_was_fixed_stays_fixed(result):
    held = stablegpu.fit(result.data, parameterization="S0", fixed={"beta": 0.0}, device="cpu")
    assert (held.fixed, held.free) == ({"beta": 0.0}, 3)
    results, fits = inference.bootstrap(held, 20, random_state=2)
    assert (fits.beta == 0.0).all()
    assert results["beta"] == (0.0, 0.0)
    assert np.ptp(fits.alpha) > 0.0
    _, places, drop = inference.profile(held, "alpha", points=5)
    assert drop[places == held.alpha] == pytest.approx(0.0, abs=1e-3)
    with pytest.raises(ValueError, match="was fixed"):
        inference.profile(held, "beta")


def test_a_wrong_fixed_parameter_is_seen():
    """Simulated samples are fitted with it fixed too: their statistics are those of such fits."""
    data = stable(1.3, 0.9, parameterization="S0").rvs(600, random_state=1)
    held = stablegpu.fit(data, parameterization="S0", fixed={"beta": -0.5}, device="cpu")
    assert inference.goodness(held, 60, random_state=3)["ad"][1] < 0.05
    quick = stablegpu.fit(data, method="mcculloch", parameterization="S0", device="cpu")
    assert inference.bootstrap(quick, 20, random_state=2)[1].method == "mcculloch"


@pytest.mark.statistical
def test_simulated_intervals_are_near_walds(result):
    results, fits = inference.bootstrap(result, 200, random_state=2)
    assert fits.converged.all()
    for name, (low, high) in result.interval().items():
        assert results[name][1] - results[name][0] == pytest.approx(high - low, rel=0.35)


@pytest.mark.statistical
def test_goodness_tells_fits_from_misfits(result):
    good = inference.goodness(result, 60, random_state=3)
    assert good["ks"][1] > 0.05
    assert good["ad"][1] > 0.05
    x = np.random.default_rng(4).normal(size=400)
    x[:200] += 8.0  # two humps
    bad = inference.goodness(stablegpu.fit(x, device="cpu"), 60, random_state=3)
    assert bad["ks"][1] < 0.05
    assert bad["ad"][1] < 0.05


def test_the_plot_shows_the_data_on_the_diagonals(result, tmp_path):
    figure = result.plot()
    density, quantiles, probabilities = figure.axes
    assert density.get_yscale() == "log"
    for axes, off in ((quantiles, 0.5), (probabilities, 0.1)):
        x, y = axes.lines[0].get_data()
        assert x.size == result.size
        assert np.median(np.abs(x - y)) < off
    figure.savefig(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 5000
