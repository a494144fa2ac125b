"""Small versions of the known flows, the stability map, and the command line."""

import json
import warnings

import numpy as np
import pytest

import lbm
from flows import PATTERNS
from hetero import Device
from lbm.__main__ import main
from lbm._post.stability import suggest_remedy
from lbm.collisions.stability_map import (
    BETWEEN_WALLS,
    WITH_OPEN_ENDS,
    choose_magic,
)
from lbm.flows import cavity, solve_cavity, solve_sphere, sphere, terrain
from lbm_runs import ROOT
from studies.__main__ import main as run_studies
from studies.__main__ import names_for
from studies.lbm.stability import is_cavity_stable, is_sphere_stable
from studies.study import Study

RECORD = ROOT / "benchmarks/records/studies/lbm-stability-cuda.json"
LATTICES = RECORD.with_name("lbm-lattices-cpu.json")


@pytest.mark.slow
def test_cavity_comes_near_the_reference(device):
    """With the magic parameter 1/4, the most stable one, the last error would be 1.6 %."""
    coarse, fine, finest = (solve_cavity(n, turns=40.0, device=device) for n in (36, 56, 64))
    assert fine.error < min(0.6 * coarse.error, 0.08)
    assert finest.error < 0.004


@pytest.mark.slow
def test_drag_of_a_sphere_comes_near_the_correlation(device):
    result = solve_sphere(6, reynolds=20.0, width=10.0, length=14.0, tolerance=5e-3, device=device)
    assert abs(result.error) < 0.12
    assert abs(result.force[1]) + abs(result.force[2]) < 1e-3 * result.force[0]


def test_the_stability_map_is_that_of_the_record():
    rows = json.loads(RECORD.read_text())["tables"][0]["rows"]
    on_d3q27 = {
        (flow, magic): limit
        for flow, magic, _, limit, _ in json.loads(LATTICES.read_text())["tables"][0]["rows"]
    }
    for flow, limits in (("cavity", BETWEEN_WALLS), ("sphere", WITH_OPEN_ENDS)):
        for magic, limit in limits.items():
            what = flow, round(magic, 4)
            measured = [r[5] for r in rows if (r[0], r[1]) == what and r[2] <= 0.1]
            assert len(measured) == 3
            lowest = min(measured)
            if what != ("sphere", 0.01):  # the most stable one on D3Q19, which has its own limit
                lowest = min(lowest, on_d3q27[what])
            assert 0.97 * lowest < limit < lowest


@pytest.mark.parametrize(("kind", "cell_reynolds", "magic"), [
    ("walls", 0.5, 1 / 12), ("walls", 15.6, 1 / 12), ("walls", 21.0, 3 / 16), ("walls", 28.0, 0.25),
    ("walls", 1e3, 0.25), ("open", 3.0, 0.25), ("open", 12.5, 0.03), ("open", 1e3, 0.01),
    ("free", 15.0, 1e-3), ("free", 79.0, 1e-3), ("free", 1e3, 1e-3),
])  # fmt: skip
def test_the_most_accurate_stable_magic_parameter_is_chosen(kind, cell_reynolds, magic):
    assert choose_magic(cell_reynolds, kind) == magic
    assert lbm.TRT.suited_to(0.6, cell_reynolds, kind).magic == magic


