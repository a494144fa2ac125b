"""The studies of curved walls and of currents in ducts find what their pages say."""

import numpy as np
import pytest

from hetero import Device
from lbm import TRT
from lbm.lattices import D3Q19, D3Q27
from studies.lbm.lattices import AXIAL_SPEED, SECTIONS, solve_duct
from studies.lbm.walls import cylinders_excess, pipe_errors, spheres_excess

CPU = Device("cpu")


def test_interpolated_walls_have_small_errors_of_the_stress():
    mean, largest = pipe_errors(6, "interpolated", CPU)
    assert mean < 0.5 * largest < 2.0
    assert pipe_errors(6, "halfway", CPU)[1] > 20.0 * largest


@pytest.mark.parametrize(("excess", "radius"), [(cylinders_excess, 4.0), (spheres_excess, 2.5)])
def test_the_excess_of_a_flux_is_that_of_the_page(excess, radius):
    expected = {4.0: (5.2, -0.50), 2.5: (0.8, -2.5)}[radius]
    found = [excess(radius, kind, CPU) for kind in ("halfway", "interpolated")]
    assert found == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("section", SECTIONS)
def test_only_the_smaller_lattice_has_currents_across_a_duct(section):
    for lattice, least, most in ((D3Q19, 1e-4, 1e-2), (D3Q27, 0.0, 1e-14)):
        u = solve_duct(section, 8, TRT(0.6), lattice, CPU)
        assert u[0].max() == pytest.approx(AXIAL_SPEED, rel=0.05)
        assert least <= np.hypot(u[1], u[2]).max() / u[0].max() < most
