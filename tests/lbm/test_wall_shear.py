"""Wall shear stress and y+: beside exact solutions, another formula, on parts, and in files."""

import numpy as np
import pytest

import lbm
from flows import FLOWS, SHAPE, noisy

VISCOSITY = 0.1
TAU = 0.5 + 3.0 * VISCOSITY


def run(shape, steps, **options):
    """Run a flow in float64 on the CPU."""
    s = lbm.Simulation(shape, collision=lbm.TRT(TAU), dtype="float64", device="cpu", **options)
    return s.run(steps)


def error(shear, exact):
    """Return (largest, root mean square) error of the stress, relative to the largest stress."""
    size = np.linalg.norm(exact, axis=-1).max()
    errors = np.linalg.norm(shear.stress - exact, axis=1) / size
    return errors.max(), np.sqrt((errors**2).mean())


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_plates_are_exact(axis):
    """Both faces of Poiseuille's flow carry half of the force; y+ follows from it."""
    n, shape, force = 8, [2, 2, 2], [0.0, 0.0, 0.0]
    shape[axis], force[axis - 1] = n, 1e-4
    name = "xyz"[axis]
    s = run(tuple(shape), 1200, boundaries={name: lbm.NoSlip()}, force=force)
    for face, normal in ((f"{name}-", 1.0), (f"{name}+", -1.0)):
        shear = s.wall_shear(face)
        assert len(shear) == 4
        assert error(shear, np.array(force) * n / 2)[0] < 1e-6
        assert np.allclose(shear.normals, normal * np.eye(3)[axis])
        assert np.allclose(shear.distance, 0.5)
        assert shear.viscosity == pytest.approx(VISCOSITY)
        assert shear.friction_velocity == pytest.approx(np.sqrt(1e-4 * n / 2), rel=1e-6)
        assert shear.y_plus == pytest.approx(0.5 * shear.friction_velocity / VISCOSITY)


@pytest.mark.parametrize("moves", [(0.02, 0.0, 0.01), lambda t: (0.02, 0.0, 0.01)])
def test_moving_plates_are_exact(moves):
    n = 6
    s = run((2, n, 2), 800, boundaries={"y-": lbm.NoSlip(), "y+": lbm.MovingWall(moves)})
    drag = VISCOSITY * np.array([0.02, 0.0, 0.01]) / n
    assert error(s.wall_shear("y-"), drag)[0] < 1e-6
    assert error(s.wall_shear("y+"), -drag)[0] < 1e-6


def test_flat_solids_are_exact():
    """A wall of cells has the stress of a face, though its links are those of a staircase."""
    cells = np.zeros((3, 10, 3), bool)
    cells[:, :2] = True
    walls = {"y+": lbm.NoSlip(), "y-": lbm.NoSlip(), "floor": lbm.Solid(cells)}
    shear = run((3, 10, 3), 1200, boundaries=walls, force=(1e-4, 0.0, 0.0)).wall_shear("floor")
    assert error(shear, np.array([4e-4, 0.0, 0.0]))[0] < 1e-6
    assert np.allclose(shear.points[:, 1], 2.0)
    assert np.allclose(shear.normals, (0.0, 1.0, 0.0))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_gap_of_one_cell_is_exact(axis):
    """Poiseuille's flow between a face and a wall of cells, and Couette's between two faces."""
    shape, force, cells = [3, 3, 3], [0.0, 0.0, 0.0], np.zeros((3, 3, 3), bool)
    name, force[axis - 1] = "xyz"[axis], 1e-4
    np.moveaxis(cells, axis, 0)[:2] = True
    walls = {name: lbm.NoSlip(), "floor": lbm.Solid(cells)}
    s = run(tuple(shape), 100, boundaries=walls, force=force)
    for wall in ("floor", f"{name}+"):
        assert error(s.wall_shear(wall), np.array(force) / 2)[0] < 1e-6
    shape[axis] = 1
    lid = lbm.MovingWall(tuple(np.roll([0.0, 0.02, 0.0], axis)))
    s = run(tuple(shape), 100, boundaries={f"{name}-": lbm.NoSlip(), f"{name}+": lid})
    drag = VISCOSITY * np.array(lid.velocity)
    assert error(s.wall_shear(f"{name}-"), drag)[0] < 1e-6
    assert error(s.wall_shear(f"{name}+"), -drag)[0] < 1e-6


BODY = lbm.Solid(lbm.HalfSpace((0.0, 1.2, 0.0), (0.0, -1.0, 0.0)), wall="interpolated")


