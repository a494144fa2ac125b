"""The computed Gauss-Kronrod rules have the exactness that defines them."""

import numpy as np
import pytest

from stablegpu._density.quadrature.kronrod import half_rule


@pytest.mark.parametrize("n", [3, 7, 9, 11, 13, 15])
def test_exactness(n):
    nodes, kronrod, gauss = half_rule(n)
    assert nodes.size == n + 1
    assert nodes[0] == 0.0
    assert np.all(np.diff(nodes) > 0)
    for degree in range(0, 3 * n + 2, 2):
        exact = 2.0 / (degree + 1)
        assert 2 * np.sum(kronrod * nodes**degree) == pytest.approx(exact, rel=2e-14)
        if degree <= 2 * n - 1:
            assert 2 * np.sum(gauss * nodes**degree) == pytest.approx(exact, rel=2e-14)
