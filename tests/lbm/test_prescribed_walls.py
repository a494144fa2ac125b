"""Walls, inlets, outlets and forces that are functions of position and time."""

import numpy as np
import pytest

import lbm
from lbm._cases.case import read_case
from lbm._model.wall_links import mass_inflow_of_classes
from lbm.reference import Reference

SHAPE = (10, 7, 6)
CENTRE = 5.0, 3.5


def rotation(rate):
    """Return the velocity of a body that rotates about an axis along z."""
    return lambda x, y, z: (-rate * (y - CENTRE[1]), rate * (x - CENTRE[0]), 0.0 * z)


def body(x, y, z):
    return ((x - CENTRE[0]) ** 2 + (y - CENTRE[1]) ** 2 < 3.0) & (abs(z - 3.0) < 1.2)


FLOWS = {
    "profile": {
        "x-": lbm.VelocityInlet(lambda x, y, z: (0.002 * y * (7 - y) * z * (6 - z), 0 * y, 0 * z)),
        "x+": lbm.PressureOutlet(lambda x, y, z: 1.0 + 0.001 * y),
        "y": lbm.NoSlip(),
        "z": lbm.NoSlip(),
    },
    "pulse": {
        "x-": lbm.VelocityInlet(lambda t: (0.05 * np.sin(0.7 * t), 0.0, 0.0)),
        "x+": lbm.PressureOutlet(lambda t: 1.0 + 0.01 * np.cos(t)),
        "y": lbm.NoSlip(),
        "z": lbm.FreeSlip(),
    },
    "waves": {
        "y-": lbm.MovingWall(lambda x, y, z, t: (0.05 * np.sin(x - t), 0.0, 0.02 * np.cos(x + z))),
        "y+": lbm.MovingWall(lambda t: (0.03 * np.cos(0.3 * t), 0.0, 0.0)),
        "body": lbm.Solid(body, lbm.MovingWall(rotation(0.02))),
    },
    "floor": {
        "z-": lbm.NoSlip(),
        "z+": lbm.MovingWall((0.02, 0.01, 0.0)),
        "body": lbm.Solid(
            lambda x, y, z: (abs(x - 5) < 2) & (abs(y - 3) < 1) & (z < 2),
            lbm.MovingWall(lambda x, y, z, t: (0.01 * np.cos(t) * y, 0.01 * x, 0.01 * z)),
        ),
    },
}


def alternating_force(t):
    return 1e-4 * np.cos(t), 0.0, 2e-5 * t


def make_pair(name, device, **options):
    """Return a simulation in float64 and its reference, from the same start."""
    rng = np.random.default_rng(3)
    settings = {"collision": lbm.TRT(0.7), "boundaries": FLOWS[name]} | options
    s = lbm.Simulation(SHAPE, dtype="float64", device=device, **settings)
    reference = Reference(SHAPE, **settings)
    rho, u = 1 + 0.01 * rng.random(SHAPE), 0.01 * rng.random((3, *SHAPE))
    s.set(rho=np.where(s.fluid, rho, 1.0), u=np.where(s.fluid, u, 0.0))
    reference.set(rho, u)
    return s, reference


def assert_same(s, reference):
    rho, u = reference.moments()
    assert np.abs(s.rho - rho).max() < 1e-13
    assert np.abs(s.u - u).max() < 1e-13


@pytest.mark.parametrize("name", FLOWS)
def test_steps_match_the_reference(device, name):
    s, reference = make_pair(name, device)
    for _ in range(3):
        s.run(1)
        reference.step()
        assert_same(s, reference)
    s.run(2)
    reference.step()
    reference.step()
    assert_same(s, reference)


def test_there_may_be_more_rows_than_a_byte_counts(device):
    """Every point of a wall that moves in time has a row of its own."""
    shape = (20, 4, 20)
    wall = lbm.MovingWall(lambda x, y, z, t: (0.1 * np.sin(x + 2 * z + t), 0.0, 0.0))
    settings = {"collision": lbm.TRT(0.7), "boundaries": {"y-": wall, "y+": lbm.NoSlip()}}
    s = lbm.Simulation(shape, dtype="float64", device=device, **settings).run(2)
    assert s.problem.links.wall_rows.dtype == np.uint16
    assert s.problem.links.classes.dtype == np.uint16
    reference = Reference(shape, **settings)
    reference.step()
    reference.step()
    assert_same(s, reference)


@pytest.mark.simulator
def test_two_steps_of_a_tiny_flow(device):
    shape = (4, 3, 2)
    settings = {"collision": lbm.TRT(0.7), "force": alternating_force, "boundaries": {
        "x-": lbm.VelocityInlet(lambda x, y, z, t: (0.02 * y, 0.01 * t, 0.0)),
        "x+": lbm.PressureOutlet(lambda t: 1.0 + 0.01 * t),
    }}  # fmt: skip
    s = lbm.Simulation(shape, dtype="float64", device=device, **settings).run(2)
    reference = Reference(shape, **settings)
    reference.step()
    reference.step()
    assert_same(s, reference)


