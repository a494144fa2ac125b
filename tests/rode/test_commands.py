"""`rode solve`, and results that show themselves."""

import json

import numpy as np
import pytest

import rode
from commands import call_main
from rode.__main__ import main

MODEL = """\
from __future__ import annotations

import sys
from dataclasses import dataclass

import rode


@dataclass
class Times:
    tau: float = 1.0


problem = rode.relaxation(Times().tau)


def made():
    return rode.relaxation(2.0)


def needs(start):
    return rode.relaxation(start)


def wrong():
    return rode.relaxation(0.0, tau=-1.0)


def leave():
    sys.exit()
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


def run(capsys, *arguments):
    return call_main(main, capsys, "solve", *arguments)


def test_a_users_problem_gives_what_solve_gives(model, tmp_path, capsys):
    out_path, page = tmp_path / "out.csv", tmp_path / "out.html"
    options = ("--t-span", 0, 1, "--paths", 200, "--seed", 3, "--device", "cpu", "--quiet")
    files = ("--out", out_path, "--plot", page)
    code, out, err = run(capsys, f"{model}:problem", *options, *files, "--json")
    assert code == 0, err  # a busy machine may tell how long it will take
    columns = json.loads(out)["columns"]
    settings = {"t_span": (0, 1), "h": 1 / 1024, "paths": 200, "rng": 3, "save_every": 8}
    settings |= {"reduction": ("moments", rode.Quantiles(0.05, 0.5, 0.95)), "device": "cpu"}
    problem = rode.relaxation(1.0)
    expected = rode.solve(problem, "3-rode-taylor", sampling="exact", **settings)
    (name,) = expected.outputs
    np.testing.assert_array_equal(columns["t"], expected.t)
    np.testing.assert_array_equal(columns[f"{name}_mean"], expected.mean[:, 0])
    np.testing.assert_array_equal(columns[f"{name}_q0.95"], expected.quantiles[2, :, 0])
    table = np.loadtxt(out_path, delimiter=",", skiprows=1)
    np.testing.assert_array_equal(table[:, 0], expected.t)
    assert "data:image/svg+xml;base64," in page.read_text()


def test_a_name_is_needed_only_where_there_are_several_problems(tmp_path, capsys):
    options = ("--t-span", 0, 1, "--h", 0.125, "--paths", 50, "--device", "cpu")
    path = tmp_path / "one.py"
    path.write_text("import rode\n\nslow = rode.relaxation(1.0)\nsame = slow\n")
    assert run(capsys, path, *options)[0] == 0
    path.write_text("import rode\n\nslow = rode.relaxation(1.0)\nfast = rode.relaxation(2.0)\n")
    code, _, err = run(capsys, path, *options)
    assert code == 2
    assert "which problem? its problems are slow, fast; name one, as in" in err
    path.write_text("import rode\n")
    code, _, err = run(capsys, path, *options)
    assert (code, "it holds no rode.Problem" in err) == (2, True)


def test_peaks_are_printed_written_and_corrected(model, tmp_path, capsys):
    out_path, page = tmp_path / "peaks.csv", tmp_path / "peaks.html"
    options = ("--t-span", 0, 1, "--paths", 200, "--seed", 3, "--device", "cpu", "--peaks")
    files = ("--quantiles", 0.5, 0.9, "--out", out_path, "--plot", page)
    code, out, err = run(capsys, "kanai-tajimi", *options, "--quiet", *files, "--json")
    assert (code, err) == (0, "")
    peaks = json.loads(out)["peaks"]
    problem = rode.kanai_tajimi()
    settings = {"t_span": (0, 1), "h": 1 / 8192, "paths": 200, "rng": 3, "reduction": "peaks"}
    expected = rode.solve(problem, "3-rode-taylor", sampling="exact", device="cpu", **settings)
    expected = expected.peaks + rode.peak_correction(problem, 1 / 8192)
    assert peaks["probabilities"] == [0.5, 0.9]
    for k, name in enumerate(problem.outputs):
        quantiles = peaks["quantiles"][name]
        np.testing.assert_array_equal(quantiles, np.quantile(expected[k], (0.5, 0.9)))
        assert peaks["low"][name][0] < quantiles[0] < peaks["high"][name][0]
    assert peaks["correction"]["displacement"] == 0.0
    np.testing.assert_array_equal(np.loadtxt(out_path, delimiter=",", skiprows=1), expected.T)
    assert "data:image/svg+xml;base64," in page.read_text()
    code, out, _ = run(capsys, "kanai-tajimi", *options, "--quiet")
    assert "largest |acceleration| of a path" in out


def test_paths_that_diverge_end_with_1(tmp_path, capsys):
    path = tmp_path / "explosion.py"
    path.write_text(
        "import rode\n"
        "problem = rode.additive(lambda x, p: (x[0] ** 3,), lambda p: (1.0,),\n"
        "                        dimension=1, start=(10.0,))\n"
    )
    code, out, err = run(
        capsys, f"{path}:problem", "--h", 0.125, "--paths", 4, "--device", "cpu", "--json"
    )
    assert (code, json.loads(out)["status"]) == (1, "diverged")
    assert "4 of 4 paths" in err


def test_mistakes_are_explained_with_exit_code_2(model, capsys):
    broken = model.with_name("broken.py")
    broken.write_text("import rode\n\nproblem = rode.relaxation(1.0\n")
    failing = model.with_name("failing.py")
    failing.write_text("import rode\n\nproblem = rode.relaxation(tau=0.0)\n")
    cases = {
        ("none.py:problem",): "none.py: No such file",
        (model.with_suffix(".txt"),): "PROBLEM must be FILE.py, FILE.py:NAME or one of",
        (f"{model}:problm",): "has no 'problm'; its problems are problem",
        (f"{model}:needs",): "needs start",
        (f"{model}:wrong",): "model.py, line 26: ValueError: tau must be positive",
        (f"{model}:leave",): "model.py, line 30: SystemExit",
        (f"{broken}:problem",): "broken.py, line 3: SyntaxError: '(' was never closed",
        (f"{failing}:problem",): "failing.py, line 3: ValueError: tau",
        ("growth", "--device", "banana"): "got 'banana'",
        ("growth", "--t-span", "1", "1"): "--t-span must end after it begins",
        ("growth", "--t-span", "0", "inf"): "--t-span must be finite, got inf",
        ("growth", "--h", "0"): "--h must be positive, got 0.0",
        ("growth", "--every", "0"): "save_every must be an integer in [1, ",
        ("growth", "--quantiles", "2"): "probabilities must lie in [0, 1]",
        ("growth", "--out", "out.xls"): "--out must end with",
        ("growth", "--plot", "out.txt"): "--plot must end with .html",
        ("growth", "--seed", "-1"): "--seed must be",
    }
    for arguments, message in cases.items():
        code, out, err = run(capsys, *arguments)
        assert (code, out) == (2, ""), arguments
        assert message in err, err
        assert "Traceback" not in err
