"""Koutrouvelis' regression with tabulated numbers of points, on data without noise."""

import numpy as np
import pytest

import stablegpu
from studies.stablegpu.classical_regression import (
    Estimate,
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
