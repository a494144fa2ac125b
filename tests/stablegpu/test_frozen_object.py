"""Moments, support, interval and characteristic function of the frozen object."""

import math

import numpy as np
import pytest
from scipy import integrate

from stablegpu import Stable, stable


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


def test_the_class_names_the_function_that_takes_numbers():
    with pytest.raises(TypeError, match=r"parameters must be .*, got 1.5: stablegpu.stable"):
        Stable(1.5, 0.5)


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
