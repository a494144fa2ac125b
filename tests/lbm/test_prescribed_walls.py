"""Walls, inlets, outlets and forces that are functions of position and time."""

import numpy as np
import pytest

import lbm
from flows import follow, pair_in
from lbm_runs import read_text

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
        "y": lbm.NoSlip(), "z": lbm.NoSlip(),
    },
    "pulse": {
        "x-": lbm.VelocityInlet(lambda t: (0.05 * np.sin(0.7 * t), 0.0, 0.0)),
        "x+": lbm.PressureOutlet(lambda t: 1.0 + 0.01 * np.cos(t)),
        "y": lbm.NoSlip(), "z": lbm.FreeSlip(),
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
}  # fmt: skip


def alternating_force(t):
    return 1e-4 * np.cos(t), 0.0, 2e-5 * t


@pytest.mark.parametrize("has_force", [False, True])
@pytest.mark.parametrize("name", FLOWS)
def test_steps_match_the_reference(device, name, has_force):
    force = alternating_force if has_force else (1e-300, 0.0, 0.0)
    settings = {"boundaries": FLOWS[name], "force": force}
    ours, theirs = pair_in(SHAPE, settings, dtype="float64", device=device)
    follow(ours, theirs, 3, 1e-13)
    ours.run(1)  # two steps at once
    theirs.step()
    follow(ours, theirs, 1, 1e-13)


def test_there_may_be_more_rows_than_a_byte_counts(device):
    """Every point of a wall that moves in time has a row of its own."""
    wall = lbm.MovingWall(lambda x, y, z, t: (0.1 * np.sin(x + 2 * z + t), 0.0, 0.0))
    settings = {"boundaries": {"y-": wall, "y+": lbm.NoSlip()}, "force": (1e-300, 0.0, 0.0)}
    ours, theirs = pair_in((20, 4, 20), settings, dtype="float64", device=device)
    follow(ours, theirs, 2, 1e-13)
    assert ours.problem.links.wall_rows.dtype == np.uint16
    assert ours.problem.links.classes.dtype == np.uint16


@pytest.mark.simulator
def test_two_steps_of_a_tiny_flow(device):
    settings = {"force": alternating_force, "boundaries": {
        "x-": lbm.VelocityInlet(lambda x, y, z, t: (0.02 * y, 0.01 * t, 0.0)),
        "x+": lbm.PressureOutlet(lambda t: 1.0 + 0.01 * t),
    }}  # fmt: skip
    follow(*pair_in((4, 3, 2), settings, dtype="float64", device=device), 2, 1e-13)


def test_a_rotating_body_keeps_the_mass():
    """Any rigid motion does, whatever the shape: the sum over links telescopes."""
    shape = (16, 14, 9)
    cells = np.random.default_rng(8).random(shape) < 0.15
    cells[:, :, [0, -1]] = cells[:, [0, -1]] = cells[[0, -1]] = False
    wall = lbm.MovingWall(lambda x, y, z: (0.01 * (z - 4) - 0.004 * y, 0.004 * x, -0.01 * (x - 7)))
    s = lbm.Simulation(
        shape, boundaries={"body": lbm.Solid(cells, wall)}, dtype="float64", device="cpu",
        force=(1e-300, 0.0, 0.0),  # it is lost, and takes the code of the test above
    ).run(40)  # fmt: skip
    assert abs(s.drho[s.fluid].sum()) < 1e-12
    assert np.abs(s.u).max() > 0.01


def test_the_flow_rate_of_a_parabola_is_exact():
    """In the first step nothing leaves, and all that enters stays."""
    n, top = 9, 0.06
    profile = lbm.VelocityInlet(lambda x, y, z: (4 * top * y * (n - y) / n**2, 0.0, 0.0))
    walls = {"x-": profile, "x+": lbm.PressureOutlet(), "y": lbm.NoSlip()}
    s = lbm.Simulation((3, n, 1), boundaries=walls, dtype="float64", device="cpu").run(1)
    assert s.drho.sum() == pytest.approx(2 / 3 * top * n, rel=1e-12)


@pytest.mark.parametrize(("boundaries", "error", "words"), [
    ({"x-": lambda: lbm.VelocityInlet(lambda a, b: (0, 0, 0))}, TypeError, "with 2 arguments"),
    ({"y": lambda: lbm.MovingWall(lambda t: (0, 0.1, 0))}, ValueError, "through its own plane"),
    ({"y": lambda: lbm.MovingWall(lambda t: (np.nan, 0, 0))}, ValueError, "not finite"),
    ({"y": lambda: lbm.MovingWall(lambda x, y, z: (x[:2], 0, 0))}, ValueError, "as long as"),
])  # fmt: skip
def test_bad_functions(boundaries, error, words):
    with pytest.raises(error, match=words):
        lbm.Simulation(SHAPE, boundaries={k: make() for k, make in boundaries.items()},
                       device="cpu")  # fmt: skip


CASE = """
title = "driven"
shape = [12, 8, 6]
steps = 5
fluid.tau = 0.7
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


def test_a_case_file_has_parabolas_ramps_and_rotations(tmp_path):
    walls = read_text(tmp_path, CASE).arguments["boundaries"]
    y = np.array([0.0, 2.0, 4.0, 8.0])
    inlet = walls["x-"].velocity
    assert inlet(0 * y, y, 0 * y, 9.0)[0] == pytest.approx([0.0, 0.03, 0.04, 0.0])
    assert inlet(0 * y, y, 0 * y, 2.0)[0] == pytest.approx([0.0, 0.015, 0.02, 0.0])
    spin = walls["wheel"].condition.velocity(np.array([8.0]), np.array([5.0]), np.array([1.0]))
    assert np.ravel(spin) == pytest.approx([-0.01, 0.02, 0.0])
