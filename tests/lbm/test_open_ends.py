"""Ends that do not reflect, with and without sponges, and outlets at walls.

`test_steps_match_reference` and `test_features` compare them with `lbm.reference`, in parts, on
ranks and after restarts.
"""

import numpy as np
import pytest

import lbm
from covering import cover_pairs
from flows import case_text, follow, pair, pair_in
from hetero.devices import Device
from lbm._coupled.open_faces.sheared import ShearedOutlets
from lbm.lattices import LATTICES
from lbm_runs import read_text
from studies.lbm.reflections import plane_reflection

CPU = Device("cpu")
OUTLET, REST = lbm.NonReflectingOutlet(), (0.0, 0.0, 0.0)
FACES = "x-", "x+", "y-", "y+", "z-", "z+"
ALL_LATTICES = pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)


FEW, MANY = ({"cells": 24, "reflection": share} for share in (0.05, 0.01))


@pytest.mark.parametrize(("face", "end", "u", "low", "high"), [
    *(("x+", {"outlet": OUTLET}, u, 0.0, 0.03) for u in (0.0, 0.1)),
    *(("x-", {"inlet": lbm.NonReflectingInlet}, u, 0.0, 0.03) for u in (0.0, 0.1)),
    *((face, FEW, 0.05, 0.02, 0.055) for face in ("x-", "x+")),
    *((face, MANY, 0.05, 0.004, 0.011) for face in ("x-", "x+")),
])  # fmt: skip
def test_a_plane_pulse_leaves_a_stream(face, end, u, low, high):
    """By sponges it comes back as asked: it is of no single frequency, and all of them fade."""
    assert abs(plane_reflection(face, u, {}, CPU)) > 0.6
    assert low < abs(plane_reflection(face, u, end, CPU)) < high


@pytest.mark.parametrize(
    ("face", "other", "lattice"),
    cover_pairs(FACES, [lbm.NoSlip(), lbm.PressureOutlet()], LATTICES.values()),
)
def test_a_plane_pulse_leaves_through_each_face(face, other, lattice):
    """From the other end, a wall or an outlet, all of it comes back.

    Through a face opposite to a wall it leaves by an outlet, otherwise by an inlet at rest.
    """
    axis, n = "xyz".index(face[0]), 160
    shape = tuple(n if a == axis else 2 for a in range(3))
    ends = {f"{face[0]}{sign}": other for sign in "-+"}
    ends[face] = OUTLET if other == lbm.NoSlip() else lbm.NonReflectingInlet(REST)
    along = (np.arange(n) + 0.5).reshape([-1 if a == axis else 1 for a in range(3)])
    pulse = 1e-3 * np.exp(-0.5 * ((along + np.zeros(shape) - n / 2) / 8.0) ** 2)
    s = lbm.Simulation(shape, boundaries=ends, rho=1.0 + pulse, dtype="float64", lattice=lattice,
                       force=(1e-300, 0.0, 0.0), collision=lbm.TRT(0.55),
                       device="cpu").run(500)  # fmt: skip
    assert np.abs(s.drho).max() < 3e-5


INLET = lbm.VelocityInlet((0.05, 0.0, 0.0))


@pytest.mark.parametrize(("inlet", "outlet", "sponges"), [
    (INLET, OUTLET, {}), (lbm.NonReflectingInlet((0.05, 0.0, 0.0)), OUTLET, {}),
    (INLET, lbm.PressureOutlet(), {"x-": 12, "x+": 14}),
], ids=["outlet", "both", "sponges"])  # fmt: skip
def test_a_uniform_stream_stays_uniform(inlet, outlet, sponges, device):
    s = lbm.Simulation((40, 6, 3), boundaries={"x-": inlet, "x+": outlet}, sponges=sponges,
                       u=(0.05, 0.0, 0.0), dtype="float64", device=device).run(50)  # fmt: skip
    assert np.abs(s.drho).max() < 1e-14
    assert np.abs(s.u[0] - 0.05).max() < 1e-14


def profile(x, y, z):
    return 0.002 * y * (8 - y), 0.0 * y, 0.0 * y


