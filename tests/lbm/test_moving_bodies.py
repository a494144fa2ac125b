"""Solids that move through cells: what they take, walls that exist at rest, restarts, refusals."""

from contextlib import nullcontext

import numpy as np
import pytest

import lbm
from lbm_runs import read_text
from studies.lbm.moving_bodies import (
    carry_sphere,
    oscillate_cylinder,
    turn_cylinders,
)
from surfaces import box, mesh_of

OPTIONS = {"dtype": "float64", "device": "cpu"}
BALL = lbm.Sphere((5.3, 7.2, 7.4), 2.2)
FORWARD = lbm.Translation((0.06, -0.03, 0.02))


def tumble(shape, wall="interpolated"):
    """Return a solid that moves and turns about an oblique axis."""
    spin = lbm.Rotation((12.1, 8.2, 7.8), (0.3, 0.2, 1.0), 0.015)
    return lbm.Solid(shape, wall=wall, motion=(spin, lbm.Translation((-0.05, 0.0, 0.01))))


def totals(s):
    """Return mass and momentum of the fluid, and what bodies have taken of both."""
    fluid = s.fluid
    mass = float(s.drho[fluid].sum(dtype=float)) + int(fluid.sum())
    taken = sum(b.mass_taken for b in s.bodies.values())
    return mass + taken, s.momentum() + sum(b.momentum_taken for b in s.bodies.values())


@pytest.mark.simulator
@pytest.mark.parametrize("wall", ["halfway", "interpolated"])
def test_bodies_take_what_the_fluid_loses(device, wall):
    # The ball runs through a periodic face; cells are covered and left.
    motion = lbm.Translation((0.2, 0.1, 0))
    ball = lbm.Solid(lbm.Sphere((8.3, 4.2, 4.4), 1.6), wall=wall, motion=motion)
    walls = {"ball": lbm.FixedValue(0.5)} if wall == "interpolated" else {}
    heat = lbm.Scalar(0.1, walls, start=lambda x, y, z: np.sin(x + y + z))
    s = lbm.Simulation((10, 9, 9), boundaries={"ball": ball}, scalars={"heat": heat},
                       dtype="float64", device=device)  # fmt: skip
    heat = s.scalars["heat"]
    before, cells, hot = totals(s), s.fluid, heat.total()
    s.run(5)
    assert heat.total() + heat.taken("ball") == pytest.approx(hot, abs=1e-10)
    assert abs(heat.taken("ball")) > 0.1
    assert not heat.values[~s.fluid].any()
    after = totals(s)
    assert (s.fluid & ~cells).any()
    assert (cells & ~s.fluid).any()
    assert after[0] == pytest.approx(before[0], abs=1e-10)
    assert after[1] == pytest.approx(before[1], abs=1e-10)
    assert abs(s.bodies["ball"].momentum_taken[0]) > 0.01


def test_mass_in_a_closed_box_with_two_bodies():
    boundaries = {
        "x": lbm.NoSlip(), "y": lbm.NoSlip(), "z": lbm.FreeSlip(),
        "ball": lbm.Solid(lbm.Sphere((5.3, 4.2, 4.4), 2.2), motion=FORWARD),
        "bar": tumble(lbm.Box((10, 7, 6), (14, 9, 9))),
        "post": lbm.Solid(lbm.Box((17, 0, 0), (19, 14, 3))),
    }  # fmt: skip
    s = lbm.Simulation((20, 15, 14), boundaries=boundaries, **OPTIONS)
    before, cells = totals(s)[0], s.fluid
    s.run(60)
    assert (s.fluid != cells).sum() > 50
    assert totals(s)[0] == pytest.approx(before, abs=1e-9)
    assert np.abs(s.u[:, s.fluid]).max() < 0.2


