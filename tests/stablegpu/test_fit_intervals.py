"""Intervals hold the truth as often as they say, and bad fits are seen."""

import numpy as np
import pytest

import stablegpu
from stablegpu import fit_intervals, stable


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
    (low, high), places, drop = fit_intervals.profile(result, name, 0.95, points=9)
    wald = result.interval(0.95)[name]
    assert high - low == pytest.approx(wald[1] - wald[0], rel=0.25)
    assert drop.min() > -1e-3
    assert drop[places == getattr(result, name)] == pytest.approx(0.0, abs=1e-3)


def test_what_was_fixed_stays_fixed(result):
    held = stablegpu.fit(result.data, parameterization="S0", fixed={"beta": 0.0}, device="cpu")
    assert (held.fixed, held.free) == ({"beta": 0.0}, 3)
    found, fits = fit_intervals.bootstrap(held, 20, random_state=2)
    assert (fits.beta == 0.0).all()
    assert found["beta"] == (0.0, 0.0)
    assert np.ptp(fits.alpha) > 0.0
    _, places, drop = fit_intervals.profile(held, "alpha", points=5)
    assert drop[places == held.alpha] == pytest.approx(0.0, abs=1e-3)
    with pytest.raises(ValueError, match="was fixed"):
        fit_intervals.profile(held, "beta")


def test_a_wrong_fixed_parameter_is_seen():
    """Simulated samples are fitted with it fixed too: their statistics are those of such fits."""
    data = stable(1.3, 0.9, parameterization="S0").rvs(600, random_state=1)
    held = stablegpu.fit(data, parameterization="S0", fixed={"beta": -0.5}, device="cpu")
    assert fit_intervals.goodness(held, 60, random_state=3)["ad"][1] < 0.05
    quick = stablegpu.fit(data, method="mcculloch", parameterization="S0", device="cpu")
    assert fit_intervals.bootstrap(quick, 20, random_state=2)[1].method == "mcculloch"


@pytest.mark.statistical
def test_simulated_intervals_are_near_walds(result):
    found, fits = fit_intervals.bootstrap(result, 200, random_state=2)
    assert fits.converged.all()
    for name, (low, high) in result.interval().items():
        assert found[name][1] - found[name][0] == pytest.approx(high - low, rel=0.35)


@pytest.mark.statistical
def test_goodness_tells_fits_from_misfits(result):
    good = fit_intervals.goodness(result, 60, random_state=3)
    assert good["ks"][1] > 0.05
    assert good["ad"][1] > 0.05
    x = np.random.default_rng(4).normal(size=400)
    x[:200] += 8.0  # two humps
    bad = fit_intervals.goodness(stablegpu.fit(x, device="cpu"), 60, random_state=3)
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
