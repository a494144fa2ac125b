"""Sponges: what they let pass, what they follow, and what they warn of."""

import warnings

import numpy as np
import pytest

import lbm
from flows import case_text
from lbm_runs import read_text

ENDS = {"x-": lbm.VelocityInlet((0.05, 0.0, 0.0)), "x+": lbm.PressureOutlet(1.01)}


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


def test_flows_that_nothing_brakes_give_no_warning_and_targets_by_default():
    wavy, at_speed = lbm.VelocityInlet(lambda t: (0.05 + 1e-3 * np.sin(t), 0.0, 0.0)), (0.05, 0, 0)
    assert not warnings_of(RAMP, sponge=lbm.Sponge(24, u=at_speed))
    assert not warnings_of(wavy, sponge=lbm.Sponge(24), u=at_speed)
    s = lbm.Simulation((40, 6, 3), boundaries=ENDS, sponges={"x-": 12, "x+": 14}, device="cpu")
    targets = [(sponge.u, sponge.rho) for sponge in s.companions[0].sponges.values()]
    assert targets == [((0.05, 0.0, 0.0), 1.0), (None, 1.01)]
    assert s.companions[0].rows == 3


CASE = case_text((60, 12, 1), 20, """
[boundaries]
"x-" = { type = "velocity-inlet", velocity = [0.01, 0.0, 0.0] }
"x+" = { type = "pressure-outlet", pressure = 0.0 }
[sponges]
"x-" = 16
"x+" = { cells = 20, velocity = [0.01, 0.0, 0.0], reflection = 0.02, averaging = 2.0 }
""")  # fmt: skip


def test_sponges_in_case_files(tmp_path):
    case = read_text(tmp_path, CASE)
    inlet, outlet = case.arguments["sponges"].values()
    assert (inlet, outlet.reflection) == (lbm.Sponge(16), 0.02)
    assert outlet.u == pytest.approx((0.1, 0.0, 0.0))
    assert outlet.averaging == pytest.approx(2.0 / case.scales.units.dt)
    for old, new, words in (
        ("cells = 20", "cells = 3", r"case.toml: sponges.x\+ \(in cells and steps\): cells must"),
        ("reflection =", "reflexion =", "reflexion"),
    ):
        with pytest.raises(ValueError, match=words):
            read_text(tmp_path, CASE.replace(old, new))
