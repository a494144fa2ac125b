"""Koutrouvelis' regression with tabulated numbers of points, on data without noise."""

import numpy as np
import pytest

import stablegpu
from studies.stablegpu.classical_regression import (
    K_TABLE,
    L_TABLE,
    Estimate,
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
