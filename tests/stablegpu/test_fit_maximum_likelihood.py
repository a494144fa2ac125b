"""Maximum likelihood: the likelihood is exact, its maximum is found, its errors are those seen."""

import numpy as np
import pytest

import stablegpu
from stablegpu import stable
from stablegpu._fit import batch

PARAMETERS = ("alpha", "beta", "loc", "scale")

LAWS = [
    *((1.5, 0.5), (1.11, -0.8), (0.89, 0.9), (0.5, 0.7), (0.2, 0.2), (1.9, 0.0), (1.999, 0.9)),
    *((2.0, 0.0), (1.7, 1.0), (0.6, 1.0), (1.3, -0.99999), (1.0, 0.5), (0.95, 0.0), (1.05, -0.9)),
]

SLOW_LAWS = ((0.5, 0.5), (1.0, 0.0), (1.8, 0.2))


def everything_fixed(distribution):
    return {name: getattr(distribution, name) for name in PARAMETERS}


def sample(alpha, beta, size, seed):
    distribution = stable(alpha, beta, 0.5, 2.0, parameterization="S0", device="cpu")
    return distribution, distribution.rvs(size, rng=seed)


@pytest.mark.parametrize(("alpha", "beta"), LAWS)
def test_the_likelihood_is_that_of_the_exact_density(device, alpha, beta):
    distribution, x = sample(alpha, beta, 400, 3)
    rows = np.stack([x, np.linspace(-30.0, 30.0, 400)])
    if abs(beta) == 1.0:
        rows[1] = np.abs(rows[1]) * beta + distribution.loc
    options = {"fixed": everything_fixed(distribution), "parameterization": "S0", "device": device}
    results = stablegpu.fit(rows, **options)
    exact = distribution.logpdf(rows).sum(axis=1)
    near_one = abs(alpha - 1.0) < 0.1
    np.testing.assert_allclose(results.loglik, exact, rtol=0, atol=1e-4 if near_one else 1e-7)
    assert near_one or results.loglik[0] == pytest.approx(exact[0], abs=2e-8)


@pytest.mark.parametrize(("alpha", "beta"), [(0.98, 0.9999), (1.04, -0.99), (0.93, -0.97)])
def test_bends_of_thin_tails_next_to_one(device, alpha, beta):
    """There log pdf itself cannot be interpolated: it would be wrong by 0.1 a point."""
    distribution, _ = sample(alpha, beta, 5, 3)
    rows = np.linspace(-30.0, 30.0, 400) + np.array([[0.0], [0.07]])
    options = {"fixed": everything_fixed(distribution), "parameterization": "S0", "device": device}
    exact = distribution.logpdf(rows).sum(axis=1)
    np.testing.assert_allclose(stablegpu.fit(rows, **options).loglik, exact, rtol=0, atol=0.02)


def no_better_nearby(result, x, tries, rng):
    """Largest gain of the exact log-likelihood at random places, from near to some errors away."""
    error = np.nan_to_num(list(result.stderr.values()), nan=0.01)
    here = np.array([result.alpha, result.beta, result.loc, result.scale])
    best = 0.0
    for _ in range(tries):
        place = here + rng.normal(size=4) * error * 10.0 ** rng.uniform(-3.0, 0.5)
        place[0] = np.clip(place[0], 0.1, 2.0)
        place[1] = np.clip(place[1], -1.0, 1.0)
        place[3] = max(place[3], 1e-3 * here[3])
        distribution = stable(*place, parameterization="S0", device="cpu")
        best = max(best, distribution.logpdf(x).sum() - result.loglik)
    return best


def problems(count, seed):
    rng = np.random.default_rng(seed)
    for k in range(count):
        yield rng.uniform(0.2, 2.0), rng.uniform(-1.0, 1.0), k


@pytest.mark.statistical
@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_no_other_law_is_more_likely(device, count):
    rng = np.random.default_rng(8)
    for alpha, beta, seed in problems(count, 7):
        distribution, x = sample(alpha, beta, 1000, seed)
        result = stablegpu.fit(x, parameterization="S0", device=device)
        assert result.status in ("converged", "stuck")
        assert no_better_nearby(result, x, 40, rng) < 1e-3, (alpha, beta)
        assert distribution.logpdf(x).sum() < result.loglik + 1e-6
        quick = stablegpu.fit(x, method="mcculloch", parameterization="S0", device="cpu")
        assert quick.loglik < result.loglik + 1e-6


