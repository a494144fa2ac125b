"""Sponges: what they return of pulses, what they follow, and what they refuse."""

import warnings

import numpy as np
import pytest

import lbm
from compile_cuda import allowed_spills, compile_kernel
from flows import case_text, noisy, pair
from generated_kernels import lbm_damping_signature
from hetero.cuda.driver import SIMULATOR
from hetero.devices import Device
from lbm._cases.case import read_case
from studies.lbm.reflections import plane_reflection, vortex_pressure

ENDS = {"x-": lbm.VelocityInlet((0.05, 0.0, 0.0)), "x+": lbm.PressureOutlet(1.01)}


@pytest.mark.parametrize("face", ["x-", "x+"])
def test_a_plane_pulse_comes_back_as_asked(face):
    """The pulse is of no single frequency: all of them fade alike."""
    bare = abs(plane_reflection(face, 0.05, {}, Device("cpu")))
    assert bare > 0.7
    for asked in (0.05, 0.01):
        returned = abs(
            plane_reflection(face, 0.05, {"cells": 24, "reflection": asked}, Device("cpu"))
        )
        assert 0.4 * asked < returned < 1.1 * asked


def test_a_vortex_leaves_without_a_trace():
    bare = vortex_pressure((72, 36), {}, Device("cpu"))
    damped = vortex_pressure((72, 36), {"cells": 16, "reflection": 0.05}, Device("cpu"))
    assert bare > 0.05
    assert damped < 0.1 * bare


@pytest.mark.simulator
def test_sponges_match_the_reference(device):
    """`test_steps_match_reference` has more patterns, which the simulator would take long for."""
    ours, theirs = pair("sponges", lbm.TRT(0.7), dtype="float64", device=device)
    for _ in range(2):
        ours.run(1)
        theirs.step()
    rho, u = theirs.moments()
    assert np.abs(ours.rho - rho).max() < 1e-14
    assert np.abs(ours.u - u).max() < 1e-14


def test_a_uniform_stream_stays_uniform(device):
    s = lbm.Simulation((40, 6, 3), boundaries=ENDS | {"x+": lbm.PressureOutlet()},
                       sponges={"x-": 12, "x+": 14}, u=(0.05, 0.0, 0.0), dtype="float64",
                       device=device).run(50)  # fmt: skip
    assert np.abs(s.drho).max() < 1e-14
    assert np.abs(s.u[0] - 0.05).max() < 1e-14


def test_a_target_that_follows_lets_the_profile_of_a_channel_pass():
    """The running mean is no force once it has settled; the pressure is held in all the layer."""
    n = 10
    inlet = lbm.VelocityInlet(lambda x, y, z: (0.002 * y * (n - y), 0.0 * y, 0.0 * y))
    walls = {"x-": inlet, "x+": lbm.PressureOutlet(), "y": lbm.NoSlip()}
    flows = [
        lbm.Simulation((60, n, 1), boundaries=walls, sponges=sponges, collision=lbm.TRT(0.8),
                       dtype="float64", device="cpu").run(6000)
        for sponges in ({}, {"x+": lbm.Sponge(20, averaging=200.0)})
    ]  # fmt: skip
    free, damped = (s.u[0, 20, :, 0] for s in flows)
    assert np.abs(damped - free).max() < 3e-3 * free.max()


RAMP = lbm.VelocityInlet(lambda t: (0.05 * min(1.0, t / 400), 0.0, 0.0))


def warnings_of(inlet, outlet=ENDS["x+"], sponge=None, **options):
    """Return the warnings for a channel with a sponge before its outlet, or none."""
    sponges = {} if sponge is None else {"x+": sponge}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lbm.Simulation((40, 6, 3), boundaries={"x-": inlet, "x+": outlet, "y": lbm.FreeSlip()},
                       sponges=sponges, device="cpu", **options)  # fmt: skip
    return [str(w.message) for w in caught]


