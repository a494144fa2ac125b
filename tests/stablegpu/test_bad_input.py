"""Bad parameters are named; hard points give the mathematically right value."""

import itertools

import numpy as np
import pytest

import hetero
import stablegpu
from hetero.cuda import driver
from stablegpu import stable
from stablegpu.evaluators import Quadrature


def test_laws_are_frozen_values():
    distribution = stable(1.5, 0.5)
    with pytest.raises(AttributeError):
        distribution.alpha = 1.2
    assert distribution == stable(1.5, 0.5)
    assert eval(repr(distribution), {"stable": stable}) == distribution


@pytest.mark.simulator
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.7, 2.0])
@pytest.mark.parametrize("beta", [-1.0, 0.0, 0.5])
def test_limits(device, alpha, beta):
    distribution = stable(alpha, beta, device=device)
    result = distribution.evaluate([-np.inf, np.nan, np.inf])
    np.testing.assert_array_equal(result.pdf, [0.0, np.nan, 0.0])
    np.testing.assert_array_equal(result.cdf, [0.0, np.nan, 1.0])
    np.testing.assert_array_equal(result.sf, [1.0, np.nan, 0.0])


@pytest.mark.filterwarnings("ignore:the estimated relative error")
def test_huge_and_tiny_arguments_and_scales(device):
    x = np.array([-1e300, -1e-300, 1e-300, 1e300])
    for alpha in (0.3, 0.9, 1.0, 1.1, 1.99):
        result = stable(alpha, 0.5, device=device).evaluate(x)
        assert np.all((result.pdf >= 0) & (result.cdf >= 0) & (result.cdf <= 1))
    for scale in (1e-300, 1e300):
        distribution = stable(1.5, 0.5, scale=scale, device=device)
        standard = stable(1.5, 0.5, device=device)
        np.testing.assert_allclose(distribution.cdf(2 * scale), standard.cdf(2.0), rtol=1e-12)
    far = -np.array([1e7, 1e20, 1e200, 1e300])
    light = [(1.0, far)]  # the light tail at alpha = 1 falls like exp(-exp(z))
    light += [(1.0 - 2.0**-53, np.array([1e-90, 1.0, 1e13])), (1.0 + 2.0**-52, far[1:])]
    for (alpha, x), beta in itertools.product(light, (-1.0, 1.0)):
        result = stable(alpha, beta, device=device).evaluate(beta * x)
        below, above = (result.cdf, result.sf)[:: int(beta)]
        assert not np.any(result.pdf)
        assert not np.any(below)
        assert np.all(above == 1.0)


def test_lost_accuracy_is_said():
    with pytest.warns(RuntimeWarning, match="relative error"):
        stable(1.01, -1.0, parameterization="S0", device="cpu").evaluate(
            -10.0, evaluator=Quadrature(8, 7, 1e-2)
        )


@pytest.mark.skipif(driver.why_unavailable() is None, reason="this machine has a GPU")
def test_a_missing_gpu_is_explained_when_it_is_needed():
    distribution = stable(1.5, 0.5, device="cuda")
    for call in (lambda: distribution.pdf(0.0), lambda: distribution.rvs(3)):
        with pytest.raises(hetero.DeviceUnavailableError, match="Remedy"):
            call()


@pytest.mark.parametrize("alpha", [5e-324, 1e-308, 9e-301])
def test_alphas_whose_constants_are_subnormal(alpha):
    with pytest.raises(ValueError, match="alpha must be at least 1e-300"):
        stable(alpha, 0.5)
    with pytest.raises(ValueError, match=r"alpha must lie in \(0, 2\], from 1e-300 on, got"):
        stablegpu.pdf(0.5, alpha, 0.5)
    # In the limit P(X <= 0) = (1 - beta)/2, and |X|^-alpha is exponential: P(|X| <= 1) = 1/e.
    expected = [0.25, 0.25 + 0.75 * np.exp(-1.0)]
    np.testing.assert_allclose(stable(1e-300, 0.5).cdf([0.0, 1.0]), expected)