def test_vortices_without_walls_are_stable_where_flows_with_walls_are_not():
    """At Re = 1600 in 128^3 cells, whose cell Reynolds number this is, they are stable, too."""
    units = lbm.Units.choose(length=1.0, cells=20, speed=1.0, viscosity=1 / 1600, flow="free")
    n, k = 16, 2 * np.pi / 16

    def u(x, y, z):
        a = 0.1 * np.sin(k * x) * np.cos(k * y) * np.cos(k * z)
        return a, -0.1 * np.cos(k * x) * np.sin(k * y) * np.cos(k * z), 0.0 * a

    chosen = lbm.TRT.suited_to(units.tau, 80.0, "free")
    s, unstable = (lbm.Simulation((n, n, n), collision=operator, u=u, device="cpu")
                   for operator in (chosen, lbm.TRT(units.tau, 0.25)))  # fmt: skip
    assert np.isfinite(s.run(300).u).all()
    advice = suggest_remedy(unstable)
    assert advice.startswith("Without walls, flows were stable up to speed/viscosity = 79.5 with")
    assert "Use magic=0.001" in advice
    with pytest.raises(ValueError, match="20 cells are too few for Reynolds number 1600"):
        lbm.Units.choose(length=1.0, cells=20, speed=1.0, viscosity=1 / 1600, flow="walls")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("is_stable", "limits"),
    [(is_cavity_stable, BETWEEN_WALLS), (is_sphere_stable, WITH_OPEN_ENDS)],
)
def test_the_stability_map_holds(is_stable, limits, device, tmp_path):
    study = Study(tmp_path, Device.parse(device))
    for magic in (0.25, 1 / 12, 0.01):
        for speed in (0.05, 0.1):
            offset = 3.0 * speed / limits[magic]
            assert is_stable(offset, magic, speed, study)
            assert not is_stable(offset / 1.5, magic, speed, study)


def test_flows_that_will_blow_up_say_so_before_they_run():
    with pytest.warns(UserWarning, match=r"n=16 is too small .* Use n=36 or more"):
        cavity(16, reynolds=1000.0, device="cpu")
    with pytest.warns(UserWarning, match=r"diameter=4 is too small .* Use diameter=15 or more"):
        sphere(4, reynolds=300.0, width=4.0, length=6.0, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cavity(36, reynolds=1000.0, device="cpu")


def test_a_sphere_stands_in_the_stream_and_the_ground_is_solid_with_plain_rims():
    s = sphere(4, reynolds=20.0, width=4.0, length=6.0, device="cpu")
    assert s.shape == (24, 16, 16)
    assert (~s.fluid).sum() == pytest.approx(np.pi / 6 * 4**3, rel=0.15)
    s, surface = terrain(height=16, stride=16, device="cpu")
    assert s.shape[::2] == surface.shape
    heights = (~s.fluid).sum(axis=1)
    assert np.abs(heights - surface).max() <= 0.5
    assert (heights[[0, -1]] == 1).all()
    assert heights.max() > 4


@pytest.mark.parametrize("pattern", PATTERNS)
def test_command_line(pattern, tmp_path, capsys):
    options = ["--quick", "--out", str(tmp_path), "--pattern", pattern]
    for verb in ("cavity", "sphere", "terrain") if pattern == "esoteric" else ("cavity",):
        assert main([verb, *options]) == 0
        assert (tmp_path / f"{verb}.vti").is_file()
    assert "lowest u -0." in capsys.readouterr().out


STUDIES = {*names_for(Device("cpu"), ["lbm"]), *names_for(Device("cuda"), ["lbm"])}
FAST_STUDIES = {"lbm-cavity", "lbm-clusters"}
WITHOUT_PICTURES = {"lbm-bodies", "lbm-lattices", "lbm-magic", "lbm-operators", "lbm-reflections",
                    "lbm-features", "lbm-moving-bodies", "lbm-shedding", "lbm-domains",
                    "lbm-published", "lbm-tunnel-drags", "lbm-tunnels", "lbm-wall-model",
                    "lbm-walls", "lbm-states"}  # fmt: skip


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow] * (name not in FAST_STUDIES))
    for name in sorted(STUDIES)
])  # fmt: skip
def test_studies(name, device, tmp_path):
    """Those that compile further operators, lattices and precisions are slow."""
    if name not in names_for(Device.parse(device)):
        pytest.skip("a study of the other device")
    options = ["--quick", "--device", device, "--out", str(tmp_path)]
    assert run_studies(["run", name, *options]) == 0
    assert (tmp_path / f"{name}-{device}.json").is_file()
    assert len(list(tmp_path.glob("*.png"))) == (name not in WITHOUT_PICTURES)
