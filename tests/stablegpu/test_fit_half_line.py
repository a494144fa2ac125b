"""Fits with beta fixed at 1 or -1: the support ends (alpha < 1) or a tail is thin."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

import stablegpu
from stablegpu import stable


def levy_samples(count, size):
    return np.array([stats.levy.rvs(scale=2.0, size=size, random_state=s) for s in range(count)])


def levy_maximum(x):
    """Largest log-likelihood of Levy distributions, with location and scale."""
    low = x.min()

    def loss(u):
        loc = low - math.exp(u)
        return -stats.levy.logpdf(x, loc, x.size / np.sum(1.0 / (x - loc))).sum()

    grid = np.linspace(-8.0, 4.0, 61)
    best = grid[np.argmin([loss(u) for u in grid])]
    end = optimize.minimize_scalar(loss, bounds=(best - 0.2, best + 0.2), options={"xatol": 1e-9})
    loc = low - math.exp(end.x)
    return -end.fun, loc, x.size / np.sum(1.0 / (x - loc))


NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


def positive_logpdf(x, alpha, loc, scale):
    """log pdf for alpha < 1, beta = 1 in S1 by Kanter's integral (1975), Gauss-Legendre."""
    v = 0.5 * (NODES + 1.0)  # phi = pi (1 - v^4): large x have their mass next to pi
    phi, weights = math.pi * (1.0 - v**4), 2.0 * v**3 * WEIGHTS
    off = 1.0 - alpha
    a = np.sin(off * phi) * np.sin(alpha * phi) ** (alpha / off)
    a *= np.sin(math.pi * v**4) ** (-1.0 / off)
    y = (x - loc) / scale * math.cos(0.5 * math.pi * alpha) ** (1.0 / alpha)
    if not y.min() > 0.0:
        return np.full(x.shape, -np.inf)
    with np.errstate(under="ignore", divide="ignore"):
        total = (weights * a * np.exp(-np.outer(y ** (-alpha / off), a - a.min()))).sum(axis=1)
    log_front = math.log(alpha / off * math.cos(0.5 * math.pi * alpha) ** (1.0 / alpha) / scale)
    return log_front - np.log(y) / off - y ** (-alpha / off) * a.min() + np.log(total)


@pytest.mark.parametrize("parameterization", ["S0", "S1"])
@pytest.mark.parametrize("beta", [1.0, -1.0])
@pytest.mark.parametrize("size", [12, 300])
def test_levy_samples_have_their_largest_likelihood(device, beta, size, parameterization):
    rows = levy_samples(20, size)
    options = {"parameterization": parameterization, "device": device}
    fits = stablegpu.fit(beta * rows, fixed={"alpha": 0.5, "beta": beta}, **options)
    assert fits.converged.all()
    loglik, loc, scale = np.array([levy_maximum(x) for x in rows]).T
    np.testing.assert_allclose(fits.loglik, loglik, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(fits.scale, scale, rtol=1e-4)
    shift = scale if parameterization == "S0" else 0.0  # tan(pi/4) is 1
    np.testing.assert_allclose(beta * fits.loc, loc + shift, rtol=0.0, atol=1e-4 * scale.max())
    free = stablegpu.fit(beta * rows, fixed={"beta": beta}, **options)
    assert free.converged.all()
    possible = free.smallest_alpha <= 0.5
    assert (free.loglik > loglik - 1e-6)[possible].all()


@pytest.mark.parametrize("alpha", [0.15, 0.3, 0.6, 0.75])
@pytest.mark.parametrize("kind", ["own", "clusters", "outlier"])
def test_no_other_end_of_the_support_is_more_likely(device, alpha, kind):
    rng = np.random.default_rng(5)
    x = {
        "own": stable(alpha, 1.0).rvs(40, rng=1),
        "clusters": np.r_[rng.normal(0.0, 0.01, 20), rng.normal(10.0, 0.01, 20)],
        "outlier": np.r_[rng.normal(size=39), -1000.0],
    }[kind]
    result = stablegpu.fit(x, fixed={"alpha": alpha, "beta": 1.0}, device=device)
    assert result.status == "converged"

    def loss(u):
        loc = x.min() - math.exp(u[0])
        return -min(positive_logpdf(x, alpha, loc, math.exp(u[1])).sum(), 1e300)

    end = math.log(x.min() - result.loc), math.log(result.scale)
    assert -loss(end) == pytest.approx(result.loglik, abs=1e-4)
    starts = [end, *((end[0] + a, end[1] + b) for a, b in ((3, 3), (-3, -3), (4, 0), (-4, 0)))]
    best = min(optimize.minimize(loss, u, method="Nelder-Mead").fun for u in starts)
    assert -best < result.loglik + 1e-4


def test_a_fixed_location_beyond_data_leaves_what_the_data_allow(device):
    (x,) = levy_samples(1, 100)
    loc = x.min() + 3.0
    for others in ({}, {"scale": 2.0}, {"alpha": 0.5}):
        options = {"parameterization": "S0", "device": device}
        result = stablegpu.fit(x, fixed={"beta": 1.0, "loc": loc} | others, **options)
        assert result.status == "converged"
        exact = stable(result.alpha, 1.0, loc, result.scale, parameterization="S0", device="cpu")
        assert result.loglik == pytest.approx(exact.logpdf(x).sum(), abs=1e-5)
    impossible = {"alpha": 0.5, "beta": 1.0, "loc": loc}
    result = stablegpu.fit(x, fixed=impossible, parameterization="S1", device=device)
    assert result.status == "impossible"


@pytest.mark.parametrize("alpha", [1.0, 1.05, 1.3])
def test_one_datum_in_the_thin_tail(device, alpha):
    """The table next to alpha = 1 ended at e^-80, so that such data cost nothing more."""
    x = np.random.default_rng(3).normal(size=100)
    x[0] = -300.0
    fixed, options = {"alpha": alpha, "beta": [1, -1]}, {"parameterization": "S0", "device": device}
    result = stablegpu.fit(np.stack([x, -x]), fixed=fixed, **options)
    assert result.converged.all()
    assert result.loglik[1] == pytest.approx(result.loglik[0], abs=1e-5)

    def loss(u):
        law = stable(alpha, 1.0, u[0], math.exp(u[1]), parameterization="S0", device="cpu")
        return -max(law.logpdf(x).sum(), -1e300)

    best = optimize.minimize(loss, (-20.0, math.log(100.0)), method="Nelder-Mead")
    assert result.loglik[0] == pytest.approx(-best.fun, abs=0.02)