@pytest.mark.parametrize("rate", [0.0, 0.01])
@pytest.mark.parametrize("wall", ["halfway", "interpolated"])
def test_a_body_that_spins_is_a_wall_with_a_velocity(wall, rate):
    # Solids that stay in their cells are computed by other code.
    axis, about = np.array([0.6, 0.0, 0.8]), np.array([4.0, 6.0, 8.0])
    ends = {"x-": lbm.VelocityInlet((0.04, 0.0, 0.0)), "x+": lbm.PressureOutlet()}
    others = ends | {"y": lbm.NoSlip()}

    def spin(x, y, z):
        arm = np.stack([x - BALL.centre[0], y - BALL.centre[1], z - BALL.centre[2]])
        return tuple(np.cross(rate * axis, arm, axisb=0, axisc=0))

    turning = lbm.Solid(BALL, wall=wall, motion=lbm.Rotation(BALL.centre, axis, rate))
    resting = lbm.Solid(BALL, lbm.MovingWall(spin), wall)
    first, second = (
        lbm.Simulation((16, 16, 16), boundaries=others | {"ball": ball}, **OPTIONS).run(40)
        for ball in (turning, resting)
    )
    assert (first.fluid == second.fluid).all()
    # Shares of links are found by iteration.
    tolerance = 1e-12 if wall == "halfway" else 1e-5
    assert first.u[:, first.fluid] == pytest.approx(second.u[:, first.fluid], abs=tolerance)
    before = first.bodies["ball"].momentum_taken
    impulse = first.run(1).bodies["ball"].momentum_taken - before
    assert impulse == pytest.approx(second.run(1).force_on("ball"), abs=1e2 * tolerance)
    if not rate:  # else the force leaves out the momentum of mass that walls keep
        assert impulse == pytest.approx(first.force_on("ball"), abs=1e-10)
        torques = first.torque_on("ball", about), second.torque_on("ball", about)
        assert torques[0] == pytest.approx(torques[1], abs=1e2 * tolerance)


@pytest.mark.parametrize("pattern", ["aa", "ab"])
def test_patterns_and_a_restart_give_the_same_flow(pattern, tmp_path):
    def flow(pattern):
        boundaries = {"bar": tumble(lbm.Box((9, 6, 6), (15, 10, 9))), "y": lbm.NoSlip()}
        return lbm.Simulation((22, 16, 16), boundaries=boundaries, pattern=pattern, **OPTIONS)

    s = flow("esoteric").run(21)
    s.save(tmp_path / "a.lbm")
    s.run(40)
    other = flow(pattern).restore(tmp_path / "a.lbm")
    with pytest.raises(ValueError, match="the force on 'bar'"):
        other.force_on("bar")
    with pytest.raises(ValueError, match="the stress on 'bar', which moves"):
        other.wall_shear("bar")
    other.run(40)
    assert (other.u == s.u).all()
    assert (other.fluid == s.fluid).all()
    assert (other.force_on("bar") == s.force_on("bar")).all()
    centre = np.array([12.1, 8.2, 7.8]) + 61 * np.array([-0.05, 0.0, 0.01])
    assert s.bodies["bar"].centre == pytest.approx(centre)


def test_a_restart_counts_anew_what_bodies_take_of_values_of_any_size(tmp_path):
    def flow(start):
        ball = lbm.Solid(lbm.Sphere((8.3, 4.2, 4.4), 1.6), motion=lbm.Translation((0.2, 0.1, 0)))
        return lbm.Simulation((10, 9, 9), boundaries={"ball": ball}, **OPTIONS,
                              scalars={"heat": lbm.Scalar(0.1, start=start)})  # fmt: skip

    flow(1e8).run(3).save(tmp_path / "a.lbm")
    s = flow(0.0).run(5).restore(tmp_path / "a.lbm")
    body, heat = s.bodies["ball"], s.scalars["heat"]
    assert (body.mass_taken, heat.taken("ball")) == (0.0, 0.0)
    before = heat.total()
    s.run(4)
    assert abs(heat.taken("ball")) > 1e7
    assert heat.total() + heat.taken("ball") == pytest.approx(before, rel=1e-13)


def test_a_mesh_moves_as_the_box_that_it_is():
    corners, forces = ((9.0, 6.0, 6.0), (15.0, 10.0, 9.0)), []
    for shape in (lbm.Box(*corners), mesh_of(*box(*corners))):
        s = lbm.Simulation((22, 16, 16), boundaries={"bar": tumble(shape)}, **OPTIONS).run(1)
        forces.append(np.mean([s.run(1).force_on("bar") for _ in range(60)], axis=0))
    # Edges of the grid of heights are rounded.
    assert forces[1] == pytest.approx(forces[0], rel=0.05, abs=0.05 * np.abs(forces[0]).max())


