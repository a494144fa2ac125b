"""The quadrature of Julian-Moreno et al. (2016), against closed forms and the package."""

import math

import numpy as np
import pytest

import stablegpu
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