@pytest.mark.parametrize(
    ("alpha", "beta", "seed"), [(0.3021938523072502, 0.9907233188579938, 172), (0.21, -0.89, 2003)]
)
def test_maxima_between_the_data_are_found(device, alpha, beta, seed):
    """Next to |beta| = 1 the likelihood has one in many a gap; an ascent alone misses the best."""
    _, x = sample(alpha, beta, 1000, seed)
    options = {"parameterization": "S1", "device": device}
    result = stablegpu.fit(np.stack([x, -x]), **options)
    grid = stablegpu.fit(x, method="grid", **options)
    assert grid.loglik < result.loglik[0] + 1e-3
    assert result.loglik[1] == pytest.approx(result.loglik[0], abs=1e-3)
    ordered = np.sort(x)
    middles = 0.5 * (ordered[1:] + ordered[:-1])
    at = np.searchsorted(ordered, result.loc[0])
    held = {name: getattr(result, name)[0] for name in PARAMETERS}
    for loc in middles[max(at - 5, 0) : at + 5]:
        there = stablegpu.fit(x, fixed=held | {"loc": loc}, **options)
        assert there.loglik < result.loglik[0] + 1e-6


@pytest.mark.parametrize("alpha", [0.35, 1.4])
def test_one_of_many_is_fitted_as_alone(device, alpha):
    """Many sets are fitted by a block of threads each, few by teams of blocks."""
    _, x = sample(alpha, 0.4, 150, 15)
    alone, many = (stablegpu.fit(rows, device=device) for rows in (x, np.tile(x, (150, 1))))
    np.testing.assert_allclose(many.alpha, alone.alpha, rtol=1e-7)
    np.testing.assert_allclose(many.stderr["scale"], alone.stderr["scale"], rtol=1e-5)


@pytest.mark.parametrize(("alpha", "beta"), [(1.6, 0.3), (0.7, -0.5), (1.02, 0.2)])
def test_standard_errors_are_those_of_the_exact_likelihood(alpha, beta):
    _, x = sample(alpha, beta, 400, 5)
    result = stablegpu.fit(x, parameterization="S0", device="cpu")
    here = np.array([getattr(result, name) for name in PARAMETERS])
    steps = 0.05 * np.array(list(result.stderr.values()))

    def gradient(place):
        results = stablegpu.dlogpdf(x, *place, parameterization="S0", device="cpu")
        return np.array([getattr(results, name).sum() for name in PARAMETERS])

    information = np.array(
        [(gradient(here - h) - gradient(here + h)) / (2.0 * h.sum()) for h in np.diag(steps)]
    )
    expected = np.linalg.inv(0.5 * (information + information.T))
    errors = np.sqrt(np.diag(expected))
    assert np.abs((result.covariance - expected) / np.outer(errors, errors)).max() < 0.005


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("alpha", "beta"),
    [(1.5, -0.5), *(pytest.param(*law, marks=pytest.mark.slow) for law in SLOW_LAWS)],
)
def test_estimates_scatter_as_their_standard_errors_say(device, alpha, beta):
    distribution = stable(alpha, beta, parameterization="S0")
    replicas = 400 if device == "cpu" else 2000
    x = distribution.rvs((replicas, 1000), rng=11)
    results = stablegpu.fit(x, parameterization="S0", device=device)
    assert results.converged.all()
    bound = np.diag(np.linalg.inv(1000 * stablegpu.fisher_information(alpha, beta)))
    for name, true, least in zip(PARAMETERS, (alpha, beta, 0.0, 1.0), bound, strict=True):
        values, error = getattr(results, name), results.stderr[name]
        sound = np.isfinite(error)
        assert sound.mean() > 0.98
        scatter = values[sound].std() / np.sqrt(np.mean(error[sound] ** 2))
        assert scatter == pytest.approx(1.0, abs=0.1 if replicas == 2000 else 0.15)
        covered = (np.abs(values - true) < 1.96 * error)[sound].mean()
        assert covered == pytest.approx(0.95, abs=0.02 if replicas == 2000 else 0.035)
        assert values.var() / least == pytest.approx(1.0, abs=0.15 if replicas == 2000 else 0.3)


def test_several_sets_are_fitted_as_each_alone(device):
    """Windows are slices of a series."""
    parts = [sample(a, b, n, 2)[1] for a, b, n in ((1.4, 0.2, 300), (0.6, -0.3, 77), (1.0, 0, 5))]
    ragged = stablegpu.fit(parts, device=device)
    for k, part in enumerate(parts):
        alone = stablegpu.fit(part, device=device)
        assert ragged.alpha[k] == pytest.approx(alone.alpha, rel=1e-9)
        assert ragged.loc[k] == pytest.approx(alone.loc, rel=1e-9, abs=1e-9)
        assert ragged.loglik[k] == pytest.approx(alone.loglik, abs=1e-3)
    assert list(ragged.size) == [300, 77, 5]
    assert len(ragged) == 3
    _, x = sample(1.6, 0.1, 500, 4)
    for method in ("ml", "koutrouvelis"):
        options = {"method": method, "device": device}
        rolled = stablegpu.fit_windows(x, 200, step=150, **options)
        rows = stablegpu.fit([x[k : k + 200] for k in (0, 150, 300)], **options)
        np.testing.assert_allclose(rolled.alpha, rows.alpha, rtol=1e-9)
        np.testing.assert_allclose(rolled.scale, rows.scale, rtol=1e-9)


