"""The quadrature of Julian-Moreno et al. (2016), against closed forms and the package."""

import math

import numpy as np
import pytest

import stablegpu
from studies.stablegpu import published_rule
from studies.stablegpu.published_rule import evaluate


def levy(x):
    """Return density and distribution function of alpha = 1/2, beta = 1 in S0: zeta is -1."""
    y = x + 1.0
    pdf = np.exp(-0.5 / y) / math.sqrt(2 * math.pi) * y**-1.5
    return pdf, np.array([math.erfc(math.sqrt(0.5 / v)) for v in y])


def test_closed_forms():
    x = np.array([-0.5, 0.0, 0.7, 3.0, 9.0])
    result = evaluate(x, 0.5, 1.0, 4)
    pdf, cdf = levy(x)
    np.testing.assert_allclose(result.pdf, pdf, rtol=1e-11)
    np.testing.assert_allclose(result.cdf, cdf, rtol=1e-11)
    mirrored = evaluate(-x, 0.5, -1.0, 4)
    np.testing.assert_array_equal(mirrored.pdf, result.pdf)
    np.testing.assert_allclose(mirrored.cdf, 1.0 - result.cdf, rtol=1e-12)
    normal = evaluate(x, 2.0, 0.0)
    np.testing.assert_allclose(normal.pdf, np.exp(-x * x / 4) / math.sqrt(4 * math.pi), rtol=1e-9)
    cauchy = evaluate(x, 1.0, 0.0)
    np.testing.assert_allclose(cauchy.pdf, 1 / math.pi / (1 + x * x), rtol=1e-15)


@pytest.mark.parametrize(("alpha", "beta"), [(0.6, 0.3), (0.9, -0.5), (1.0, 0.7), (1.0, -0.4),
                                             (1.3, 0.2), (1.7, -1.0)])  # fmt: skip
def test_moderate_points_agree_with_the_package(alpha, beta):
    x = np.array([-1.8, -1.2, 0.1, 1.1, 2.5])  # none of them close to zeta
    result = evaluate(x, alpha, beta, 4)
    true = stablegpu.stable(alpha, beta, parameterization="S0", device="cpu")
    pdf, cdf = true.pdf_cdf(x)
    np.testing.assert_allclose(result.pdf, pdf, rtol=1e-7)
    np.testing.assert_allclose(result.cdf, cdf, rtol=1e-9)


def test_the_value_at_zeta_continues_those_beside_it():
    alpha, beta = 1.4, 0.3
    zeta = -beta * math.tan(math.pi * alpha / 2)
    at, beside = (evaluate(np.array([x]), alpha, beta) for x in (zeta, zeta + 0.05))
    true = stablegpu.stable(alpha, beta, parameterization="S0", device="cpu")
    np.testing.assert_allclose(at.pdf, true.pdf(zeta), rtol=1e-12)
    np.testing.assert_allclose(at.cdf, true.cdf(zeta), rtol=1e-12)
    assert abs(at.pdf[0] / beside.pdf[0] - 1) < 0.05


def test_repeats_and_more_subintervals_help(monkeypatch):
    """Far out for alpha > 1 the integrand is a peak, which one pass of 8 subintervals misses."""
    x, alpha, beta = np.array([40.0, 90.0]), 1.5, 0.5
    true = stablegpu.stable(alpha, beta, parameterization="S0", device="cpu").pdf(x)

    def error(count):
        return np.abs(evaluate(x, alpha, beta, count).pdf / true - 1).max()

    assert evaluate(x, alpha, beta, 2).passes.min() > 1
    with_repeats = error(2)
    monkeypatch.setattr(published_rule, "MOST_PASSES", 1)
    assert error(2) > 10 * with_repeats
    assert error(1) > error(2) > error(4)


def test_small_alpha_forces_a_second_pass(monkeypatch):
    x, true = np.array([22.0]), stablegpu.stable(0.29, 0.9, parameterization="S0", device="cpu")
    forced = evaluate(x, 0.29, 0.9)
    assert forced.passes[0] == 2
    monkeypatch.setattr(published_rule, "FORCED_BELOW", 0.0)
    free = evaluate(x, 0.29, 0.9)
    assert free.passes[0] == 1
    errors = [abs(r.pdf[0] / true.pdf(x)[0] - 1) for r in (forced, free)]
    assert 20 * errors[0] < errors[1]