@pytest.fixture(scope="module")
def run_channel():
    """Return a function of both ends that runs a channel from rest to its steady state."""

    def run(inlet, outlet):
        walls = {"x-": inlet, "x+": outlet, "y": lbm.NoSlip()}
        return lbm.Simulation((40, 8, 1), boundaries=walls, collision=lbm.TRT(0.8),
                              dtype="float64", device="cpu").run(12000)  # fmt: skip

    held = run(lbm.VelocityInlet(profile), lbm.PressureOutlet(1.01))
    return lambda inlet, outlet: (held, run(inlet, outlet))


@pytest.mark.parametrize(("inlet", "outlet", "tolerance"), [
    (lbm.VelocityInlet(profile), lbm.NonReflectingOutlet(1.01, averaging=100.0), 1e-6),
    (lbm.NonReflectingInlet(profile, averaging=100.0), lbm.PressureOutlet(1.01), 1e-8),
    (lbm.NonReflectingInlet(profile, averaging=100.0),
     lbm.NonReflectingOutlet(1.01, averaging=100.0), 1e-8),
])  # fmt: skip
def test_a_channel_settles_as_between_plain_ends(inlet, outlet, tolerance, run_channel):
    """From rest, at the given flow rate and pressure: the mean density does not drift."""
    held, free = run_channel(inlet, outlet)
    assert np.abs(free.drho - held.drho).max() < tolerance
    assert np.abs(free.u - held.u).max() < tolerance


@pytest.mark.simulator
@pytest.mark.parametrize(
    "flow", ["inlets that do not reflect", "outlets that do not reflect", "sponges"]
)
def test_a_few_steps_match_the_reference(flow, device):
    """`test_steps_match_reference` has more patterns, which the simulator would take long for."""
    follow(*pair(flow, lbm.TRT(0.7), dtype="float64", device=device), 2, 1e-14)


OTHERS = [lbm.PressureOutlet(), lbm.FreeSlip(), lbm.NoSlip(), lbm.VelocityInlet((0.01, 0.02, 0.0)),
          lbm.NonReflectingOutlet(1.01, 10.0)]  # fmt: skip


@pytest.mark.parametrize(("corner", "others", "lattice", "is_inlet"),
                         cover_pairs([("x-", "y+"), ("y-", "z+"), ("x+", "y-", "z-")], OTHERS,
                                     LATTICES.values(), [False, True]))  # fmt: skip
def test_ends_that_meet_match_the_reference(corner, others, lattice, is_inlet):
    faces = {f: others for axis in "xyz" for f in (f"{axis}-", f"{axis}+")}
    velocities = (0.01, 0.0, 0.02), REST, (-0.02, 0.01, 0.0)
    for k, face in enumerate(corner):
        faces[face] = lbm.NonReflectingOutlet(1.0 + 0.01 * k, 10.0)
        if is_inlet:
            faces[face] = lbm.NonReflectingInlet(velocities[k], 10.0)
    faces[{"x-": "x+", "y-": "y+", "x+": "x-"}[corner[0]]] = lbm.PressureOutlet()
    settings = {"boundaries": faces, "force": (1e-300, 0.0, 0.0), "lattice": lattice}
    follow(*pair_in((6, 5, 4), settings, dtype="float64", device="cpu"), 4, 1e-14)


def test_a_restart_may_have_other_functions(tmp_path):
    """A checkpoint says that a density varies, not how: another process has other functions."""
    outlets = (lbm.NonReflectingOutlet(lambda t, a=a: 1.0 + a * t) for a in (0.0, 1e-5))
    before, after = (lbm.Simulation((8, 3, 2), boundaries={"x-": INLET, "x+": outlet}, device="cpu")
                     for outlet in outlets)  # fmt: skip
    assert after.restore(before.run(3).save(tmp_path / "state")).run(2).steps == 5


def test_means_start_at_the_density_of_the_start():
    """A stream at another density than 1 is a steady state from the first step on."""
    ends = {"x-": lbm.NonReflectingInlet(REST), "x+": lbm.NonReflectingOutlet(1.02)}
    s = lbm.Simulation((12, 4, 2), boundaries=ends, rho=1.02, dtype="float64", device="cpu")
    for _ in range(2):
        s.run(10)
        assert np.abs(s.drho - 0.02).max() < 1e-14
        s.set(rho=1.02)


def read_ends(folder, inlet, outlet):
    """Return the units of a case, and its ends."""
    case = read_text(folder, case_text((60, 12, 1), 20, f"""
[boundaries]
"x-" = {inlet}
"x+" = {outlet}
"""))  # fmt: skip
    walls = case.arguments["boundaries"]
    return case.scales, walls["x-"], walls["x+"]


