"""Walls whose friction is that of the law of the wall."""

import warnings

import numpy as np
import pytest

import lbm
from flows import noisy
from hetero.devices import Device
from lbm._coupled.wall_model.formulas import INTERCEPT, KAPPA, find_friction_velocities
from lbm.lattices.precision import STATES
from studies.lbm.tunnel_bodies import extrude
from studies.lbm.tunnels import plan_tunnel
from studies.lbm.wall_model import law_of_the_wall, solve_channel

pytestmark = pytest.mark.filterwarnings("ignore:wall='modelled' was tried with")
STREAM = np.array([0.05, 0.01, 0.0])
NU = 1e-4


def flat_wall(shape, operator=lbm.SmagorinskyBGK, **options):
    """Return a stream along a modelled wall at z = 2, which cells resolve by no means."""
    floor = lbm.Solid(lbm.Box((-9, -9, -9), (99, 99, 2)), wall="modelled")
    walls = {"z-": lbm.NoSlip(), "z+": lbm.FreeSlip(), "floor": floor}
    return lbm.Simulation(
        shape, collision=operator(0.5 + 3 * NU), boundaries=walls, u=tuple(STREAM),
        force=(1e-300, 0.0, 0.0), dtype="float64", **options,
    )  # fmt: skip


def test_friction_velocities_solve_the_law_of_spalding():
    u = np.array([0.1, 1.0, 5.0, 10.0, 20.0, 30.0, 40.0])
    k = KAPPA * u
    y = u + np.exp(-KAPPA * INTERCEPT) * (np.exp(k) - 1 - k - k**2 / 2 - k**3 / 6)
    found = find_friction_velocities(u * y * NU / 0.5, np.full(len(u), 0.5), NU)
    assert np.allclose(found, y * NU / 0.5, rtol=1e-12, atol=0)


@pytest.mark.simulator
def test_a_flat_wall_has_the_friction_and_the_eddy_viscosity_of_the_law(device):
    """The latter is the slope of y+ over that of u+, less 1, times nu, a cell from the wall."""
    s, speed = flat_wall((4, 3, 5), lbm.VremanCentralMoments, device=device), np.hypot(*STREAM[:2])
    friction = find_friction_velocities(np.array([speed]), np.array([0.5]), NU)[0]
    u = speed / friction + np.array([-1e-4, 1e-4])
    k = KAPPA * u
    y = u + np.exp(-KAPPA * INTERCEPT) * (np.exp(k) - 1 - k - k**2 / 2 - k**3 / 6)
    expected = 2 * NU * (np.diff(y)[0] / np.diff(u)[0] - 1)
    assert np.allclose(s.eddy_viscosity[:, :, 2], expected, rtol=1e-6)
    assert np.abs(s.eddy_viscosity[:, :, 3:]).max() < 1e-12
    mass, momentum = s.drho.sum(), s.momentum()
    force = s.run(1).force_on("floor") / 12
    assert np.allclose(force[:2], friction**2 * STREAM[:2] / speed, rtol=1e-9)
    assert np.allclose(momentum - s.momentum(), 12 * force, rtol=1e-9, atol=1e-15)
    assert abs(s.drho.sum() - mass) < 1e-14


def test_operators_and_lattices_with_which_walls_were_wrong_are_named():
    with pytest.warns(UserWarning, match="with Smagorinsky the friction may be several times"):
        flat_wall((4, 3, 5), lbm.Smagorinsky, device="cpu")
    with pytest.warns(UserWarning, match="with D3Q19 only: with D3Q27 a stream .* unsteady"):
        flat_wall((4, 3, 5), lbm.VremanCentralMoments, device="cpu", lattice="D3Q27")


def test_a_stream_along_an_oblique_wall_stays_uniform():
    """Its steps, some with links of one direction only, took 70 % of the speed in 200 steps."""
    along = np.array([np.cos(0.35), 0.0, np.sin(0.35)])
    across = np.array([-along[2], 0.0, along[0]])
    corners = [60 * k * along - depth * across for k, depth in ((-1, 0), (1, 0), (1, 40), (-1, 40))]
    wall = lbm.Solid(extrude(np.array(corners)[:, ::2] + (16.2, 12.3), -9, 13), wall="modelled")
    speed, nu = 0.1, 1e-8
    stream = lbm.FreeStream(tuple(speed * along))
    s = lbm.Simulation(
        (32, 4, 32), collision=lbm.SmagorinskyBGK(0.5 + 3 * nu), dtype="float64", device="cpu",
        u=tuple(speed * along), boundaries={"x": stream, "z": stream, "wall": wall},
        force=(1e-300, 0.0, 0.0),
    ).run(2)  # fmt: skip
    beside = s.wall_shear("wall").cells
    inner = beside[(np.abs(beside - 16) < 9).all(axis=1, where=[True, False, True])]
    u = s.u[:, *inner.T].T / speed
    assert len(inner) > 60
    assert np.abs(u - along).max() < 0.01
    assert np.abs(s.rho[tuple(inner.T)] - 1).max() < 0.02 * speed**2 * 1.5