@pytest.mark.parametrize("wall", [None, lbm.FixedValue(1.3)])
def test_what_is_carried_with_a_uniform_stream_leaves_it_uniform(wall):
    stream = np.array([0.1, 0.05, -0.04])
    ball = lbm.Solid(BALL, wall="interpolated", motion=lbm.Translation(stream))
    heat = lbm.Scalar(0.07, {} if wall is None else {"ball": wall}, start=1.3)
    s = lbm.Simulation((15, 16, 14), boundaries={"ball": ball}, u=stream, scalars={"heat": heat},
                       **OPTIONS)  # fmt: skip
    cells = s.run(20).fluid
    s.run(40)
    assert (s.fluid != cells).any()
    assert s.u[:, s.fluid] - stream[:, None] == pytest.approx(0.0, abs=1e-14)
    assert s.scalars["heat"].values[s.fluid] == pytest.approx(1.3, abs=1e-13)
    assert s.scalars["heat"].flux("ball") == pytest.approx(0.0, abs=1e-11)


def test_couette_flow_and_conduction_between_cylinders_that_turn(device):
    coarse, fine = (turn_cylinders(cells, device) for cells in (12, 24))
    assert np.log2(coarse.velocity / fine.velocity) > 1.5
    assert fine.velocity < 0.03
    assert np.log2(coarse.temperature / fine.temperature) > 1.8
    assert abs(fine.flux) < 0.01


@pytest.mark.slow
def test_a_carried_sphere_has_the_drag_of_one_at_rest_and_a_cylinder_oscillates(device):
    drags = carry_sphere(16, device, passages=4.0)
    assert abs(drags.difference) < 0.02
    assert drags.ripple < 0.05
    drag, mass = oscillate_cylinder(24, device)
    assert drag == pytest.approx(2.09, rel=0.05)
    assert mass == pytest.approx(1.45, rel=0.05)


def test_an_eddy_viscosity_sees_the_velocity_of_a_body(device, tmp_path):
    def flow():
        ball = lbm.Solid(lbm.Sphere((8.3, 4.2, 4.4), 1.6), motion=lbm.Translation((0.1, 0.05, 0)))
        return lbm.Simulation((10, 9, 9), collision=lbm.Vreman(0.51, constant=0.3, every=2),
                              boundaries={"ball": ball}, force=(1e-300, 0.0, 0.0), dtype="float64",
                              device=device)  # fmt: skip

    s = flow()
    (mass, momentum), after = totals(s), totals(s.run(6))
    assert after[0] == pytest.approx(mass, abs=1e-10)
    assert after[1] == pytest.approx(momentum, abs=1e-10)
    u = s.u
    assert u[0, ~s.fluid] == pytest.approx(0.1, abs=1e-9)
    gradient = np.stack([(np.roll(u, -1, k) - np.roll(u, 1, k)) / 2.0 for k in (1, 2, 3)], axis=1)
    expected = s.collision.reference_viscosity(gradient)
    assert s.eddy_viscosity == pytest.approx(expected, abs=1e-9)  # roots of rounding
    assert expected.max() > 1e-3
    other = flow().restore(s.run(1).save(tmp_path / "a.lbm"))
    assert (other.run(6).u == s.run(6).u).all()


MOVING = lbm.Solid(BALL, motion=FORWARD)
BLOCK = lbm.Box((1, 3, 3), (13, 5, 5))
PLATE = (6.0, 3.0, 3.0), (6.3, 9.0, 9.0)
CLOSED = {axis: lbm.NoSlip() for axis in "xyz"}


def tilting(rate):
    """Return a cylinder along z that turns about an axis along x."""
    return lbm.Solid(lbm.Cylinder((7, 7), 2), motion=lbm.Rotation((7, 7, 7), (1, 0, 0), rate))


@pytest.mark.parametrize(("options", "message"), [
    ({"state": "moments", "collision": lbm.Regularized(0.8)}, "state='populations'"),
    ({"a": lbm.Solid(BALL, motion=lbm.Translation(lambda t: (0.4 * t, 0, 0)))},
     r"boundaries\['a'\] in step 0: velocity must be at most 0.3"),
    ({"a": lbm.Solid(BLOCK, motion=FORWARD)}, "larger domain"),
    ({"a": tilting(0.01)}, "has no ends"), (CLOSED | {"a": tilting(0.06)}, "must be at most 0.3"),
    ({"a": lbm.Solid(mesh_of(*box(*PLATE)), motion=FORWARD)}, "at most 0.3 cells"),
])  # fmt: skip
def test_what_moving_bodies_refuse(options, message):
    options = {"boundaries": options} if "a" in options else {"boundaries": {"b": MOVING}} | options
    with pytest.raises((ValueError, TypeError), match=message):
        lbm.Simulation((14, 14, 14), **{"device": "cpu"} | options).run(1)


