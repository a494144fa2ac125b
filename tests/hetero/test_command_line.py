"""`python -m hetero` shows the devices, their limits and what is missing."""

import contextlib
import importlib
import json
import logging
import os
import re
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pytest

from hetero.command_line import (
    CommandParser,
    ComputationFailedError,
    check_outputs,
    print_json,
    run_command,
    save_output,
)
from hetero.compile_cache.store import root
from hetero.cuda import driver

PACKAGES = ("stablegpu", "rode", "lbm", "sbth", "tmd")


def run(*arguments, **environment):
    """Run `python -m hetero` in a process of its own."""
    command = [sys.executable, "-m", "hetero", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)


def run_inside(package, *arguments):
    """Return the exit code of a package's command, run in this process."""
    return importlib.import_module(f"{package}.__main__").main(list(map(str, arguments)))


def test_report():
    report = run("--no-limits", COLUMNS="200")
    assert report.returncode == 0, report.stderr
    problem = driver.why_unavailable()
    for word in ("cpu", "numba", "GPU: usable" if problem is None else "GPU: none usable"):
        assert word in report.stdout


def test_the_report_as_json_has_limits_and_explains_a_missing_gpu(capsys):
    assert run_inside("hetero", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    names = ("copy", "fma_float32", "fma_float64", "mad_int64")
    assert all(report["limits"][0][name] > 1e8 for name in names)
    if driver.why_unavailable() is not None:
        assert report["gpu_problem"]["cause"]
        assert report["gpu_problem"]["remedy"]
    assert run_inside("hetero", "info", "--no-limits", "--json") == 0  # `info` is the default
    out, err = capsys.readouterr()
    assert json.loads(out) == report | {"limits": [], "date": json.loads(out)["date"]}
    assert err == ""


COMMANDS = {
    "stablegpu": (("rvs", "1.5", "0"), "stablegpu._commands.samples.distribution_of"),
    "rode": (("solve", "growth", "--paths", "10"), "rode._commands.solutions.solve"),
    "lbm": (("bench", "--n", "8"), "lbm._commands.rates._measure"),
    "sbth": (("eigvals", "{data}"), "sbth._commands.eigenvalues.spectrum"),
    "tmd": (("search", "exp", "1", "1.0000000001", "--bits", "8"), "tmd.search"),
}
"""A command of each package, and the function that does its work."""


@pytest.mark.parametrize("package", PACKAGES)
def test_commands_say_in_one_line_what_is_wrong(package, tmp_path, capsys, monkeypatch):
    np.save(tmp_path / "data.npy", np.eye(3))
    texts, work = COMMANDS[package]
    arguments = [text.format(data=tmp_path / "data.npy") for text in texts]
    assert run_inside(package, *arguments, "--device", "banana") == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{package}: device must be")
    assert said.count("\n") == 1

    def interrupted(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(work, interrupted)
    assert run_inside(package, *arguments, "--device", "cpu") == 130
    assert capsys.readouterr().err == f"{package}: interrupted\n"


@pytest.mark.parametrize("package", ["hetero", *PACKAGES])
def test_every_package_and_its_command_know_their_version(package, capsys):
    assert importlib.import_module(package).__version__ == version("heterokit")
    with pytest.raises(SystemExit) as exit_of:
        run_inside(package, "--version")
    assert exit_of.value.code == 0
    assert capsys.readouterr().out == f"{package} {version('heterokit')}\n"


def test_warm_up_compiles_what_later_calls_need(tmp_path):
    command = ("warm", "sbth", "--device", "cpu")
    first = run(*command, HETERO_CACHE_DIR=str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert "sbth.eigvals_banded" in first.stdout
    assert str(tmp_path) in first.stdout
    again = run(*command, "--json", HETERO_CACHE_DIR=str(tmp_path))
    calls = json.loads(again.stdout)["calls"]
    assert calls
    assert {call["compiled"] for call in calls} == {0}


def test_warm_up_says_what_cannot_be_warmed(capsys, monkeypatch):
    assert run_inside("hetero", "warm", "nonsense") == 2
    monkeypatch.setenv("HETERO_CACHE", "0")
    assert run_inside("hetero", "warm", "sbth") == 2
    assert "HETERO_CACHE" in capsys.readouterr().err


def test_numbers_that_json_lacks_are_null_or_text(capsys):
    values = {"a": np.array([1.0, np.nan, np.inf, -np.inf]), "b": np.int64(3), "c": (True, None)}
    print_json(values | {"d": np.float32(0.5), "e": root()})
    expected = {"a": [1.0, None, "Infinity", "-Infinity"], "b": 3, "c": [True, None], "d": 0.5}
    assert json.loads(capsys.readouterr().out) == expected | {"e": str(root())}


def fail(error):
    raise error


@pytest.mark.parametrize(("error", "code", "message"), [
    (ValueError("bad value"), 2, "p: bad value\n"),
    (FileNotFoundError(2, "No such file", "a.csv"), 2, "p: a.csv: No such file\n"),
    (MemoryError(), 1, "p: out of memory\n"),
    (ComputationFailedError("no convergence"), 1, "p: no convergence\n"),
    (KeyboardInterrupt(), 130, "p: interrupted\n"),
    (SystemExit(0), 2, "p: code that it has loaded called sys.exit(0)\n"),
])  # fmt: skip
def test_exit_codes(error, code, message, capsys):
    assert run_command("p", lambda: fail(error)) == code
    assert capsys.readouterr().err == message


def test_a_result_that_cannot_be_written_is_kept_elsewhere(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    target, second = tmp_path / "gone" / "a.txt", tmp_path / "b.txt"

    def command():
        assert save_output(second, lambda path: path.write_text("2")) == second
        kept = save_output(target, lambda path: path.write_text("1"))
        assert kept.read_text() == "1"
        print("report")
        return 0

    assert run_command("p", command) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), second.read_text()) == ("report\n", 1, "2")
    (kept,) = tmp_path.glob("heterokit-*/a.txt")
    assert err == f"p: {target}: No such file or directory; so the result is in {kept}\n"
    with pytest.raises(FileNotFoundError):  # nobody would report it
        save_output(target, lambda path: path.write_text("1"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_standard_output_is_one_line_also_at_the_end_of_a_process(capsys):
    with open("/dev/full", "w") as full, contextlib.redirect_stdout(full):
        assert run_inside("stablegpu", "rvs", "1.5", "0", "--size", "1e3") == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1].endswith("standard output: No space left on device")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "hetero", "info", "--no-limits"]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, stdout=full, stderr=-1, text=True, env=environment)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.splitlines()[-1].endswith("standard output: No space left on device")
    assert not re.search("Traceback|Exception", ended.stderr)


def test_files_are_tried_before_the_work_and_left_as_they_are(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("before")
    check_outputs(out=path, plot=tmp_path / "b.svg", others=(tmp_path / "c.wc", None))
    assert path.read_text() == "before"
    with pytest.raises(ValueError, match=r"two options write .*a.csv"):
        check_outputs(out=path, others=(tmp_path / ".." / tmp_path.name / "a.csv",))
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.skipif(not os.path.isdir("/sys"), reason="this system has no folder that is read-only")
@pytest.mark.parametrize(("package", "arguments"), [
    ("stablegpu", ("fit", "{data}", "--out", "/sys/a.csv")),
    ("rode", ("solve", "growth", "--out", "/sys/a.csv")),
    ("tmd", ("search", "exp", "1", "2", "--certificate", "/sys/a.json")),
    ("lbm", ("cavity", "--n", "8", "--out", "{folder}", "--checkpoint", "/sys/a.state")),
    ("lbm", ("predict", "--shape", "8", "8", "8", "--save", "/sys/a.json")),
])  # fmt: skip
def test_a_folder_that_cannot_be_written_ends_commands_before_the_work(
    package, arguments, tmp_path, capsys, caplog
):
    data = tmp_path / "data.npy"
    np.save(data, np.arange(16.0).reshape(4, 4))
    filled = [text.format(data=data, folder=tmp_path) for text in arguments]
    with caplog.at_level(logging.INFO):
        assert run_inside(package, *filled) == 2
    assert not caplog.records  # packages say what they are about to compute
    err = capsys.readouterr().err
    assert "/sys/" in err
    assert err.count("\n") == 1


def test_negative_numbers_with_exponents_are_no_options():
    parser = CommandParser(prog="p")
    parser.add_argument("x", type=float, nargs="+")
    assert parser.parse_args(["-1e-3", "-.5", "-2", "3"]).x == [-1e-3, -0.5, -2.0, 3.0]


def test_commands_load_matplotlib_only_to_draw():
    modules = ", ".join(f"{package}.__main__" for package in PACKAGES)
    code = f"import sys, {modules}; print('matplotlib' in sys.modules)"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"
