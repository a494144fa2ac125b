"""Strong orders of the schemes, measured on problems with known solutions."""

import pytest

from rode._solver.schemes import SCHEMES, find_scheme
from studies.rode.orders import slope, strong_errors

POWERS = {1: (5, 6, 7, 8), 2: (4, 5, 6, 7), 3: (2, 3, 4, 5), 4: (2, 3, 4)}
"""For each order, the steps h = 2^-k; beyond, the finest paths would be too long."""


@pytest.mark.statistical
@pytest.mark.parametrize("method", [name for name, s in SCHEMES.items() if s.order in POWERS])
def test_orders_of_convergence(method):
    """The order is K, not K - 1, with as many fine steps as `Scheme.fine_steps` says."""
    order = find_scheme(method).order
    errors = strong_errors(method, POWERS[order])
    assert slope(POWERS[order], errors) == pytest.approx(order, abs=0.15)
