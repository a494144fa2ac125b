"""Wind tunnels: where bodies stand, what is chosen, and forces with their errors."""

import json

import numpy as np
import pytest
import scipy.signal

import lbm
from lbm._coupled.wall_model.formulas import find_friction_velocities
from lbm._tunnel.averages import average_pairs, estimate_mean
from lbm_runs import call
from studies.lbm.tunnel_bodies import box, car
from surfaces import write_stl

SLAB = box((0, 0, 0), (4, 2, 1))
SETTINGS = {"speed": 10.0, "length": 4.0, "cells": 16, "device": "cpu", "margins": (1, 2, 1)}


def test_errors_of_means_are_those_of_correlated_series_and_trends_are_not_settled():
    rng, found = np.random.default_rng(0), []
    for _ in range(30):
        series = scipy.signal.lfilter([1.0], [1.0, -0.9], rng.standard_normal(4000))
        found.append(estimate_mean(series + 5.0))
    exact = 1.0 / (1.0 - 0.9) / np.sqrt(4000)
    assert 0.9 * exact < np.mean([e.error for e in found]) < 1.7 * exact
    assert np.std([e.value for e in found]) == pytest.approx(exact, rel=0.4)
    assert sum(e.settled for e in found) >= 28
    t = np.linspace(0.0, 1.0, 200)
    noise = 0.01 * np.random.default_rng(1).standard_normal(200)
    assert not estimate_mean(1.0 + 0.1 * t + noise).settled
    assert estimate_mean(1.0 + 0.005 * t).settled
    assert not estimate_mean(np.ones(10)).settled
    assert np.array_equal(average_pairs(np.array([[1.0], [3.0], [5.0], [5.0], [9.0]])), [[2], [5]])


@pytest.mark.parametrize(("settings", "size"), [
    ({}, (16, 8, 4)), ({"flow": "y", "up": "z"}, (8, 16, 4)),
    ({"flow": "-x", "up": "y"}, (16, 4, 8)), ({"yaw": 90.0}, (8, 16, 4)),
    ({"incidence": 90.0}, (4, 8, 16)),
])  # fmt: skip
def test_bodies_stand_as_they_are_asked_to(settings, size):
    plan = lbm.wind_tunnel(SLAB, **SETTINGS, **settings).plan
    low, high = plan.mesh.bounds
    assert np.allclose(high - low, size)
    assert plan.frontal_area == pytest.approx(size[1] * size[2] / 16, rel=2e-3)
    assert plan.plan_area == pytest.approx(size[0] * size[1] / 16, rel=2e-3)
    middle = (low + high)[1:] / 2
    assert np.allclose(middle, np.array(plan.shape)[1:] / 2)


def test_moving_ground_stands_still_below_a_car_on_its_wheels():
    # It drove fluid through the gap of a cell: the flow blew up in step 57.
    settings = {"length": 4.0, "cells": 20, "margins": (1.5, 2.5, 1.5), "yaw": 5.0, "check": 20}
    with pytest.warns(UserWarning, match="lie in gaps"):
        tunnel = lbm.wind_tunnel(car(), speed=3.79, ground="moving", device="cpu", **settings)
    assert "ground: moving, but still below" in str(tunnel)
    s = tunnel.simulation.run(100)
    u = s.u[0, :, :, 0]
    assert np.median(u[:, 2]) == pytest.approx(0.1, rel=0.02)
    lift = [s.run(7).force_on("body")[2] / tunnel._scale() for _ in range(2)]
    assert abs(np.mean(lift)) < 2.0


def test_fixed_ground_below_modelled_walls_has_the_friction_of_the_law():
    tunnel = lbm.wind_tunnel(SLAB, ground="fixed", clearance=0.5, wall="modelled", **SETTINGS)
    assert tunnel.plan.mesh.bounds[0][2] == pytest.approx(0.5 / 0.25 + 1)
    s = tunnel.simulation.run(50)
    force = np.mean([s.run(1).force_on("ground")[0] for _ in range(6)])
    speed, nu = np.array([0.1]), (tunnel.plan.collision.tau - 0.5) / 3
    friction = find_friction_velocities(speed, np.array([0.5]), nu)[0]
    assert 0.8 < force / np.prod(s.shape[:2]) / friction**2 < 2.0  # 24 with ground half-way


