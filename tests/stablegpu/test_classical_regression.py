"""Koutrouvelis' regression with tabulated numbers of points, on data without noise."""

import numpy as np
import pytest

import stablegpu
from studies.stablegpu.classical_regression import (
    K_TABLE,
    L_TABLE,
    Estimate,
    characteristic_function,
    choose_points,
    covariances,
    regress,
)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("alpha", "beta"), [(0.7, 0.4), (0.98, -0.3), (1.5, 0.6), (1.8, -0.5)])
def test_quantiles_of_a_distribution_give_its_parameters(alpha, beta, weighted):
    true = stablegpu.stable(alpha, beta, 3.0, 2.0, parameterization="S0", device="cpu")
    p = (np.arange(40_000) + 0.5) / 40_000
    start = Estimate(alpha + 0.1, 0.0, 2.6, 1.7)
    estimate = regress(np.asarray(true.ppf(p)), start, weighted=weighted)
    np.testing.assert_allclose(estimate, (alpha, beta, 3.0, 2.0), atol=0.02)
    assert abs(start.alpha - alpha) > 5 * abs(estimate.alpha - alpha)


def test_numbers_of_points_are_interpolated_within_the_tables():
    assert [choose_points(K_TABLE, 1.3, n) for n in (200, 800, 1600)] == [22, 16, 14]
    assert choose_points(L_TABLE, 0.5, 1200) == 37
    assert choose_points(K_TABLE, 0.4, 200) == 110
    # Beyond the tables their nearest entries are taken.
    assert choose_points(K_TABLE, 0.1, 50) == 134
    assert choose_points(L_TABLE, 2.0, 10**6) == 11


def test_the_empirical_characteristic_function_is_a_mean():
    z, t = np.array([0.3, -1.2, 5.0]), np.array([0.0, 0.7])
    expected = [1.0, np.mean([complex(np.cos(0.7 * v), np.sin(0.7 * v)) for v in z])]
    np.testing.assert_allclose(characteristic_function(z, t), expected, rtol=1e-15)


@pytest.mark.parametrize(("alpha", "beta"), [(1.5, 0.5), (0.8, -0.7)])
def test_covariances_are_those_of_many_samples(alpha, beta):
    t, size = np.array([0.1, 0.4, 0.9]), 400
    distribution = stablegpu.stable(alpha, beta, parameterization="S0", device="cpu")
    samples = distribution.rvs((4000, size), rng=3)
    values = np.exp(1j * samples[:, None, :] * t[:, None]).mean(axis=2)
    errors = np.log(values / distribution.cf(t))
    for part, ours in zip((errors.real, errors.imag), covariances(t, alpha, beta), strict=True):
        measured = size * np.cov(part.T)
        scale = np.sqrt(np.outer(np.diag(ours), np.diag(ours)))
        np.testing.assert_allclose(measured / scale, ours / scale, atol=0.1)


def test_weights_help_where_errors_differ():
    distribution = stablegpu.stable(0.5, 0.5, parameterization="S0", device="cpu")
    start = Estimate(0.55, 0.4, 0.0, 1.0)
    samples = distribution.rvs((60, 800), rng=5)
    errors = {}
    for weighted in (False, True):
        betas = [regress(x, start, passes=3, weighted=weighted).beta for x in samples]
        errors[weighted] = np.median(np.abs(np.array(betas) - 0.5))
    assert errors[True] < 0.8 * errors[False]


def test_skewness_and_alpha_stay_in_their_ranges():
    rng = np.random.default_rng(1)
    x = rng.exponential(size=300)
    estimate = regress(x, Estimate(1.5, 0.0, 0.7, 0.6))
    assert 0.1 <= estimate.alpha <= 2.0
    assert -1.0 <= estimate.beta <= 1.0
    assert np.isfinite(estimate).all()