def test_case_files(tmp_path):
    inlet = '{ type = "non-reflecting-inlet", velocity = [0.01, 0.0, 0.0], averaging = 2.0 }'
    outlet = '{ type = "non-reflecting-outlet", pressure = 0.0, averaging = 2.0 }'
    scales, first, last = read_ends(tmp_path, inlet, outlet)
    assert (type(first), last.rho) == (lbm.NonReflectingInlet, 1.0)
    assert first.averaging == last.averaging == pytest.approx(2.0 / scales.units.dt)
    assert first.velocity[0] == pytest.approx(scales.velocity((0.01, 0.0, 0.0))[0])
    _, first, last = read_ends(tmp_path, inlet.replace("averaging = 2.0", 'parabola = "y"'),
                               outlet.replace(", averaging = 2.0", ""))  # fmt: skip
    assert callable(first.velocity)
    assert (first.averaging, last) == (5000.0, OUTLET)
    with pytest.raises(ValueError, match="averaging"):
        read_ends(tmp_path, inlet.replace("2.0", "0.0"), outlet)


# ---- the shear stress at the ends of channels ------------------------------------------------


def run_between_pressures(height, length, collision, lattice, difference):
    """Return the flow rate over the exact one of a channel between two outlets, started with it."""
    walls = {"x-": lbm.PressureOutlet(1 + difference), "x+": lbm.PressureOutlet(1 - difference),
             "y": lbm.NoSlip()}  # fmt: skip
    nu, shape = (collision.tau - 0.5) / 3, (length, height, 1)
    y = np.arange(height) + 0.5
    exact = 2 * difference / 3 / length / (2 * nu) * y * (height - y)
    u = np.zeros((3, *shape))
    u[0] = exact[:, None]
    fall = 1 - 2 * np.arange(0.5, length) / length
    s = lbm.Simulation(
        shape, boundaries=walls, collision=collision, lattice=lattice, dtype="float64", u=u,
        rho=np.ones(shape) + difference * fall[:, None, None], force=(1e-300, 0.0, 0.0),
        device="cpu",
    ).run(int(4 * height**2 / nu))  # fmt: skip
    rates = (s.rho * s.u[0]).sum(axis=(1, 2)) / exact.sum()
    ends = (1.5 * s.drho[0] - 0.5 * s.drho[1])[:, 0] / difference
    return rates, ends


@pytest.mark.parametrize(("height", "length", "collision", "difference", "lattice"), [
    (8, 22, lbm.TRT(0.8), 1e-3, "D3Q19"), (8, 22, lbm.TRT(0.8), 1e-3, "D3Q27"),
    (12, 32, lbm.TRT(1.5), 1e-3, "D3Q19"),
    pytest.param(16, 43, lbm.TRT(0.6), 1e-4, "D3Q19", marks=pytest.mark.slow),
    pytest.param(16, 43, lbm.TRT(0.52), 1e-4, "D3Q19", marks=pytest.mark.slow),
])  # fmt: skip
def test_a_channel_between_pressures_carries_its_flow(
    height, length, collision, difference, lattice
):
    """Beside Poiseuille's flow; anti-bounce-back alone carries 4 % more."""
    rates, ends = run_between_pressures(height, length, collision, lattice, difference)
    assert np.abs(rates - 1).max() < 5e-3
    assert abs(ends[height // 2] - 1) < 0.04


@pytest.mark.simulator
@ALL_LATTICES
def test_sheared_outlets_match_the_reference(lattice, device):
    shape = 5, 4, 3
    solid = np.zeros(shape, bool)
    solid[4, 1, 1] = True
    walls = {"x": lbm.PressureOutlet(1.01), "y-": lbm.NoSlip(), "y+": lbm.FreeSlip(),
             "body": lbm.Solid(solid)}  # fmt: skip
    settings = {"boundaries": walls, "collision": lbm.TRT(1.1), "lattice": lattice,
                "force": (1e-300, 0.0, 0.0)}  # fmt: skip
    ours, theirs = pair_in(shape, settings, dtype="float64", device=device)
    assert any(isinstance(c, ShearedOutlets) for c in ours.companions)
    follow(ours, theirs, 3, 1e-14)