def test_resolved_flows_get_trt_and_others_an_eddy_viscosity():
    slow = lbm.wind_tunnel(SLAB, fluid={"density": 1.0, "viscosity": 1.0}, **SETTINGS)
    assert isinstance(slow.plan.collision, lbm.TRT)
    assert slow.plan.reynolds == pytest.approx(40.0)
    fast = lbm.wind_tunnel(SLAB, **SETTINGS)
    assert fast.plan.collision == lbm.SmagorinskyBGK(fast.plan.units.tau, 0.173)
    assert fast.plan.units.viscosity == pytest.approx(1.516e-5)
    fast = lbm.wind_tunnel(SLAB, wall="halfway", state="moments", **SETTINGS)
    assert fast.plan.collision == lbm.SmagorinskyRecursive(fast.plan.units.tau, 0.173)
    assert fast.simulation.state == "moments"
    assert isinstance(lbm.flows.sphere(8, reynolds=1e4, width=3, length=4, collision="auto",
                                       device="cpu").collision, lbm.SmagorinskyBGK)  # fmt: skip


@pytest.mark.parametrize("wall", ["auto", "modelled"])
def test_a_cube_at_a_reynolds_number_of_a_million(wall):
    tunnel = lbm.wind_tunnel(box((0, 0, 0), (1, 1, 1)), speed=10.0, length=1.516, cells=8,
                             device="cpu", wall=wall, margins=(2, 3, 2))  # fmt: skip
    result = tunnel.run(fewest=3.0, most=3.0)
    assert result.reynolds == pytest.approx(1e6)
    assert 0.95 < result.drag.value < 1.25  # 1.05; 0.8 if walls slip across edges
    assert abs(result.lift.value) + abs(result.side.value) < 1e-3
    newton = 0.5 * 1.204 * 10.0**2 * result.frontal_area
    assert result.force[0].value == pytest.approx(newton * result.drag.value)
    assert result.by_area(2 * result.area)[0].value == pytest.approx(result.drag.value / 2)
    assert 100 < result.y_plus[0] < result.y_plus[1] < 1e5
    assert {"collision", "ends", "memory", "time"} <= {choice.name for choice in result.choices}


def test_the_command_and_the_case_file_have_the_same_tunnel(tmp_path, capsys):
    write_stl(tmp_path / "slab.stl", SLAB.vertices, SLAB.faces)
    case = tmp_path / "slab.toml"
    text = """steps = 300
[tunnel]
body = "slab.stl"
speed = 10.0
length = 4.0
cells = 8
margins = [1.0, 2.0, 1.0]
"""
    case.write_text(text)
    out = tmp_path / "out"
    status, words, _ = call(capsys, "run", case, "--out", out, "--device", "cpu", "--quiet")
    assert (status, "drag coefficient: " in words) == (0, True)
    case.write_text(text.replace("300", "10"))
    status, words, _ = call(capsys, "run", case, "--out", out / "b", "--device", "cpu", "--quiet")
    assert (status, "no drag coefficient: the stream passes the domain in" in words) == (0, True)
    status, words, _ = call(
        capsys, "tunnel", tmp_path / "slab.stl", "--speed", 10, "--length", 4, "--cells", 8,
        "--passages", 0.5, "--device", "cpu", "--quiet", "--json",
    )  # fmt: skip
    assert status == 0
    assert json.loads(words)["area"] == pytest.approx(2.0, rel=1e-3)
    for wrong, message in (
        (text + "[units]\nlength = 1.0\n", "units is chosen by [tunnel]: remove it"),
        (text.replace("cells = 8", "ground = 'grass'"), "tunnel.ground must be one of"),
    ):
        case.write_text(wrong)
        status, _, err = call(capsys, "run", case, "--out", out, "--device", "cpu")
        assert (status, message in err) == (2, True)
