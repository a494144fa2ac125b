"""Where the distribution has a closed form, and identities that hold for every distribution."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from stablegpu import stable

X = np.array([-30.0, -3.0, -0.7, -1e-3, 0.0, 1e-8, 0.4, 1.0, 5.0, 80.0])


@pytest.mark.simulator
def test_normal(device):
    distribution = stable(2.0, 0.7, loc=1.0, scale=0.5, device=device)
    normal = stats.norm(1.0, 0.5 * np.sqrt(2))
    x = np.array([-8.0, -1.0, 0.3, 1.0, 1.1, 4.0])
    np.testing.assert_allclose(distribution.pdf(x), normal.pdf(x), rtol=1e-12)
    np.testing.assert_allclose(distribution.cdf(x), normal.cdf(x), rtol=1e-12)
    np.testing.assert_allclose(distribution.sf(x), normal.sf(x), rtol=1e-12)


@pytest.mark.simulator
def test_cauchy(device):
    distribution = stable(1.0, 0.0, loc=-1.0, scale=2.0, device=device)
    cauchy = stats.cauchy(-1.0, 2.0)
    x = np.array([-1e9, -3.0, -1.0, 0.0, 7.0, 1e12])
    np.testing.assert_allclose(distribution.pdf(x), cauchy.pdf(x), rtol=1e-14)
    np.testing.assert_allclose(distribution.sf(x), cauchy.sf(x), rtol=1e-14)


@pytest.mark.simulator
def test_levy(device):
    distribution = stable(0.5, 1.0, loc=2.0, scale=3.0, parameterization="S1", device=device)
    x = np.array([1.0, 2.0, 2.4, 3.0, 10.0, 1e4])
    c = 3.0 / np.maximum(x - 2.0, 1e-3)  # at 1e-3 all three have underflowed
    pdf = np.sqrt(c / (2 * np.pi)) * np.exp(-c / 2) * c / 3.0
    np.testing.assert_allclose(distribution.pdf(x), pdf, rtol=1e-12)
    np.testing.assert_allclose(distribution.cdf(x), special.erfc(np.sqrt(c / 2)), rtol=1e-12)
    np.testing.assert_allclose(distribution.sf(x), special.erf(np.sqrt(c / 2)), rtol=1e-12)


LAWS = [(0.4, 0.3), (0.8, -1.0), (1.0, 0.6), (1.02, -0.5), (1.6, 0.9), (1.97, -0.2)]


@pytest.mark.parametrize(("alpha", "beta"), LAWS)
@pytest.mark.parametrize("parameterization", ["S0", "S1"])
def test_identities(device, alpha, beta, parameterization):
    options = {"parameterization": parameterization, "device": device}
    distribution = stable(alpha, beta, **options)
    mirrored = stable(alpha, -beta, **options)
    np.testing.assert_allclose(distribution.pdf(X), mirrored.pdf(-X), rtol=1e-13)
    np.testing.assert_allclose(distribution.cdf(X), mirrored.sf(-X), rtol=1e-13)
    np.testing.assert_allclose(distribution.cdf(X) + distribution.sf(X), 1.0, rtol=1e-14)
    pdf, cdf = distribution.pdf_cdf(X)
    np.testing.assert_array_equal(pdf, distribution.pdf(X))
    np.testing.assert_array_equal(cdf, distribution.cdf(X))
    step = 1e-4
    slope = (distribution.cdf(X + step) - distribution.cdf(X - step)) / (2 * step)
    inside = np.abs(X) > 0.1
    np.testing.assert_allclose(slope[inside], distribution.pdf(X)[inside], rtol=1e-3, atol=1e-11)


@pytest.mark.parametrize(("alpha", "beta"), LAWS)
def test_both_parameterizations_are_one_law(device, alpha, beta):
    first = stable(alpha, beta, 0.4, 2.5, parameterization="S1", device=device)
    second = first.to("S0")
    assert second.parameterization == "S0"
    # At alpha = 1.02, zeta is 16: the last digits of x - zeta differ.
    np.testing.assert_allclose(first.pdf(X), second.pdf(X), rtol=1e-9)
    assert second.to("S1").loc == pytest.approx(0.4, abs=1e-13)


def test_moments():
    normal = stable(2.0, 0.3, loc=1.0, scale=0.5)
    assert normal.stats("mvsk") == (1.0, 0.5, 0.0, 0.0)
    assert normal.std() == pytest.approx(math.sqrt(0.5))
    distribution = stable(1.5, 0.5, loc=2.0)
    assert distribution.mean() == 2.0
    assert distribution.to("S0").mean() == pytest.approx(2.0, rel=1e-15)
    assert distribution.var() == math.inf
    assert math.isnan(distribution.stats("s")[0])
    assert math.isnan(stable(0.9, 0.0).mean())
    assert stable(0.5, 1.0).mean() == math.inf  # one side is heavy
    assert stable(1.0, -1.0).mean() == -math.inf
    with pytest.raises(ValueError, match="moments"):
        distribution.stats("x")


def test_median_and_interval():
    distribution = stable(1.2, 0.0, loc=3.0, scale=2.0)
    assert distribution.median() == pytest.approx(3.0, abs=1e-12)
    low, high = distribution.interval(0.9)
    assert distribution.cdf(low) == pytest.approx(0.05, rel=1e-13)
    assert distribution.sf(high) == pytest.approx(0.05, rel=1e-13)
    assert distribution.interval(1.0) == (-math.inf, math.inf)
    with pytest.raises(ValueError, match="confidence"):
        distribution.interval(1.5)


def test_support():
    assert stable(1.5, 1.0).support() == (-math.inf, math.inf)
    assert stable(0.5, 0.9).support() == (-math.inf, math.inf)
    assert stable(0.5, 1.0, loc=3.0).support() == (3.0, math.inf)
    low, high = stable(0.5, -1.0, loc=3.0, scale=2.0, parameterization="S0").support()
    assert (low, high) == (-math.inf, 5.0)
    assert stable(0.5, -1.0, loc=3.0, scale=2.0, parameterization="S0").sf(high) == 0.0


@pytest.mark.parametrize(("alpha", "beta"), [(0.7, -0.4), (1.0, 0.5), (1.3, 0.8), (2.0, 0.0)])
@pytest.mark.parametrize("parameterization", ["S0", "S1"])
def test_characteristic_function_inverts_to_the_density(alpha, beta, parameterization):
    distribution = stable(alpha, beta, 0.3, 1.5, parameterization=parameterization)
    x = 0.8

    def integrand(t):
        return (np.exp(-1j * t * x) * distribution.cf(t)).real / math.pi

    value, _ = integrate.quad(integrand, 0, 60, limit=400, epsabs=1e-12)
    assert distribution.pdf(x) == pytest.approx(value, abs=1e-9)
    assert distribution.cf(0.0) == 1.0
    assert distribution.cf(-0.7) == pytest.approx(np.conj(distribution.cf(0.7)))
    far = distribution.cf([0.0, 1e300, -np.inf, np.inf])
    np.testing.assert_array_equal(far, [1.0, 0.0, 0.0, 0.0])
    assert np.isnan(distribution.cf(np.nan))