@pytest.mark.slow
def test_a_sphere_of_36_cells_at_a_reynolds_number_of_1e5_is_stable():
    plan = plan_tunnel("sphere", 1e5, 36, wall="modelled", margins=(0.5, 0.5, 0.5))
    s = lbm.Simulation(plan.shape, **plan.arguments, device="cpu").run(225)
    assert np.abs(s.u).max() < 0.26  # 0.32, and not finite 75 steps later, with faster slip


def test_a_body_in_a_closed_flow_keeps_mass_and_takes_the_momentum():
    ball = lbm.Solid(lbm.Sphere((8.3, 7.9, 8.1), 4.2), wall="modelled")
    s = lbm.Simulation((18, 16, 16), collision=lbm.SmagorinskyBGK(0.5 + 3 * NU), dtype="float64",
                       boundaries={"ball": ball}, u=tuple(STREAM), device="cpu",
                       force=(1e-300, 0.0, 0.0))  # fmt: skip
    mass = s.drho.sum()
    before = s.run(3).momentum()
    lost = before - s.run(1).momentum()
    assert np.allclose(lost, s.force_on("ball"), rtol=1e-9, atol=1e-12)
    assert abs(lost[0]) > 0.01
    assert abs(s.drho.sum() - mass) < 1e-10


def test_a_channel_keeps_the_flow_rate_of_the_law_with_the_friction_of_its_walls():
    """The first cell obeys the law where the mean force is the friction that the wall takes."""
    channel = solve_channel(1000.0, 4, Device("cpu"), turnovers=(4.0, 2.0))
    bulk = np.sqrt(channel.friction) * channel.u.mean()
    assert bulk == pytest.approx(law_of_the_wall(1000.0 * channel.y).mean(), rel=5e-3)
    assert channel.u[0] == pytest.approx(channel.law[0], rel=0.01)


@pytest.mark.simulator
def test_moments_slip_as_populations_do(device):
    """The flow is closed, so that what slips past a staircase is taken back."""
    ball = lbm.Solid(lbm.Sphere((4.3, 3.9, 3.4), 2.3), wall="modelled")
    rho, u = noisy((9, 8, 7))
    populations, moments = (
        lbm.Simulation((9, 8, 7), collision=lbm.VremanRecursive(0.5 + 3 * NU), state=state,
                       dtype="float64", boundaries={"ball": ball}, rho=rho, u=u,
                       force=(1e-300, 0.0, 0.0), device=device).run(1)
        for state in STATES
    )  # fmt: skip
    assert np.abs(moments.u - populations.u).max() < 1e-15
    assert moments.force_on("ball") == pytest.approx(populations.force_on("ball"), abs=1e-14)
    assert abs((moments.drho - (rho - 1))[moments.fluid].sum()) < 1e-12


@pytest.mark.parametrize(("body", "is_passed"), [
    (lbm.Sphere((2.0, 6.0, 6.0), 2.5), True),  # goes on behind a periodic face
    (lbm.Box((3, -9, -9), (7, 99, 4)), True),  # a bar on the ground
    (lbm.Cylinder((6.0, 6.0), 3.0, "y"), True), (lbm.Box((-9, -9, -9), (99, 99, 2)), False),
    (lbm.HalfSpace((0, 0, 2), (0, 0, 1)), False), (~lbm.Cylinder((6.0, 6.0), 4.0, "x"), False),
])  # fmt: skip
def test_bodies_around_which_a_flow_passes_are_warned_of(body, is_passed):
    """Their drag may be several times too small, in steps that look settled."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lbm.Simulation((12, 12, 12), collision=lbm.VremanCentralMoments(0.501), device="cpu",
            boundaries={"z": lbm.NoSlip(), "body": lbm.Solid(body, wall="modelled")})  # fmt: skip
    warned = ["forces on round bodies are not" in str(w.message) for w in caught]
    assert warned == [True] * is_passed