def test_moved_and_scaled_data_move_and_scale_the_law(device):
    _, x = sample(1.3, 0.4, 500, 6)
    rows = np.stack([x, 1e6 + 1e3 * x, -1e-200 * x])
    results = stablegpu.fit(rows, parameterization="S0", device=device)
    np.testing.assert_allclose(results.alpha, results.alpha[0], rtol=1e-6)
    np.testing.assert_allclose(results.beta, results.beta[0] * np.array([1, 1, -1]), rtol=1e-6)
    np.testing.assert_allclose(results.scale / [1, 1e3, 1e-200], results.scale[0], rtol=1e-6)
    np.testing.assert_allclose(results.loc[1], 1e6 + 1e3 * results.loc[0], rtol=1e-9)
    for name in ("loc", "scale"):  # the square of 1e-200 is 0
        errors = results.stderr[name] / [1, 1e3, 1e-200]
        np.testing.assert_allclose(errors, errors[0], rtol=1e-3)


def test_weights_count_observations(device):
    """Values without a weight are left out, even NaN; equal values are ties."""
    _, x = sample(1.5, 0.3, 300, 9)
    times = np.arange(300) % 4
    times[7] = 20
    weighted = stablegpu.fit(x, weights=times, device=device)
    repeated = stablegpu.fit(np.repeat(x, times), device=device)
    assert weighted.ties == repeated.ties == 20
    assert weighted.alpha == pytest.approx(repeated.alpha, rel=1e-6)
    assert weighted.loglik == pytest.approx(repeated.loglik, rel=1e-9)
    assert weighted.stderr["beta"] == pytest.approx(repeated.stderr["beta"], rel=1e-3)
    holes = np.insert(x, [0, 100, 300], np.nan)
    results = stablegpu.fit([holes, x], weights=[~np.isnan(holes), np.ones(300)], device=device)
    np.testing.assert_allclose(results.alpha, results.alpha[1], rtol=1e-9)
    assert results.size.tolist() == [300, 300]
    assert results[0].status == "converged"


@pytest.mark.parametrize("extra", [0.0, 1e-9])
def test_weights_of_a_histogram_that_is_wider_than_the_distribution(device, extra):
    """Where most of more than 8192 values count next to nothing, bins follow what counts."""
    _, x = sample(1.6, 0.2, 20_000, 3)
    edges = np.linspace(-300.0, 1e5, 100_001)
    counts, _ = np.histogram(x, edges)
    places = 0.5 * (edges[1:] + edges[:-1])
    options = {"parameterization": "S0", "device": device}
    weighted = stablegpu.fit(places, weights=counts + extra, **options)
    repeated = stablegpu.fit(np.repeat(places, counts), **options)
    for name in PARAMETERS:
        off = getattr(weighted, name) - getattr(repeated, name)
        assert abs(off) < 0.01 * repeated.stderr[name]
        assert weighted.stderr[name] == pytest.approx(repeated.stderr[name], rel=1e-3)


@pytest.mark.parametrize("huge", [-1e161, 1e307])
def test_a_huge_observation_among_many(device, huge):
    """Bins had squares of observations, which overflow; one datum moves the fit by little."""
    x = np.random.default_rng(7).standard_cauchy(9000)
    expected = stablegpu.fit(x, device=device)
    weights = np.ones(9000)
    x[17] = huge
    for options in ({}, {"weights": weights}):
        result = stablegpu.fit(x, device=device, **options)
        assert result.status == "converged"
        assert abs(result.alpha - expected.alpha) < 0.1
        assert result.loglik == pytest.approx(result.distribution.logpdf(x).sum(), rel=1e-9)
    assert stablegpu.fit(1e-300 * x, device=device).alpha == pytest.approx(result.alpha, abs=1e-4)


