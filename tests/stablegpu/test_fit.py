"""McCulloch's estimator: exact on exact quantiles, consistent on samples, clear on bad data."""

import numpy as np
import pytest

import stablegpu
from hetero import Device
from stablegpu import stable
from stablegpu._fit.estimators.mcculloch import estimate as mcculloch_estimate
from stablegpu._fit.estimators.mcculloch.formulas import quantile
from stablegpu._fit.observations import large_samples

PROBABILITIES = np.array(mcculloch_estimate.PROBABILITIES)


def exact_quantiles(alpha, beta):
    """Return the quantiles by bisection in the distribution function."""
    distribution = stable(alpha, beta, parameterization="S0", device="cpu")
    far = np.arcsinh(200.0 ** (1 / alpha) + 10)
    low, high = np.full(5, -far), np.full(5, far)
    for _ in range(50):
        middle = 0.5 * (low + high)
        below = distribution.cdf(np.sinh(middle)) < PROBABILITIES
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.sinh(low)


@pytest.mark.parametrize(
    ("alpha", "beta"),
    [(0.3, 0.2), (0.55, -0.6), (0.87, 0.9), (1.04, 0.3), (1.4, -0.95), (1.93, 0.4)],
)
def test_exact_quantiles_give_the_parameters_back(alpha, beta):
    results = mcculloch_estimate.estimate(3.0 + 2.0 * exact_quantiles(alpha, beta))
    np.testing.assert_allclose(results, (alpha, beta, 3.0, 2.0), atol=4e-4)


@pytest.mark.statistical
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.3), (1.0, -0.5), (1.5, 0.5), (1.8, 0.0)])
@pytest.mark.parametrize("parameterization", ["S0", "S1"])
def test_large_samples(device, alpha, beta, parameterization):
    distribution = stable(alpha, beta, 3.0, 2.0, parameterization=parameterization)
    options = {"method": "mcculloch", "parameterization": parameterization, "device": device}
    result = stablegpu.fit(distribution.rvs(100_000, rng=4), **options)
    assert result.alpha == pytest.approx(alpha, abs=0.03)
    assert result.beta == pytest.approx(beta, abs=0.08)
    s0, true = result.distribution.to("S0"), distribution.to("S0")
    assert s0.loc == pytest.approx(true.loc, abs=0.1)
    assert result.scale == pytest.approx(2.0, rel=0.03)
    assert (result.size, result.message) == (100_000, "")


@pytest.mark.simulator
def test_order_statistics(device):
    data = np.random.default_rng(3).standard_cauchy(301)
    data[:6] = [np.inf, -np.inf, 0.0, -0.0, 5e-324, -1e308]
    data[20:90] = data[19]
    ranks = np.array([0, 1, 2, 40, 150, 299, 300])
    place = Device.parse(device)
    values = data
    if device == "cuda":
        from hetero.cuda.driver import cuda

        values = cuda.to_device(data)
    results = large_samples.loops(place).select(values, ranks)
    np.testing.assert_array_equal(results, np.sort(data)[ranks])


def test_data_on_the_gpu_stay_there(require_cuda):
    cupy = pytest.importorskip("cupy")
    data = stable(1.7, 0.2).rvs(50_000, rng=1)
    here, there = (
        stablegpu.fit(values, method="mcculloch", device=place)
        for values, place in ((data, "cpu"), (cupy.asarray(data), None))
    )
    assert here.params == there.params
    assert there.loglik == pytest.approx(here.loglik, rel=1e-10)


@pytest.mark.parametrize("method", ["ml", "mcculloch", "koutrouvelis", "grid", "grid2"])
def test_sets_that_cannot_be_fitted_cost_nothing(device, method):
    x = stable(1.5, 0.2).rvs(30, rng=1)
    rows = np.stack([np.full(30, 3.0), x, np.append(x[1:], np.nan)])
    mixed, bad = (stablegpu.fit(r, method=method, device=device) for r in (rows, rows[::2]))
    assert np.isnan(bad.alpha).all()
    assert np.isnan([list(bad.stderr.values()), list(mixed.stderr.values())][0]).all()
    assert mixed.status.tolist() == ["constant", "converged", "not finite"]
    assert bad.evaluations.tolist() == [0, 0]
    alone = stablegpu.fit(x, method=method, device=device)
    assert mixed.alpha[1] == pytest.approx(alone.alpha, rel=1e-6)


def test_one_of_the_fits(device):
    x = stable(1.5, 0.2).rvs((3, 50), rng=1)
    x[1] = 0.0
    results = stablegpu.fit(x, fixed={"beta": [0.0, 0.1, 0.2]}, device=device)
    alone = stablegpu.fit(x[2], fixed={"beta": 0.2}, device=device)
    last = results[-1]
    assert (last.beta, last.fixed, last.free) == (0.2, {"beta": 0.2}, 3)
    assert last.alpha == pytest.approx(alone.alpha, rel=1e-7)
    assert last.loglik == pytest.approx(alone.loglik, abs=1e-6)
    assert last.stderr == pytest.approx(alone.stderr, rel=1e-3)
    assert [one.status for one in results] == ["converged", "constant", "converged"]
    assert "data must vary" in results[1].message
    with pytest.raises(IndexError):
        results[3]
    assert results[:2].status.tolist() == ["converged", "constant"]


@pytest.mark.parametrize("seed", range(5))
def test_weighted_quantiles_are_those_of_repeated_data(seed):
    rng = np.random.default_rng(seed)
    x, times = np.sort(rng.normal(size=40)), rng.integers(0, 4, 40).astype(float)
    times[:3] = 0.0
    repeated, none = np.repeat(x, times.astype(int)), np.empty(0)
    for p in (0.001, *rng.uniform(size=20), 0.999):
        weighted = quantile(x, times, 0, 40, times.sum(), p)
        assert weighted == pytest.approx(quantile(repeated, none, 0, repeated.size, 0.0, p))
