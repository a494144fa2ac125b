"""Strong orders of the schemes, measured on problems with known solutions."""

import pytest

from studies.rode.orders import slope, strong_errors


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("scheme", "K", "powers"),
    [
        ("averaged-euler", 1, (5, 6, 7, 8)),
        ("averaged-heun", 2, (4, 5, 6, 7)),
        ("rode-taylor", 3, (2, 3, 4, 5)),
        ("rode-taylor", 4, (2, 3, 4)),
    ],
)
def test_orders_of_convergence(scheme, K, powers):
    """The order is K, not K - 1, with as many fine steps as `schemes.fine_steps` says."""
    assert slope(powers, strong_errors(scheme, K, powers)) == pytest.approx(K, abs=0.15)
