"""`python -m hetero` shows the devices, their limits and what is missing."""

import importlib
import json
import os
import subprocess
import sys

import pytest

from hetero.compile_cache.folder import root
from hetero.cuda import driver


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "hetero", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200"} | environment,
    )


def test_report(tmp_path):
    report = run("--no-limits")
    assert report.returncode == 0, report.stderr
    assert "cpu" in report.stdout
    assert "numba" in report.stdout
    assert (
        "GPU: usable" if driver.why_unavailable() is None else "GPU: none usable"
    ) in report.stdout


def test_limits_are_measured_and_cached(tmp_path):
    folders = {"XDG_CACHE_HOME": str(tmp_path), "HETERO_CACHE_DIR": str(root())}
    first = run("--json", **folders)
    assert first.returncode == 0, first.stderr
    report = json.loads(first.stdout)
    assert report["limits"][0]["copy"] > 1e8
    assert all(report["limits"][0][k] > 1e8 for k in ("fma_float32", "fma_float64", "mad_int64"))
    again = json.loads(run("--json", **folders).stdout)
    assert again["limits"] == report["limits"]


@pytest.mark.skipif(driver.why_unavailable() is None, reason="this machine has a GPU")
def test_a_missing_gpu_is_explained():
    report = json.loads(run("--json", "--no-limits").stdout)
    assert report["gpu_problem"]["cause"]
    assert report["gpu_problem"]["remedy"]


@pytest.mark.parametrize("package", ["stablegpu", "rode", "lbm", "sbth", "tmd"])
def test_commands_say_in_one_line_what_is_wrong(package, tmp_path, capsys, monkeypatch):
    main = importlib.import_module(f"{package}.__main__").main
    assert main(["study", "--quick", "--device", "banana", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{package}: device must be")
    assert said.count("\n") == 1

    def interrupted(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("hetero.measurement.studies.run", interrupted)
    assert main(["study", "--quick", "--device", "cpu", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err == f"{package}: interrupted\n"


@pytest.mark.parametrize("package", ["hetero", "stablegpu", "rode", "lbm", "sbth", "tmd"])
def test_every_package_and_its_command_know_their_version(package, capsys):
    from importlib.metadata import version

    assert importlib.import_module(package).__version__ == version("heterokit")
    with pytest.raises(SystemExit) as exit_of:
        importlib.import_module(f"{package}.__main__").main(["--version"])
    assert exit_of.value.code == 0
    assert capsys.readouterr().out == f"{package} {version('heterokit')}\n"


@pytest.mark.parametrize("package", ["stablegpu", "rode", "sbth"])
def test_optional_arguments_are_not_called_required(package, capsys):
    with pytest.raises(SystemExit):
        importlib.import_module(f"{package}.__main__").main([])
    last = capsys.readouterr().err.splitlines()[-1]
    assert "required: " in last
    assert "WHAT" not in last


def test_warm_up_compiles_what_later_calls_need(tmp_path):
    first = run("warm", "sbth", "--device", "cpu", HETERO_CACHE_DIR=str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert "sbth.eigvals_banded" in first.stdout
    assert str(tmp_path) in first.stdout
    again = run("warm", "sbth", "--device", "cpu", HETERO_CACHE_DIR=str(tmp_path))
    assert all("0 functions compiled" in line for line in again.stdout.splitlines()[:-1])


def test_warm_up_says_what_cannot_be_warmed():
    assert run("warm", "nonsense").returncode == 2
    refused = run("warm", "sbth", HETERO_CACHE="0")
    assert refused.returncode == 2
    assert "HETERO_CACHE" in refused.stderr