@pytest.mark.parametrize("follower", ["sponges['x+']", "boundaries['x+']"])
def test_what_brakes_a_flow_that_starts_later_is_named(follower):
    end = {"sponge": lbm.Sponge(24)} if "sponges" in follower else {}
    end = end or {"outlet": lbm.NonReflectingOutlet()}
    (message,) = warnings_of(RAMP, **end)
    assert f"{follower} follows" in message
    assert "averaging=5000 steps" in message
    assert "starts at rest and boundaries['x-'] changes with time" in message
    (message,) = warnings_of(ENDS["x-"], **end)
    assert "changes" not in message
    # A ramp without an end is faster than allowed before the 5000 steps are over.
    endless = lbm.VelocityInlet(lambda t: (0.01 + 1e-4 * t, 0.0, 0.0))
    (message,) = warnings_of(endless, **end, u=(0.01, 0.0, 0.0))
    assert "at rest" not in message


@pytest.mark.parametrize(
    "options",
    [
        {"inlet": ENDS["x-"], "sponge": lbm.Sponge(24), "u": (0.05, 0.0, 0.0)},
        {"inlet": RAMP, "sponge": lbm.Sponge(24, u=(0.05, 0.0, 0.0))},
        {"inlet": lbm.PressureOutlet(1.01), "sponge": lbm.Sponge(24)},
        {"inlet": RAMP},
        {"inlet": lbm.VelocityInlet(lambda t: (0.05 + 1e-3 * np.sin(t), 0.0, 0.0)),
         "sponge": lbm.Sponge(24), "u": (0.05, 0.0, 0.0)},
    ],
)  # fmt: skip
def test_flows_that_nothing_brakes_give_no_warning(options):
    assert not warnings_of(**options)


def test_targets_by_default():
    s = lbm.Simulation((40, 6, 3), boundaries=ENDS, sponges={"x-": 12, "x+": 14}, device="cpu")
    inlet, outlet = s._sponges.sponges.values()
    assert inlet.u == (0.05, 0.0, 0.0)
    assert inlet.rho == 1.0
    assert outlet.u is None
    assert outlet.rho == 1.01
    assert s._sponges.rows == 3


@pytest.mark.parametrize("grid", [(1, 1, 1), (3, 1, 2)])
def test_restarts_go_on_bit_for_bit(grid, tmp_path):
    """Targets that follow the flow are part of its state."""
    through = pair("sponges", lbm.TRT(0.7), dtype="float32", device="cpu")[0].run(5)
    file = through.save(tmp_path / "state")
    through.run(6)
    devices = ["cpu"] * int(np.prod(grid))
    again = pair("sponges", lbm.TRT(0.7), dtype="float32", device=devices, decomposition=grid)[0]
    again.restore(file).run(6)
    assert np.array_equal(through.populations(), again.populations())
    without = lbm.Simulation((12, 9, 7), boundaries=ENDS, device="cpu")
    with pytest.raises(lbm.CheckpointError, match=r"walls=|sponges, scalars and outlets="):
        without.restore(file)


def test_a_run_that_blows_up_returns_to_the_targets_of_its_last_good_state():
    def make():
        return lbm.Simulation((24, 6, 4), boundaries=ENDS, collision=lbm.TRT(0.5001), check=8,
                              sponges={"x+": lbm.Sponge(12, averaging=4.0)}, u=u, rho=rho,
                              dtype="float64", device="cpu")  # fmt: skip

    rho, u = noisy((24, 6, 4))
    unstable, careful = make(), make()
    with pytest.raises(lbm.UnstableError):
        unstable.run(4000)
    careful.advance(unstable.steps)
    for s in (unstable, careful):
        s.advance(1)
    assert np.array_equal(unstable.populations(), careful.populations())
    targets = (s._sponges.copy_state(s.steps)[0] for s in (unstable, careful))
    assert np.array_equal(*targets)


def test_a_new_start_sets_the_targets():
    s = lbm.Simulation((24, 6, 4), boundaries=ENDS, sponges={"x+": 12}, dtype="float64",
                       device="cpu").run(3)  # fmt: skip
    fresh = lbm.Simulation((24, 6, 4), boundaries=ENDS, sponges={"x+": 12}, dtype="float64",
                           u=(0.02, 0.0, 0.0), device="cpu").run(2)  # fmt: skip
    s.set(u=(0.02, 0.0, 0.0))
    assert np.array_equal(s.run(2).populations(), fresh.populations())


