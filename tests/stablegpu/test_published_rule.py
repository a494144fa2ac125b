"""The quadrature of Julian-Moreno et al. (2016), against closed forms and the package."""

import numpy as np
import pytest

import stablegpu
from studies.stablegpu.published_rule import evaluate


@pytest.mark.parametrize(("alpha", "beta"), [(0.6, 0.3), (0.9, -0.5), (1.0, 0.7), (1.0, -0.4),
                                             (1.3, 0.2), (1.7, -1.0)])  # fmt: skip
def test_moderate_points_agree_with_the_package(alpha, beta):
    x = np.array([-1.8, -1.2, 0.1, 1.1, 2.5])  # none of them close to zeta
    result = evaluate(x, alpha, beta, 4)
    true = stablegpu.stable(alpha, beta, parameterization="S0", device="cpu")
    pdf, cdf = true.pdf_cdf(x)
    np.testing.assert_allclose(result.pdf, pdf, rtol=1e-7)
    np.testing.assert_allclose(result.cdf, cdf, rtol=1e-9)
