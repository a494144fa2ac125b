"""The known flows, small, and the command line."""

import numpy as np
import pytest

from lbm.__main__ import main
from lbm.cases import CAVITY_RE1000, cavity, solve_cavity, solve_sphere, sphere, terrain, vortices
from lbm.patterns import PATTERNS


def test_cavity_has_the_reynolds_number():
    s = cavity(8, reynolds=100.0, device="cpu")
    assert 0.1 * 8 / ((s.collision.tau - 0.5) / 3) == pytest.approx(100.0)
    assert CAVITY_RE1000[0].tolist() == [0.0, 0.0]
    assert CAVITY_RE1000[-1].tolist() == [1.0, 1.0]


@pytest.mark.slow
def test_cavity_comes_near_the_reference(device):
    coarse = solve_cavity(24, turns=40.0, device=device)
    fine = solve_cavity(40, turns=40.0, device=device)
    assert fine.error < 0.6 * coarse.error
    assert fine.error < 0.08


@pytest.mark.slow
def test_drag_of_a_sphere_comes_near_the_correlation(device):
    found = solve_sphere(6, reynolds=20.0, width=10.0, length=14.0, tolerance=5e-3, device=device)
    assert abs(found.error) < 0.12
    assert abs(found.force[1]) + abs(found.force[2]) < 1e-3 * found.force[0]


def test_a_sphere_stands_in_the_stream():
    s = sphere(4, reynolds=20.0, width=4.0, length=6.0, device="cpu")
    assert s.shape == (24, 16, 16)
    volume = (~s.fluid).sum()
    assert volume == pytest.approx(np.pi / 6 * 4**3, rel=0.15)


def test_the_ground_is_solid_and_the_rims_are_plain():
    s, surface = terrain(height=16, stride=16, device="cpu")
    assert s.shape[::2] == surface.shape
    heights = (~s.fluid).sum(axis=1)
    assert np.abs(heights - surface).max() <= 0.5
    assert (heights[[0, -1]] == 1).all()
    assert heights.max() > 4


def test_vortices_decay():
    s, exact = vortices(16, device="cpu")
    np.testing.assert_allclose(s.u, exact(0), atol=1e-7)
    s.run(100)
    assert np.abs(s.u - exact(100)).max() < 0.02 * np.abs(exact(100)).max()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_command_line(pattern, tmp_path, capsys):
    options = ["--quick", "--out", str(tmp_path), "--pattern", pattern]
    for verb in ("cavity", "sphere", "terrain") if pattern == "esoteric" else ("cavity",):
        assert main([verb, *options]) == 0
        assert (tmp_path / f"{verb}.vti").is_file()
    assert "of U" in capsys.readouterr().out


def test_study(device, tmp_path):
    names = ["blocks", "shares"] if device == "cuda" else ["blocks"]
    assert main(["study", "--quick", "--device", device, "--out", str(tmp_path)]) == 0
    for name in names:
        assert (tmp_path / f"{name}.json").is_file()
    assert len(list(tmp_path.glob("*.png"))) == len(names)


def test_shares_need_a_gpu(tmp_path, capsys):
    assert main(["study", "shares", "--quick", "--out", str(tmp_path)]) == 2
    assert "beside a GPU" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cavity", "--size", "0"], "--size: must be positive"),
        (["sphere", "--reynolds", "0"], "--reynolds: must be positive"),
        (["sphere", "--reynolds", "nan"], "--reynolds: must be positive"),
        (["terrain", "--steps", "-1"], "--steps: must be positive"),
        (["bench", "--precision", "double"], "invalid choice: 'double'"),
        (["bench", "--device", "gpu"], "device must be"),
        (["bench", "--precision", "float16", "--size", "5"], "even nx"),
        (["sphere", "--quick", "--reynolds", "1e9"], "the flow is not finite"),
    ],
)
def test_bad_command_lines(arguments, words, tmp_path, capsys):
    try:
        status = main([*arguments, "--out", str(tmp_path)])
    except SystemExit as end:
        status = end.code
    assert status == 2
    assert words in capsys.readouterr().err