@pytest.mark.parametrize(
    ("sponges", "message"),
    [
        ({"x+": 5}, r"cells=5 are too few .* Use at least \d+ cells"),
        (
            {"x+": lbm.Sponge(30), "x-": 20},
            "the sponges across x have 50 cells, the domain only 40",
        ),
        ({"y+": 20}, "stands before a periodic face"),
        ({"x": 20}, "has the key 'x': use x-, x\\+"),
        ({"x+": True}, "must be lbm.Sponge or a number of cells, got True"),
        ({"x+": 20.0}, "must be lbm.Sponge or a number of cells"),
        ([20], "must map faces"),
        (
            {"x+": lbm.Sponge(20, u=lambda x, y, z: (0.02 * x, 0 * y, 0 * z))},
            r"u of sponges\['x\+'\] must be at most 0.3 cells/step, got 0.79",
        ),
    ],
)
def test_impossible_sponges_are_refused(sponges, message):
    with pytest.raises((ValueError, TypeError), match=message):
        lbm.Simulation((40, 6, 3), boundaries=ENDS, sponges=sponges, device="cpu")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cells": 20, "reflection": 0.0}, "reflection"),
        ({"cells": 20, "rho": 3.0}, "rho"),
        ({"cells": 20, "averaging": 0.0}, "averaging"),
        ({"cells": 20, "u": (0.1, 0.0)}, "u must hold three numbers"),
        ({"cells": 20, "u": (0.3, 0.3, 0.0)}, "u must be at most 0.3 cells/step, got 0.42"),
        ({"cells": 20, "u": lambda t: (0.1, 0.0, 0.0)}, r"a function of position, u\(x, y, z\)"),
        ({"cells": 20.5}, "cells"),
    ],
)
def test_arguments_of_a_sponge_are_checked(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        lbm.Sponge(**arguments)


CASE = case_text(
    (60, 12, 1),
    20,
    """
[boundaries]
"x-" = { type = "velocity-inlet", velocity = [0.01, 0.0, 0.0] }
"x+" = { type = "pressure-outlet", pressure = 0.0 }

[sponges]
"x-" = 16
"x+" = { cells = 20, velocity = [0.01, 0.0, 0.0], reflection = 0.02, averaging = 2.0 }
""",
)


def test_sponges_in_case_files(tmp_path):
    file = tmp_path / "case.toml"
    file.write_text(CASE)
    case = read_case(file)
    inlet, outlet = case.arguments["sponges"].values()
    assert inlet == lbm.Sponge(16)
    assert outlet.reflection == 0.02
    assert outlet.u == pytest.approx((0.1, 0.0, 0.0))
    assert outlet.averaging == pytest.approx(2.0 / case.scales.units.dt)
    file.write_text(CASE.replace("cells = 20", "cells = 3"))
    with pytest.raises(
        ValueError, match=r"case.toml: sponges.x\+ \(in cells and steps\): cells must"
    ):
        read_case(file)
    file.write_text(CASE.replace("reflection =", "reflexion ="))
    with pytest.raises(ValueError, match="reflexion"):
        read_case(file)


@pytest.mark.skipif(SIMULATOR, reason="the simulator compiles nothing")
@pytest.mark.parametrize(
    ("pattern", "odd", "precision", "walls", "registers"),
    [("esoteric", 1, "float32", "solids", 96), ("ab", 0, "float16", "faces", 104)],
)
def test_the_kernel_compiles_within_its_budget(pattern, odd, precision, walls, registers):
    from lbm._engines.cuda_kernels import make_kernel

    kernel = make_kernel("damp", pattern, odd, precision, walls, lbm.TRT, False)
    report = compile_kernel(kernel, lbm_damping_signature(precision))
    assert report.spills <= allowed_spills()
    assert report.registers <= registers
    assert report.opcodes(".f64") == 0
