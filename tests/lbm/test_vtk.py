"""VTK files, as VTK's own reader sees them."""

import numpy as np
import pytest

import lbm
from vtk_images import read_image, time_of

pytest.importorskip("vtkmodules.vtkIOXML")

SHAPE = (12, 9, 7)
UNITS = lbm.Units(dx=2e-3, dt=5e-4, density=998.0, tau=0.6)


def flow(**options):
    y_walls = {"y": lbm.NoSlip(), "ball": lbm.Solid(lbm.geometry.sphere(SHAPE, (6, 4, 3), 2))}
    return lbm.Simulation(SHAPE, boundaries=y_walls, force=(1e-4, 0.0, 2e-5), dtype="float64",
                          device="cpu", **options).run(30)  # fmt: skip


def test_vtk_reads_the_fields_in_lattice_units_and_in_si_units(tmp_path):
    """A velocity and the lengths of its cells belong together: so gradients are in 1/s."""
    s = flow()
    image, fields = read_image(s.write_vtk(tmp_path / "flow"))
    assert set(fields) == {"rho", "drho", "u", "fluid"}
    for name, values in fields.items():
        np.testing.assert_array_equal(values, getattr(s, name))
    assert image.GetSpacing() == (1.0, 1.0, 1.0)
    assert time_of(image) == [30.0]
    image, fields = read_image(s.write_vtk(tmp_path / "flow", units=UNITS))
    assert set(fields) == {"pressure", "u", "fluid"}
    metres_a_second = UNITS.dx / UNITS.dt
    np.testing.assert_allclose(fields["u"], s.u * metres_a_second, rtol=1e-14)
    pascals = UNITS.density * metres_a_second**2 * s.drho / 3.0
    np.testing.assert_allclose(fields["pressure"], pascals, rtol=1e-14)
    assert image.GetSpacing() == (UNITS.dx,) * 3
    assert time_of(image) == [pytest.approx(30 * UNITS.dt)]


def solid_body_rotation(shape, rate):
    x, y, _ = lbm.geometry.centres(shape)
    u = np.zeros((3, *shape))
    u[0], u[1] = -rate * (y - shape[1] / 2), rate * (x - shape[0] / 2)
    return u


@pytest.mark.parametrize(("units", "rate"), [(None, 1.0), (UNITS, 1.0 / UNITS.dt)])
def test_the_vorticity_of_a_rotation_is_twice_its_rate(units, rate, tmp_path):
    """Also beside walls, where the differences are one-sided: the velocity is linear."""
    shape = (10, 8, 4)
    s = lbm.Simulation(shape, boundaries={"x": lbm.NoSlip(), "y": lbm.NoSlip()}, dtype="float64",
                       u=solid_body_rotation(shape, 1e-3), device="cpu")  # fmt: skip
    path = s.write_vtk(tmp_path / "flow", units=units, derived=("vorticity", "q"))
    _, fields = read_image(path)
    np.testing.assert_allclose(fields["vorticity"][2], 2e-3 * rate, rtol=1e-10)
    np.testing.assert_allclose(fields["vorticity"][:2], 0.0, atol=1e-16 * rate)
    np.testing.assert_allclose(fields["q"], 1e-6 * rate**2, rtol=1e-10)


@pytest.mark.parametrize("has_body", [False, True])
def test_derived_fields_of_a_shear_flow(has_body, tmp_path):
    """One-sided differences of a linear velocity are exact, and see no zeros inside a body."""
    shape = (8, 8, 8)
    u, cells = np.zeros((3, *shape)), np.zeros(shape, bool)
    u[0] = 1e-3 * np.arange(8)[None, :, None]
    cells[3:5, 3:5, 3:5] = has_body
    walls = {"y": lbm.NoSlip()} | ({"body": lbm.Solid(cells)} if has_body else {})
    s = lbm.Simulation(shape, boundaries=walls, dtype="float64", u=u, device="cpu")
    _, fields = read_image(s.write_vtk(tmp_path / "flow", derived=["q", "vorticity", "strain"]))
    np.testing.assert_allclose(fields["q"], 0.0, atol=1e-18)
    np.testing.assert_allclose(fields["strain"][~cells], 1e-3, rtol=1e-10)
    np.testing.assert_allclose(fields["vorticity"][2][~cells], -1e-3, rtol=1e-10)
    assert (fields["vorticity"][2][cells] == 0.0).all()


def test_a_state_that_is_not_finite_is_not_written(tmp_path):
    s = flow(check=0)
    path = s.write_vtk(tmp_path / "flow")
    before = path.read_bytes()
    data = np.zeros((4, 7, 9, 12))
    data[1, 5, 6, 1] = np.nan
    s.domain.write(0, 0, data)
    s.mark_changed(0)
    with pytest.raises(lbm.UnstableError, match=r"not finite in cell \(1, 6, 5\) and was not"):
        s.write_vtk(path)
    assert path.read_bytes() == before
