"""Draws follow their law, on every device alike."""

import numpy as np
import pytest
from scipy import stats

from stablegpu import stable

LAWS = [
    (0.3, 0.9, "S1"),
    (0.5, 1.0, "S1"),
    (0.5, -0.3, "S0"),
    (0.95, 1.0, "S0"),
    (1.0, 0.7, "S1"),
    (1.0, -0.7, "S0"),
    (1.00001, 0.9, "S0"),
    (1.02, -0.8, "S1"),
    (1.5, 0.5, "S1"),
    (1.9, -1.0, "S0"),
    (2.0, 0.0, "S1"),
]


@pytest.mark.statistical
@pytest.mark.parametrize(("alpha", "beta", "parameterization"), LAWS)
def test_kolmogorov_smirnov(device, alpha, beta, parameterization):
    law = stable(alpha, beta, 1.5, 2.0, parameterization=parameterization, device=device)
    x = law.rvs(20_000, random_state=5)
    assert stats.kstest(x, law.cdf).pvalue > 1e-4
    median = np.median(x)
    assert stats.kstest(x[x < median], lambda v: law.cdf(v) / law.cdf(median)).pvalue > 1e-4


@pytest.mark.simulator
def test_draws_are_the_same_on_every_device(device):
    for alpha, beta in ((0.7, 0.4), (1.0, 0.4), (1.05, -1.0), (1.8, 0.2)):
        law = stable(alpha, beta, device=device)
        expected = stable(alpha, beta, device="cpu").rvs(64, random_state=7)
        np.testing.assert_allclose(law.rvs(64, random_state=7), expected, rtol=1e-10, atol=1e-12)


def test_support_of_totally_skewed_laws(device):
    x = stable(0.6, 1.0, loc=3.0, device=device).rvs(100_000, random_state=1)
    assert x.min() >= 3.0
    assert np.isfinite(x).all()


def test_continuous_in_alpha_through_one():
    """S0 draws from the same words change smoothly where S1 jumps."""
    draws = [
        stable(a, 0.8, parameterization="S0", device="cpu").rvs(1000, random_state=2)
        for a in (1 - 2e-5, 1.0, 1 + 2e-5)
    ]
    assert np.max(np.abs(draws[0] - draws[1]) / (1 + np.abs(draws[1]))) < 1e-3
    assert np.max(np.abs(draws[2] - draws[1]) / (1 + np.abs(draws[1]))) < 1e-3


def test_shapes_and_seeds(device):
    law = stable(1.5, 0.0, device=device)
    assert isinstance(law.rvs(), float)
    assert law.rvs((3, 4)).shape == (3, 4)
    np.testing.assert_array_equal(law.rvs(5, random_state=3), law.rvs(5, random_state=3))
    assert not np.array_equal(law.rvs(5), law.rvs(5))
    generator = np.random.default_rng(1)
    assert not np.array_equal(law.rvs(5, generator), law.rvs(5, generator))
    # A longer request starts with the shorter one.
    np.testing.assert_array_equal(law.rvs(9, random_state=3)[:5], law.rvs(5, random_state=3))
    out = np.empty(7)
    assert law.rvs(out=out, random_state=3) is out
    np.testing.assert_array_equal(out, law.rvs(7, random_state=3))


@pytest.mark.parametrize("arguments", [{"size": -1}, {"size": 2.5}, {"random_state": "x"}])
def test_bad_arguments(arguments):
    with pytest.raises((TypeError, ValueError), match=next(iter(arguments))):
        stable(1.5, 0.0).rvs(**({"size": 3} | arguments))