@pytest.mark.parametrize("heavy", [60, 20_000])
def test_half_of_the_weight_in_one_place_is_no_scale(device, heavy):
    x, times = np.arange(float(heavy)), np.ones(heavy)
    times[heavy // 2] = 2.0 * heavy
    with pytest.raises(ValueError, match="data must vary"):
        stablegpu.fit(x, weights=times, device=device)


def test_alpha_fixed_at_two_is_the_normal_law_whatever_beta(device):
    _, x = sample(1.5, 0.3, 500, 10)
    for options in ({}, {"parameterization": "S0"}):
        normal = stablegpu.fit(x, fixed={"alpha": 2.0}, device=device, **options)
        assert (normal.status, normal.message, normal.beta) == ("converged", "", 0.0)
        assert normal.loc == pytest.approx(x.mean(), rel=1e-6)
        assert normal.scale == pytest.approx(x.std() / np.sqrt(2.0), rel=1e-6)
        assert normal.stderr["loc"] == pytest.approx(x.std() / np.sqrt(500), rel=1e-2)
        assert np.isnan(normal.stderr["beta"])
    both = stablegpu.fit(np.stack([x, x]), fixed={"alpha": [2.0, 1.5]}, device=device)
    assert both.scale[0] == pytest.approx(normal.scale, rel=1e-6)
    assert both.loglik[1] > both.loglik[0] + 10.0


@pytest.mark.parametrize("parameterization", ["S0", "S1"])
def test_fixed_parameters_stay(device, parameterization):
    _, x = sample(1.5, 0.3, 500, 10)

    def fit(data=x, **fixed):
        return stablegpu.fit(data, fixed=fixed, parameterization=parameterization, device=device)

    free, held = fit(), fit(beta=0.0)
    assert held.beta == held.stderr["beta"] == 0.0
    assert held.loglik < free.loglik
    assert held.aic == pytest.approx(6.0 - 2.0 * held.loglik)
    some = fit(loc=0.4, beta=0.0, scale=2.1)
    assert (some.loc, some.scale) == (pytest.approx(0.4), pytest.approx(2.1))
    assert fit(alpha=free.alpha, loc=free.loc).loglik == pytest.approx(free.loglik, abs=1e-6)
    cauchy = fit(alpha=1.0, beta=0.0, loc=0.1)  # where S1 jumps
    assert cauchy.stderr["loc"] == 0.0 < cauchy.stderr["scale"]
    values = {"alpha": 1.45, "beta": 0.1, "loc": 1.0 / 3.0, "scale": 2.1}
    all_held = fit(**values)
    assert {name: getattr(all_held, name) for name in PARAMETERS} == values == all_held.fixed
    assert all_held.stderr == dict.fromkeys(PARAMETERS, 0.0)
    betas = np.array([-0.5, 0.0, 0.5])
    rows = fit(np.tile(x, (3, 1)), beta=betas, alpha=1.4)  # a value for each set
    np.testing.assert_array_equal(rows.beta, betas)
    np.testing.assert_array_equal(rows.alpha, 1.4)
    for beta, loglik in zip(betas, rows.loglik, strict=True):
        assert loglik == pytest.approx(fit(beta=beta, alpha=1.4).loglik, abs=1e-6)


@pytest.mark.parametrize("alpha", [0.7, 1.0, 1.6])
def test_bins_lose_next_to_nothing(device, monkeypatch, alpha):
    _, x = sample(alpha, 0.3, 10_000, 13)
    binned = stablegpu.fit(x, device=device, parameterization="S0")
    monkeypatch.setattr(batch, "LARGEST_SORTED_SET", 1 << 15)
    direct = stablegpu.fit(x, device="cpu", parameterization="S0")
    for name in PARAMETERS:
        off = getattr(binned, name) - getattr(direct, name)
        assert abs(off) < 1e-3 * direct.stderr[name]
        assert binned.stderr[name] == pytest.approx(direct.stderr[name], rel=1e-3)
    assert binned.loglik == pytest.approx(direct.loglik, abs=1e-5)


def test_boundaries_are_said_and_their_errors_left_out(device):
    x = np.random.default_rng(1).normal(size=500)
    result = stablegpu.fit(np.clip(x, -2.5, 2.5), device=device)
    assert (result.alpha, result.beta) == (2.0, 0.0)
    assert result.message.endswith(": alpha")
    assert np.isnan(result.stderr["alpha"])
    assert result.stderr["scale"] > 0.0


@pytest.mark.parametrize(("alpha", "beta"), [(1.6, 0.3), (0.8, -0.5)])
def test_grids_come_close_and_never_above(device, alpha, beta):
    _, x = sample(alpha, beta, 300, 14)
    options = {"parameterization": "S0", "device": device}
    ml, grid, grid2, quick = (
        stablegpu.fit(x, method=method, **options)
        for method in ("ml", "grid", "grid2", "mcculloch")
    )
    rows = np.stack([x, x[::-1] - 3.0])
    both = stablegpu.fit(rows, method="grid2", **options)
    np.testing.assert_allclose(both.loglik, grid2.loglik, atol=1e-3)
    assert ml.loglik - 0.01 < grid.loglik < ml.loglik + 1e-6
    assert quick.loglik - 1e-6 < grid2.loglik < grid.loglik
    assert grid.evaluations > 10 * ml.evaluations
    assert np.isnan(grid.stderr["alpha"])
