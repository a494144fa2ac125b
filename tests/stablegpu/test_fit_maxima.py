"""Fits end at the highest maximum, and not in the spikes that equal data make of the likelihood."""

import numpy as np
import pytest

import stablegpu
from stablegpu import stable

METHODS = ["ml", "mcculloch", "koutrouvelis", "grid", "grid2"]


def clusters(first, second, size=100):
    """Two of width 0.01 in a distance of 10."""
    parts = np.random.default_rng(first), np.random.default_rng(second)
    return np.r_[parts[0].normal(0.0, 0.01, size), parts[1].normal(10.0, 0.01, size)]


def exact(fits, rows):
    """Return the log-likelihoods by the density."""
    laws = zip(fits.alpha, fits.beta, fits.loc, fits.scale, strict=True)
    return np.array([stable(*law).logpdf(x).sum() for law, x in zip(laws, rows, strict=True)])


def profile_of_alpha(rows, device):
    """Return exact log-likelihoods (sets, 8) of fits with alpha fixed at eight values."""
    alphas = np.array([0.15, 0.2, 0.3, 0.5, 0.8, 1.2, 1.6, 2.0])
    many = np.repeat(rows, 8, axis=0)
    held = stablegpu.fit(many, fixed={"alpha": np.tile(alphas, len(rows))}, device=device)
    return exact(held, many).reshape(-1, 8)


def zeros_and_draws(zeros, others, seed=1):
    return np.r_[np.zeros(zeros), stable(1.5, 0.0).rvs(others, rng=seed)]


@pytest.mark.parametrize("seeds", [(0, 1), (5, 6)])
def test_clusters_are_not_taken_for_a_normal_law(device, seeds):
    x = clusters(*seeds)
    best = stablegpu.fit(x, device=device)
    profile = profile_of_alpha(x[None], device)[0]
    assert best.loglik > profile.max() - 1e-6
    assert best.loglik > profile[-1] + 260.0
    mirrored = stablegpu.fit(3.0 - 1e3 * x, device=device)
    assert mirrored.loglik == pytest.approx(best.loglik - 200.0 * np.log(1e3), abs=1e-3)


def test_large_samples_in_clusters(device):
    best = stablegpu.fit(clusters(0, 1, 10_000), device=device)
    assert best.alpha < 0.4
    assert best.loglik > -35_100.0  # alpha = 2: -60,700


def test_few_draws_of_a_heavy_tail_are_nowhere_more_likely(device):
    """With an outlier so far away that at first nothing else counts, the normal fit stood still."""
    rows = np.array([np.random.default_rng(k).pareto(0.5, 10) for k in range(0, 51, 3)])
    best = stablegpu.fit(rows, device=device)
    np.testing.assert_allclose(best.smallest_alpha, 4.0 / 27.0)
    np.testing.assert_allclose(exact(best, rows), best.loglik, atol=1e-4)
    assert (profile_of_alpha(rows, device) - best.loglik[:, None]).max() < 1e-3
    normal = stablegpu.fit(rows, fixed={"alpha": 2.0}, device=device)
    assert normal.converged.all()
    np.testing.assert_allclose(normal.loc, rows.mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(normal.scale, rows.std(axis=1) / np.sqrt(2.0), rtol=1e-6)


def test_small_samples_are_nowhere_more_likely_at_another_skewness(device):
    """Ascents stopped at their first beta, or at the lower one of two maxima around beta = 1."""
    rng = np.random.default_rng(2)
    pairs = zip(rng.uniform(0.6, 1.9, 60), rng.uniform(-1.0, 1.0, 60), strict=True)
    rows = np.array([stable(*pair).rvs(30, rng=k) for k, pair in enumerate(pairs)])
    best, betas = stablegpu.fit(rows, device=device), np.array([-1.0, -0.8, 0.8, 1.0])
    held = stablegpu.fit(
        np.repeat(rows, 4, axis=0), fixed={"beta": np.tile(betas, 60)}, device=device
    )
    assert (held.loglik.reshape(-1, 4) - best.loglik[:, None]).max() < 1e-6


@pytest.mark.parametrize(
    ("seed", "loglik"),
    [(1014, -19.266557397), (1028, -38.878683009), (1132, -68.417106821), (1154, -20.234680672)],
)
def test_spikes_are_settled_to_the_last_digit(device, seed, loglik):
    """Searches with another density tried floats beside each observation, and found no more."""
    rng = np.random.default_rng(seed)
    size, law = rng.integers(5, 20), stable(rng.uniform(0.6, 1.98), rng.uniform(-1.0, 1.0))
    x = np.round(law.rvs(size, rng=rng.integers(1 << 30)), 6)
    best = stablegpu.fit(x, device=device)
    assert best.loglik == pytest.approx(loglik, abs=1e-8)
    assert best.distribution.logpdf(x).sum() == pytest.approx(loglik, abs=1e-8)


@pytest.mark.parametrize("zeros", [10, 20, 30, 40, 45])
def test_equal_data_do_not_pull_a_fit_into_a_spike(device, zeros):
    x = zeros_and_draws(zeros, 100 - zeros)
    result = stablegpu.fit(x, device=device)
    assert result.ties == zeros
    assert result.smallest_alpha == pytest.approx(2.0 * zeros / (100 - zeros))
    assert result.smallest_alpha <= result.alpha <= 2.0
    assert result.scale > 0.05 * np.subtract(*np.quantile(x, [0.9, 0.1]))
    assert f"{zeros} observations are equal" in result.message
    true = stable(max(1.5, result.smallest_alpha), 0.0)
    assert result.loglik > true.logpdf(x).sum()


def test_nearly_equal_data_end_at_the_smallest_scale(device):
    """Or the fit says that it did not get there: rounding decides, which differs by processor."""
    x = [np.r_[1e-14 * np.arange(40), zeros_and_draws(seed, 60)] for seed in range(4)]
    fits = stablegpu.fit(x, device=device)
    starts = stablegpu.fit(x, method="mcculloch", device=device)
    at_the_end = 0
    for result, start in zip(fits, starts, strict=True):
        if result.status == "exhausted":
            assert "did not converge" in result.message
            continue
        assert result.scale == pytest.approx(1e-8 * start.scale, rel=1e-6)
        assert "scale" in result.message
        assert np.isnan(result.stderr["scale"])
        at_the_end += 1
    assert at_the_end > 0


@pytest.mark.parametrize("size", [100, 20_000])
def test_ties_are_counted(device, size):
    x = np.random.default_rng(3).permutation(zeros_and_draws(size * 3 // 10, size * 7 // 10))
    for method in METHODS[:2]:
        assert stablegpu.fit(x, method=method, device=device).ties == size * 3 // 10
    assert stablegpu.fit(x[x != 0.0], device=device).ties == 1
    rows = [x[:50], x[x != 0.0][:50], np.r_[x[x != 0.0][:48], 7, 7]]
    results = stablegpu.fit(rows, device=device)
    np.testing.assert_array_equal(results.ties, [(x[:50] == 0.0).sum(), 1, 2])
    assert results[2].ties == 2


@pytest.mark.parametrize("size", [20, 20_000])
@pytest.mark.parametrize("method", METHODS)
def test_half_equal_data_are_refused(device, size, method):
    x = zeros_and_draws(size // 2, size // 2)
    with pytest.raises(ValueError, match="at least half of the values are equal"):
        stablegpu.fit(x, method=method, device=device)
