"""Parameters of SciPy and R, and the mode."""

import math

import numpy as np
import pytest
from mpmath import mp
from scipy import stats

from stablegpu import from_r, from_scipy, stable

LAWS = [(1.5, 0.5, 0.3, 2.0), (0.8, -0.7, -1.0, 0.5), (1.0, 0.6, 0.4, 3.0), (2.0, 0.0, 1.0, 1.0)]
X = np.array([-3.0, 0.2, 1.7])


def peer(distribution, parameterization):
    result = stats.levy_stable(**distribution.to_scipy(parameterization))
    result.parameterization = parameterization
    return result


@pytest.mark.parametrize("parameterization", ["S1", "S0"])
@pytest.mark.parametrize("own", ["S1", "S0"])
@pytest.mark.parametrize("parameters", LAWS)
def test_scipy_sees_the_same_law(parameters, own, parameterization):
    distribution = stable(*parameters, parameterization=own)
    theirs = peer(distribution, parameterization)
    np.testing.assert_allclose(theirs.pdf(X), distribution.pdf(X), rtol=1e-5)
    np.testing.assert_allclose(theirs.cdf(X), distribution.cdf(X), rtol=1e-5)
    back = from_scipy(**distribution.to_scipy(parameterization), parameterization=parameterization)
    np.testing.assert_allclose(back.to(own).loc, distribution.loc, rtol=1e-14)
    np.testing.assert_allclose(back.pdf(X), distribution.pdf(X), rtol=1e-12)


def test_scipy_leaves_out_a_shift_at_alpha_1():
    """The facts in the module's docstring: if this fails, SciPy has changed."""
    distribution = stable(*LAWS[2])
    theirs = peer(distribution, "S1")
    shift = distribution.beta * 2 / math.pi * distribution.scale * math.log(distribution.scale)
    np.testing.assert_allclose(theirs.sf(X), distribution.sf(X + shift), rtol=1e-5)
    assert np.all(np.abs(theirs.sf(X) + theirs.cdf(X) - 1) > 0.04)


@pytest.mark.parametrize("parameters", LAWS)
def test_r_round_trip(parameters):
    for own in ("S1", "S0"):
        distribution = stable(*parameters, parameterization=own)
        for pm in (0, 1, 2):
            arguments = distribution.to_r(pm)
            assert list(arguments) == ["alpha", "beta", "gamma", "delta", "pm"]
            back = from_r(**arguments)
            np.testing.assert_allclose(back.pdf(X), distribution.pdf(X), rtol=1e-11)
    distribution = stable(*parameters)
    assert distribution.to_r(1)["delta"] == distribution.loc
    assert distribution.to_r(0)["delta"] == distribution.to("S0").loc
    assert distribution.to_r(0)["gamma"] == distribution.scale


@pytest.mark.parametrize(("alpha", "beta"), [(1.5, 0.5), (0.7, -0.6), (1.0, 1.0), (2.0, 0.0)])
def test_pm_2_is_the_mode_and_the_rescaled_scale(alpha, beta):
    distribution = from_r(alpha, beta, gamma=1.3, delta=0.4, pm=2)
    x = 0.4 + np.linspace(-0.1, 0.1, 101)
    assert np.argmax(distribution.pdf(x)) == 50
    assert distribution.scale == pytest.approx(1.3 * alpha ** (-1 / alpha), rel=1e-15)
    if alpha == 2:  # there it is the standard deviation
        assert distribution.std() == pytest.approx(1.3, rel=1e-15)
    assert distribution.mode() == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize(("alpha", "beta"), [(1.5, 0.5), (1.05, 1.0), (1.0, -0.6), (1.95, 0.9)])
def test_the_derivative_vanishes_at_the_mode(alpha, beta):
    """f' and f'' by Fourier inversion; the mode is off by f'/f''."""
    m = stable(alpha, beta, parameterization="S0").mode()
    with mp.workdps(25):
        a, b, x = mp.mpf(alpha), mp.mpf(beta), mp.mpf(m)

        def phase(t):
            if a == 1:
                return x * t + 2 / mp.pi * b * t * mp.log(t)
            return x * t + b * mp.tan(mp.pi * a / 2) * (t - t**a)

        nodes = [0, 0.1, 1, 3, 6, 10, 20, 40, 70]
        slope = mp.quad(lambda t: -t * mp.exp(-(t**a)) * mp.sin(phase(t)), nodes)
        bend = mp.quad(lambda t: -(t**2) * mp.exp(-(t**a)) * mp.cos(phase(t)), nodes)
    assert bend < 0
    assert abs(slope / bend) < 1e-12