def test_a_force_in_time(device):
    s, reference = make_pair("waves", device, force=alternating_force)
    assert_same(s, reference)
    for steps in (1, 2):
        s.run(steps)
        for _ in range(steps):
            reference.step()
        assert_same(s, reference)


def test_parts_have_the_same_bits(device):
    whole = make_pair("waves", device, force=alternating_force)[0].run(5)
    parts = make_pair("waves", [device] * 2, force=alternating_force)[0].run(5)
    assert np.array_equal(whole.populations(), parts.populations())


def test_a_restart_goes_on(device, tmp_path):
    """The functions are taken at the time of the checkpoint, not at 0."""
    straight = make_pair("waves", device, force=alternating_force)[0].run(4)
    straight.save(tmp_path / "state")
    straight.run(3)
    again = make_pair("waves", device, force=alternating_force)[0].restore(tmp_path / "state")
    assert np.array_equal(again.run(3).populations(), straight.populations())
    assert np.array_equal(again.force_on("body"), straight.force_on("body"))


def test_a_rotating_body_keeps_the_mass():
    """Any rigid motion does, whatever the shape: the sum over links telescopes."""
    shape = (16, 14, 9)
    cells = np.random.default_rng(8).random(shape) < 0.15
    cells[:, :, [0, -1]] = cells[:, [0, -1]] = cells[[0, -1]] = False
    wall = lbm.MovingWall(lambda x, y, z: (0.01 * (z - 4) - 0.004 * y, 0.004 * x, -0.01 * (x - 7)))
    s = lbm.Simulation(
        shape, boundaries={"body": lbm.Solid(cells, wall)}, dtype="float64", device="cpu"
    ).run(40)
    assert abs(s.drho[s.fluid].sum()) < 1e-12
    assert np.abs(s.u).max() > 0.01


def test_the_flow_rate_of_a_parabola_is_exact():
    n, top = 9, 0.06
    profile = lbm.VelocityInlet(lambda x, y, z: (4 * top * y * (n - y) / n**2, 0.0, 0.0))
    s = lbm.Simulation(
        (1, n, 1),
        boundaries={"x-": profile, "x+": lbm.PressureOutlet(), "y": lbm.NoSlip()},
        dtype="float64",
        device="cpu",
    )
    links = s.problem.links
    inflow = mass_inflow_of_classes(links)[0][links.classes].sum()
    assert inflow == pytest.approx(2 / 3 * top * n, rel=1e-13)


def test_an_oscillating_wall():
    """Stokes' second problem: u = U exp(-k y) cos(w t - k y), k = sqrt(w / (2 nu))."""
    n, speed, period, tau = 64, 0.05, 800, 0.8
    w, nu = 2 * np.pi / period, (tau - 0.5) / 3
    lid = lbm.MovingWall(lambda t: (speed * np.cos(w * t), 0.0, 0.0))
    s = lbm.Simulation(
        (1, n, 1), collision=lbm.TRT(tau), boundaries={"y-": lid, "y+": lbm.NoSlip()},
        dtype="float64", device="cpu",
    ).run(4 * period + 130)  # fmt: skip
    k = (1 + 1j) * np.sqrt(w / (2 * nu))
    y = np.arange(n) + 0.5
    exact = (speed * np.exp(1j * w * s.steps) * np.sinh(k * (n - y)) / np.sinh(k * n)).real
    assert np.abs(s.u[0, 0, :, 0] - exact).max() < 6e-4 * speed  # half a step late: 4e-3


def test_a_pulsating_channel():
    """Womersley's flow between plates, driven by a force A cos(w t)."""
    n, amplitude, period, tau = 20, 1e-4, 600, 0.8
    w, nu = 2 * np.pi / period, (tau - 0.5) / 3
    s = lbm.Simulation(
        (1, n, 1), collision=lbm.TRT(tau), boundaries={"y": lbm.NoSlip()},
        force=lambda t: (amplitude * np.cos(w * t), 0.0, 0.0), dtype="float64", device="cpu",
    ).run(6 * period + 77)  # fmt: skip
    k = np.sqrt(1j * w / nu)
    y = np.arange(n) + 0.5 - n / 2
    shape = 1 - np.cosh(k * y) / np.cosh(k * n / 2)
    exact = (amplitude / (1j * w) * shape * np.exp(1j * w * s.steps)).real
    assert np.abs(s.u[0, 0, :, 0] - exact).max() < 2e-3 * np.abs(exact).max()


