"""Inlets that do not reflect: pulses, flow rates, edges, parts, restarts, case files, refusals."""

import numpy as np
import pytest

import lbm
from flows import (
    FLOWS,
    SHAPE,
    assert_densities_match_reference,
    assert_parts_are_one,
    assert_two_parts_of_a_device_are_one,
    case_text,
    pair,
)
from hetero.devices import Device
from lbm._cases.case import read_case
from studies.lbm.reflections import plane_reflection

NAME = "inlets that do not reflect"


@pytest.mark.parametrize("u", [0.0, 0.1])
def test_a_plane_pulse_leaves_against_the_stream(u):
    bare = abs(plane_reflection("x-", u, {}, Device("cpu")))
    returned = abs(plane_reflection("x-", u, {"inlet": lbm.NonReflectingInlet}, Device("cpu")))
    assert bare > 0.6
    assert returned < 0.03


@pytest.mark.parametrize("lattice", [lbm.D3Q19, lbm.D3Q27], ids=lambda lattice: lattice.name)
@pytest.mark.parametrize("face", ["x-", "x+", "y-", "y+", "z-", "z+"])
def test_a_plane_pulse_leaves_through_each_face(face, lattice):
    """The other end is an outlet, from which all of it comes back with the other sign."""
    axis, n = "xyz".index(face[0]), 160
    shape = tuple(n if a == axis else 2 for a in range(3))
    ends = {f"{face[0]}{sign}": lbm.PressureOutlet() for sign in "-+"}
    ends[face] = lbm.NonReflectingInlet((0.0, 0.0, 0.0))
    place = [-1 if a == axis else 1 for a in range(3)]
    along = (np.arange(n) + 0.5).reshape(place) + np.zeros(shape)
    pulse = 1e-3 * np.exp(-0.5 * ((along - n / 2) / 8.0) ** 2)
    s = lbm.Simulation(shape, boundaries=ends, rho=1.0 + pulse, dtype="float64", lattice=lattice,
                       collision=lbm.TRT(0.55), device="cpu").run(500)  # fmt: skip
    assert np.abs(s.drho).max() < 3e-5


def test_a_uniform_stream_stays_uniform(device):
    ends = {"x-": lbm.NonReflectingInlet((0.05, 0.0, 0.0)), "x+": lbm.NonReflectingOutlet()}
    s = lbm.Simulation((12, 6, 3), boundaries=ends, u=(0.05, 0.0, 0.0), dtype="float64",
                       device=device).run(60)  # fmt: skip
    assert np.abs(s.drho).max() < 1e-14
    assert np.abs(s.u[0] - 0.05).max() < 1e-14


@pytest.mark.parametrize("outlet", [lbm.PressureOutlet, lbm.NonReflectingOutlet])
def test_a_channel_settles_at_the_given_flow_rate(outlet):
    """From rest, it ends in the flow of an inlet with a fixed velocity."""
    n = 8

    def profile(x, y, z):
        return 0.002 * y * (n - y), 0.0 * y, 0.0 * y

    options = {"averaging": 100.0} if outlet is lbm.NonReflectingOutlet else {}
    flows = [
        lbm.Simulation((40, n, 1), boundaries={"x-": inlet, "x+": end, "y": lbm.NoSlip()},
                       collision=lbm.TRT(0.8), dtype="float64", device="cpu").run(12000)
        for inlet, end in (
            (lbm.VelocityInlet(profile), lbm.PressureOutlet(1.01)),
            (lbm.NonReflectingInlet(profile, averaging=100.0), outlet(1.01, **options)),
        )
    ]  # fmt: skip
    held, free = flows
    assert np.abs(free.drho - held.drho).max() < 1e-8
    assert np.abs(free.u - held.u).max() < 1e-8


@pytest.mark.simulator
def test_a_few_steps_match_the_reference(device):
    """`test_steps_match_reference` has more patterns, which the simulator would take long for."""
    ours, theirs = pair(NAME, lbm.TRT(0.7), dtype="float64", device=device)
    for _ in range(2):
        ours.run(1)
        theirs.step()
    rho, u = theirs.moments()
    assert np.abs(ours.rho - rho).max() < 1e-14
    assert np.abs(ours.u - u).max() < 1e-14


@pytest.mark.parametrize("lattice", [lbm.D3Q19, lbm.D3Q27], ids=lambda lattice: lattice.name)
@pytest.mark.parametrize("corner", [("x-", "y+"), ("y-", "z+"), ("x+", "y-", "z-")])
@pytest.mark.parametrize("others", [lbm.PressureOutlet(), lbm.FreeSlip(), lbm.NoSlip(),
                                    lbm.VelocityInlet((0.01, 0.02, 0.0))], ids=repr)  # fmt: skip
