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


def test_known_rule():
    """QUADPACK's 7-15 rule: facts."""
    nodes, kronrod, gauss = half_rule(7)
    assert nodes[-1] == pytest.approx(0.991455371120812639206854697526329, abs=2e-16)
    assert kronrod[0] * 2 == pytest.approx(0.209482141084727828012999174891714, abs=1e-15)
    assert gauss[0] * 2 == pytest.approx(0.417959183673469387755102040816327, abs=1e-15)


@pytest.mark.parametrize("n", [1, 4, 0])
def test_orders(n):
    with pytest.raises(ValueError, match="odd"):
        half_rule(n)