@pytest.mark.parametrize(
    ("boundaries", "error", "words"),
    [
        ({"x-": lambda: lbm.VelocityInlet(lambda a, b: (0, 0, 0))}, TypeError, "with 2 arguments"),
        ({"y": lambda: lbm.MovingWall(lambda t: (0, 0.1, 0))}, ValueError, "through its own plane"),
        ({"y": lambda: lbm.MovingWall(lambda t: (0.9, 0, 0))}, ValueError, "at most 0.3"),
        ({"y": lambda: lbm.MovingWall(lambda t: (0.1, 0))}, ValueError, "3 components"),
        ({"y": lambda: lbm.MovingWall(lambda t: (np.nan, 0, 0))}, ValueError, "not finite"),
        ({"y": lambda: lbm.MovingWall(lambda x, y, z: (x[:2], 0, 0))}, ValueError, "as long as"),
        ({"y": lambda: lbm.PressureOutlet(lambda t: 3.0)}, ValueError, "rho"),
    ],
)
def test_bad_functions(boundaries, error, words):
    with pytest.raises(error, match=words):
        lbm.Simulation(
            SHAPE, boundaries={k: make() for k, make in boundaries.items()}, device="cpu"
        )


def test_bad_forces():
    with pytest.raises(TypeError, match="same in all cells"):
        lbm.Simulation(SHAPE, force=lambda x, y, z: (x, y, z), device="cpu")
    with pytest.raises(ValueError, match="three numbers"):
        lbm.Simulation(SHAPE, force=lambda t: (1.0, 2.0), device="cpu")


CASE = """
title = "driven"
shape = [12, 8, 6]
steps = 5

[fluid]
tau = 0.7

[boundaries]
"x-" = { type = "velocity-inlet", velocity = [0.04, 0.0, 0.0], parabola = "y", ramp = 4 }
"x+" = { type = "pressure-outlet" }
y = "no-slip"

[solids.wheel]
shape = "cylinder"
centre = [6.0, 4.0]
radius = 1.6
condition = { type = "moving-wall", angular_velocity = [0.0, 0.0, 0.01], centre = [6.0, 4.0, 0.0] }
"""

UNITS = """
[units]
length = 1.0
cells = 8
speed = 0.5
viscosity = 0.05
"""


def test_a_case_file_has_parabolas_ramps_and_rotations(tmp_path):
    (tmp_path / "case.toml").write_text(CASE)
    walls = read_case(tmp_path / "case.toml").arguments["boundaries"]
    y = np.array([0.0, 2.0, 4.0, 8.0])
    inlet = walls["x-"].velocity
    assert inlet(0 * y, y, 0 * y, 9.0)[0] == pytest.approx([0.0, 0.03, 0.04, 0.0])
    assert inlet(0 * y, y, 0 * y, 2.0)[0] == pytest.approx([0.0, 0.015, 0.02, 0.0])
    spin = walls["wheel"].condition.velocity(np.array([8.0]), np.array([5.0]), np.array([1.0]))
    assert np.ravel(spin) == pytest.approx([-0.01, 0.02, 0.0])


def test_si_units_of_prescribed_walls(tmp_path):
    text = (
        CASE.replace("steps = 5", "time = 1.0")
        .replace("[fluid]\ntau = 0.7", "")
        .replace("0.04", "0.5")
    )
    text = text.replace("radius = 1.6", "radius = 0.2").replace("[6.0, 4.0]", "[0.75, 0.5]")
    text = text.replace("[6.0, 4.0, 0.0]", "[0.75, 0.5, 0.0]")
    text = text.replace("0.01]", "0.8]").replace("ramp = 4", "ramp = 2.0")
    (tmp_path / "case.toml").write_text(text + UNITS)
    case = read_case(tmp_path / "case.toml")
    units, walls = case.scales.units, case.arguments["boundaries"]
    middle = walls["x-"].velocity(np.zeros(1), np.full(1, 4.0), np.zeros(1), 1.0 / units.dt)[0]
    assert middle == pytest.approx(0.5 * units.to_lattice(speed=0.5))
    edge = walls["wheel"].condition.velocity(np.full(1, 7.0), np.full(1, 4.0), np.zeros(1))[1]
    assert edge == pytest.approx(units.to_lattice(speed=0.8 * units.dx))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('parabola = "y"', 'parabola = "w"', "boundaries.x-.parabola"),
        ("ramp = 4", "ramp = -1", "ramp"),
        (", centre = [6.0, 4.0, 0.0]", "", "centre"),
        ("0.01]", "0.9]", "at most 0.3"),
    ],
)
def test_mistakes_in_case_files_name_the_key(old, new, words, tmp_path):
    (tmp_path / "case.toml").write_text(CASE.replace(old, new))
    with pytest.raises(ValueError, match=words):
        lbm.Simulation(**read_case(tmp_path / "case.toml").arguments)