def test_inlets_that_meet_match_the_reference(corner, others, lattice):
    faces = {f: others for axis in "xyz" for f in (f"{axis}-", f"{axis}+")}
    velocities = (0.01, 0.0, 0.02), (0.0, 0.0, 0.0), (-0.02, 0.01, 0.0)
    faces |= {f: lbm.NonReflectingInlet(velocities[k], 10.0) for k, f in enumerate(corner)}
    faces[{"x-": "x+", "y-": "y+", "x+": "x-"}[corner[0]]] = lbm.PressureOutlet()
    assert_densities_match_reference(faces, lattice)


@pytest.mark.parametrize("pattern", ["ab", "esoteric"])
@pytest.mark.parametrize("grid", [(3, 1, 2), (1, 4, 1)])
def test_parts_are_bit_for_bit_one(pattern, grid):
    assert_parts_are_one(NAME, pattern, grid)


def test_two_parts_of_a_device(device):
    assert_two_parts_of_a_device_are_one(NAME, device)


@pytest.mark.parametrize("grid", [(1, 1, 1), (2, 1, 2)])
def test_restarts_go_on_bit_for_bit(grid, tmp_path):
    """Mean densities are part of the state, and settings of inlets of the file."""
    through = pair(NAME, lbm.TRT(0.7), device="cpu")[0].run(5)
    file = through.save(tmp_path / "state")
    through.run(6)
    again, _ = pair(NAME, lbm.TRT(0.7), device=["cpu"] * int(np.prod(grid)), decomposition=grid)
    again.restore(file).run(6)
    assert np.array_equal(through.populations(), again.populations())
    flow = dict(FLOWS[NAME])
    slower = lbm.NonReflectingInlet((0.05, 0.01, 0.0), averaging=21.0)
    flow["boundaries"] = flow["boundaries"] | {"x-": slower}
    other = lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), device="cpu", **flow)
    with pytest.raises(lbm.CheckpointError, match="averaging"):
        other.restore(file)


def test_means_start_at_the_density_of_the_start():
    """A stream at another density than 1 is a steady state from the first step on."""
    ends = {"x-": lbm.NonReflectingInlet((0.0, 0.0, 0.0)), "x+": lbm.NonReflectingOutlet(1.02)}
    s = lbm.Simulation((12, 4, 2), boundaries=ends, rho=1.02, dtype="float64", device="cpu")
    for _ in range(2):
        s.run(10)
        assert np.abs(s.drho - 0.02).max() < 1e-14
        s.set(rho=1.02)


def test_solids_and_impossible_numbers_are_refused():
    with pytest.raises(ValueError, match="a solid cannot be NonReflectingInlet"):
        lbm.Solid(lbm.Sphere((4, 4, 4), 2), lbm.NonReflectingInlet((0.0, 0.0, 0.0)))
    with pytest.raises(ValueError, match="averaging"):
        lbm.NonReflectingInlet((0.0, 0.0, 0.0), averaging=0.5)
    with pytest.raises(ValueError, match="velocity"):
        lbm.NonReflectingInlet((0.6, 0.0, 0.0))
    inlet = lbm.NonReflectingInlet((0.0, 0.01, 0.0))
    ends = {"x": lbm.NoSlip(), "y-": inlet, "y+": lbm.NoSlip()}
    with pytest.raises(ValueError, match="no outlet"):
        lbm.Simulation((6, 6, 2), boundaries=ends, device="cpu")


CASE = case_text(
    (60, 12, 1),
    20,
    """
[boundaries]
"x-" = { type = "non-reflecting-inlet", velocity = [0.01, 0.0, 0.0], averaging = 2.0 }
"x+" = { type = "non-reflecting-outlet", pressure = 0.0 }
""",
)


def test_case_files(tmp_path):
    file = tmp_path / "case.toml"
    file.write_text(CASE)
    case = read_case(file)
    inlet = case.arguments["boundaries"]["x-"]
    assert isinstance(inlet, lbm.NonReflectingInlet)
    assert inlet.averaging == pytest.approx(2.0 / case.scales.units.dt)
    assert inlet.velocity[0] == pytest.approx(case.scales.velocity((0.01, 0.0, 0.0))[0])
    file.write_text(CASE.replace(", averaging = 2.0", ', parabola = "y"'))
    inlet = read_case(file).arguments["boundaries"]["x-"]
    assert callable(inlet.velocity)
    assert inlet.averaging == 5000.0
    file.write_text(CASE.replace("averaging = 2.0", "averaging = 0.0"))
    with pytest.raises(ValueError, match="averaging"):
        read_case(file)
    file.write_text(CASE.replace('{ type = "non-reflecting-inlet", velocity = [0.01, 0.0, 0.0], '
                                 'averaging = 2.0 }', '"non-reflecting-inlet"'))  # fmt: skip
    with pytest.raises(ValueError, match="velocity"):
        read_case(file)
