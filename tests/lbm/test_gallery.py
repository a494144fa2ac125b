"""The gallery's exact solutions, and the orders at which flows approach them."""

import numpy as np
import pytest

from hetero.devices import Device
from studies.lbm.gallery import FLOWS, find_order
from studies.lbm.gallery_flows import CAVITIES, GHIA
from studies.lbm.gallery_heat import NUSSELT, solve_heated_cavity

FLOW = {flow.name: flow for flow in FLOWS}


@pytest.mark.parametrize(("name", "sizes", "order", "largest"), [
    ("duct", (6, 12), 2.0, 0.2), ("Womersley channel", (8, 16), 2.2, 0.1),
    ("oscillating plate", (12, 24), 2.2, 0.05), ("decaying vortices", (12, 24), 2.0, 0.3),
    ("tilted channel", (8, 16), 1.0, 2.5), ("rotating cylinder", (8, 16), 1.0, 3.0),
    ("tilted channel, interpolated", (8, 16), 2.0, 0.2),
    ("rotating cylinder, interpolated", (8, 16), 1.7, 0.3),
])  # fmt: skip
def test_errors_fall_at_the_order_of_the_walls(name, sizes, order, largest):
    """Flat and interpolated walls are of second order, staircases of first order."""
    series = {n: FLOW[name].solve(n, Device("cpu")) for n in sizes}
    assert find_order(series) == pytest.approx(order, abs=0.2)
    fine = series[sizes[1]]
    assert 0.0 < fine.error < largest
    assert np.abs(fine.computed - fine.exact).max() <= fine.error / 100 + 1e-12
    assert np.ptp(fine.exact) > 0.2


def test_a_heated_cavity_has_the_published_nusselt_number():
    for n, error in ((16, 3e-3), (24, 2e-3)):
        s, nusselt = solve_heated_cavity(n, 1e3, Device("cpu"))
        assert nusselt == pytest.approx(NUSSELT[1e3], rel=error)
        cold = s.scalars["temperature"].nusselt("x+", difference=-1.0, length=n, area=n)
        assert cold == pytest.approx(nusselt, rel=2e-3)


def test_convection_sets_in_at_the_critical_rayleigh_number():
    """The error falls at second order: 5.2, 1.3 and 0.3 % of 1707.762 with 8, 16 and 32 cells."""
    solution = FLOW["onset of convection"].solve(12, Device("cpu"))
    assert 1.5 < solution.error < 3.0
    below, above = solution.computed
    assert below < 0.0 < above


def test_a_cavity_is_near_the_published_one():
    solution = FLOW["cavity, Re 100"].solve(16, Device("cpu"))
    assert solution.error < 1.5
    assert GHIA.shape == (15, 1 + len(CAVITIES))
    assert find_order({16: solution}) is None