def test_motions_that_contradict_themselves():
    with pytest.raises(TypeError, match="one of each"):
        lbm.Solid(BALL, motion=(FORWARD, FORWARD))
    with pytest.raises(ValueError, match="needs the condition NoSlip"):
        lbm.Solid(BALL, lbm.MovingWall((0, 0, 0.1)), motion=FORWARD)
    for arguments in ({}, {"rate": 0.1, "angle": float}):
        with pytest.raises(TypeError, match=r"rate|angle"):
            lbm.Rotation((0, 0, 0), (0, 0, 1), **arguments)
    given = lbm.Rotation((0, 0, 0), (0, 0, 1), angle=lambda t: 0.1 * t)
    assert given.angle_at(3.0) == lbm.Rotation((0, 0, 0), (0, 0, 1), 0.1).angle_at(3.0)


def test_sums_of_long_runs_do_not_overflow():
    s = lbm.Simulation((14, 14, 14), boundaries={"ball": MOVING}, **OPTIONS)
    body = s.run(40).bodies["ball"]
    lost, taken = body.mass_taken, body.momentum_taken
    for _ in range(3):  # what would make 2^63 in the sums on the device
        sums = body.account.copy()
        sums[1, 1:4] += 2**62
        body.account.set(sums)
        s.run(32)
    assert body.momentum_taken == pytest.approx(3 * 2.0**18 + taken, abs=40.0)
    assert abs(body.mass_taken - lost) < 10.0


def test_a_body_outside_of_the_domain_is_announced():
    far = lbm.Solid(lbm.Sphere((-30, 7, 7), 2.0), motion=FORWARD)
    with pytest.warns(UserWarning, match="'far'.* outside of the domain .* at step 0"):
        lbm.Simulation((14, 14, 14), boundaries={"x": lbm.NoSlip(), "far": far}, device="cpu")


@pytest.mark.parametrize(("motion", "step", "parts"),
                         [(None, 15, 2), (lbm.Translation((-0.1, 0, 0)), 5, 1)])  # fmt: skip
def test_bodies_that_touch_are_announced_and_those_in_each_other_end_a_run(motion, step, parts):
    left = lbm.Solid(lbm.Sphere((4, 5, 5), 2.2), motion=lbm.Translation((0.1, 0, 0)))
    right = lbm.Solid(lbm.Sphere((10, 5, 5), 2.2), motion=motion)
    s = lbm.Simulation((14, 10, 10), boundaries={"left": left, "right": right}, check=1,
                       dtype="float64", device=["cpu"] * parts)  # fmt: skip
    end = pytest.raises(RuntimeError, match="another moving body") if motion else nullcontext()
    with pytest.warns(UserWarning, match=rf"'left'\] touches another solid at step {step}:"), end:
        s.run(30)


CASE = """
shape = [16, 12, 12]
steps = 30
fluid.tau = 0.8
output.forces = {}
[solids.ball]
shape = "sphere"
centre = [5, 6, 6]
radius = 2.2
wall = "interpolated"
[solids.ball.motion]
"""


def test_motions_of_case_files(tmp_path):
    swing = "amplitude = [0, 2, 0]\nperiod = 100\n"
    case = read_text(tmp_path, f"{CASE}{swing}angular_velocity = [0, 0, 0.01]\ncentre = [5, 6, 6]")
    s = lbm.Simulation(**case.arguments | OPTIONS).run(30)
    assert s.bodies["ball"].centre == pytest.approx([5, 6 + 2 * np.sin(0.6 * np.pi), 6])
    assert s.bodies["ball"].rotation[1, 0] == pytest.approx(np.sin(0.3))
    assert case.outputs.forces.solids == ("ball",)
    for words, wrong in (("velocity", ""), ("at most 0.3", "velocity = [1, 0, 0]")):
        with pytest.raises(ValueError, match=words):
            read_text(tmp_path, CASE + wrong)