@pytest.mark.parametrize(("n", "others"), [
    (1, {"y+": lbm.PressureOutlet()}), (6, {"y+": lbm.NoSlip(), "body": BODY}),
], ids=["outlet", "interpolated"])  # fmt: skip
def test_one_cell_between_a_wall_and_something_else(n, others):
    """There a straight line remains: no velocity is known half-way behind the cell."""
    s = lbm.Simulation((3, n, 3), boundaries={"y-": lbm.NoSlip()} | others, dtype="float64",
                       collision=lbm.TRT(TAU), u=(0.01, 0.0, 0.0), device="cpu")  # fmt: skip
    assert s.fluid.sum() == 9
    assert s.wall_shear("y-").stress[:, 0] == pytest.approx(VISCOSITY * 0.01 / 0.5, rel=1e-3)


def stress_of_populations(s):
    """Return the viscous stress [i, j, x, y, z] from the second moments of f - f_eq."""
    c, w = np.array(lbm.D3Q19.velocities, float), np.array(lbm.D3Q19.weights)
    f = s.populations() + w[:, None, None, None]
    rho, u = s.rho, s.u
    cu = np.tensordot(c, u, 1)
    square = (u**2).sum(axis=0)
    f -= w[:, None, None, None] * rho * (1.0 + 3.0 * cu + 4.5 * cu**2 - 1.5 * square)
    return -(1.0 - 0.5 / TAU) * np.einsum("qi,qj,qxyz->ijxyz", c, c, f)


def test_the_stress_of_the_populations_agrees_at_a_sphere():
    """Another formula, without distances or differences of velocities: the stress in the cells.

    It is continued to the wall from the cell beside it and the next one outwards.
    """
    ball = lbm.Sphere((16.2, 12.1, 12.3), 6.0)
    s = run((32, 24, 24), 400, boundaries={"ball": lbm.Solid(ball, wall="interpolated")},
            u=(0.02, 0.0, 0.0))  # fmt: skip
    shear = s.wall_shear("ball")
    radial = shear.points - ball.centre
    radial /= np.linalg.norm(radial, axis=1)[:, None]
    assert (radial * shear.normals).sum(axis=1).min() > 0.999
    assert np.abs((shear.stress * shear.normals).sum(axis=1)).max() < 1e-12
    stress, height, along = stress_of_populations(s), [], []
    for cells in (shear.cells, shear.cells + np.rint(radial).astype(int)):
        traction = np.einsum("ijk,kj->ki", stress[:, :, *cells.T], radial)
        along.append(traction - (traction * radial).sum(axis=1)[:, None] * radial)
        height.append(np.linalg.norm(cells + 0.5 - ball.centre, axis=1) - ball.radius)
    share = (height[0] / (height[1] - height[0]))[:, None]
    theirs = along[0] + share * (along[0] - along[1])
    size = np.linalg.norm(theirs, axis=1).max()
    difference = np.linalg.norm(shear.stress - theirs, axis=1)
    assert np.sqrt((difference**2).mean()) < 0.12 * size


def test_it_is_the_same_on_parts_and_devices(device):
    rho, u = noisy(SHAPE)
    one, other = (
        lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), rho=rho, u=u, device=devices,
                       dtype="float64", decomposition=grid, **FLOWS["interpolated walls"]).run(3)
        for devices, grid in (("cpu", (1, 1, 1)), ([device] * 2, (1, 1, 2)))
    )  # fmt: skip
    for name in ("y-", "y+", "ball", "rod"):
        ours, theirs = one.wall_shear(name), other.wall_shear(name)
        assert np.array_equal(ours.cells, theirs.cells)
        assert np.abs(ours.stress - theirs.stress).max() < 1e-15


def test_files_hold_it(tmp_path):
    pytest.importorskip("xarray")
    walls = {"y": lbm.NoSlip(), "ball": lbm.Solid(lbm.Sphere((6, 5, 4), 2.2), wall="interpolated")}
    units = lbm.Units(dx=0.01, dt=0.5, density=1000.0, tau=TAU)
    s = run((12, 10, 8), 20, boundaries=walls, force=(1e-4, 0.0, 0.0))
    lattice = s.to_xarray(derived=["wall_shear"])
    physical = s.to_xarray(units=units, derived=["wall_shear", "q"])
    stress, y_plus = (lattice[name].values for name in ("wall_shear", "y_plus"))
    assert np.array_equal(physical["y_plus"].values, y_plus)
    assert np.allclose(physical["wall_shear"].values, stress * 1000.0 * (0.01 / 0.5) ** 2)
    assert physical["wall_shear"].attrs["units"] == "Pa"
    shear = s.wall_shear("y-")
    assert np.array_equal(stress[:, *shear.cells.T].T, shear.stress)
    assert np.array_equal(y_plus[*shear.cells.T], shear.y_plus)
    assert not stress[:, 6, 8, 6].any()  # in no cell beside a wall
    pytest.importorskip("vtkmodules.vtkIOXML")
    from vtk_images import read_image

    _, fields = read_image(s.write_vtk(tmp_path / "flow", derived=["wall_shear"]))
    assert np.array_equal(fields["wall_shear"], stress)
