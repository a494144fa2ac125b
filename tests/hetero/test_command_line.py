"""`python -m hetero` shows the devices, their limits and what is missing."""

import importlib
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from hetero.compile_cache.store import root
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
    folders = {"XDG_CACHE_HOME": str(tmp_path), "HETERO_CACHE_DIR": str(root().parent)}
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


COMMANDS = {
    "stablegpu": (("rvs", "1.5", "0"), "stablegpu._commands.samples.distribution_of"),
    "rode": (("solve", "growth", "--paths", "10"), "rode._commands.solutions.solve"),
    "lbm": (("bench", "--n", "8"), "lbm._commands.rates._measure"),
    "sbth": (("eigvals", "{data}"), "sbth._commands.eigenvalues.spectrum"),
    "tmd": (("search", "exp", "1", "1.0000000001", "--bits", "8"), "tmd.search"),
}
"""A command of each package, and the function that does its work."""


@pytest.mark.parametrize("package", COMMANDS)
def test_commands_say_in_one_line_what_is_wrong(package, tmp_path, capsys, monkeypatch):
    main = importlib.import_module(f"{package}.__main__").main
    np.save(tmp_path / "data.npy", np.eye(3))
    texts, work = COMMANDS[package]
    arguments = [text.format(data=tmp_path / "data.npy") for text in texts]
    assert main([*arguments, "--device", "banana"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{package}: device must be")
    assert said.count("\n") == 1

    def interrupted(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(work, interrupted)
    assert main([*arguments, "--device", "cpu"]) == 130
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


def run_inside(capsys, *arguments):
    """Return exit code, standard output and standard error of `hetero`, run in this process."""
    code = importlib.import_module("hetero.__main__").main(list(arguments))
    return code, *capsys.readouterr()


def test_info_is_the_default_command(capsys):
    code, out, err = run_inside(capsys, "info", "--no-limits", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["limits"] == []
    assert json.loads(run_inside(capsys, "--no-limits", "--json")[1])["cpu"]


def test_warm_as_json(capsys, monkeypatch):
    monkeypatch.setattr("hetero.compile_ahead.warm", lambda *_: [("sbth.f", 0.5, 3)])
    monkeypatch.setattr("hetero.compile_ahead.packages", lambda: ["sbth"])
    _, out, _ = run_inside(capsys, "warm", "sbth", "--device", "cpu", "--json")
    assert json.loads(out)["calls"] == [{"call": "sbth.f", "seconds": 0.5, "compiled": 3}]


def test_numbers_that_json_lacks_are_null_or_text(capsys):
    import numpy as np

    from hetero.command_line import print_json

    values = {"a": np.array([1.0, np.nan, np.inf, -np.inf]), "b": np.int64(3), "c": (True, None)}
    print_json(values | {"d": np.float32(0.5), "e": root()})
    assert json.loads(capsys.readouterr().out) == {
        "a": [1.0, None, "Infinity", "-Infinity"],
        "b": 3,
        "c": [True, None],
        "d": 0.5,
        "e": str(root()),
    }


def fail(error):
    raise error


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ValueError("bad value"), 2, "p: bad value\n"),
        (FileNotFoundError(2, "No such file", "a.csv"), 2, "p: a.csv: No such file\n"),
        (MemoryError(), 1, "p: out of memory\n"),
        (KeyboardInterrupt(), 130, "p: interrupted\n"),
    ],
)
def test_exit_codes(error, code, message, capsys):
    from hetero.command_line import run_command

    assert run_command("p", lambda: fail(error)) == code
    assert capsys.readouterr().err == message


def test_a_result_that_cannot_be_written_is_kept_elsewhere(tmp_path, capsys, monkeypatch):
    from hetero.command_line import run_command, save_output

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


def test_a_full_disk_everywhere_is_told(tmp_path, capsys, monkeypatch):
    from hetero.command_line import run_command, save_output

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))

    def command():
        save_output(tmp_path / "a.txt", lambda path: fail(OSError(28, "No space left on device")))
        return 0

    assert run_command("p", command) == 2
    assert "a.txt: No space left on device; and to no other folder" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("package", ["stablegpu", "rode", "sbth", "tmd", "hetero"])
def test_a_full_standard_output_is_one_line_and_exit_code_2(package, tmp_path):
    np.save(tmp_path / "m.npy", np.eye(3))
    arguments = {
        "stablegpu": ("rvs", "1.5", "0", "--size", "1e3"),
        "rode": ("solve", "growth", "--paths", "1e1", "--t-span", "0", "0.1", "--h", "0.05"),
        "sbth": ("eigvals", str(tmp_path / "m.npy")),
        "tmd": ("search", "exp", "1", "1.0000000001", "--bits", "8", "--json"),
        "hetero": ("info", "--no-limits"),
    }[package]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", package, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.splitlines()[-1].endswith("standard output: No space left on device")
    assert "Traceback" not in ended.stderr
    assert "Exception" not in ended.stderr


def test_files_are_tried_before_the_work_and_left_as_they_are(tmp_path):
    from hetero.command_line import check_outputs

    path = tmp_path / "a.csv"
    path.write_text("before")
    check_outputs(out=path, plot=tmp_path / "b.svg", others=(tmp_path / "c.wc", None))
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.skipif(not os.path.isdir("/sys"), reason="this system has no folder that is read-only")
@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("stablegpu", ("fit", "{data}", "--out", "/sys/a.csv")),
        ("stablegpu", ("fit", "{data}", "--plot", "/sys/a.svg")),
        ("stablegpu", ("rvs", "1.5", "0", "--out", "/sys/a.npy")),
        ("rode", ("solve", "growth", "--out", "/sys/a.csv")),
        ("sbth", ("eigvals", "{data}", "--out", "/sys/a.csv")),
        ("tmd", ("search", "exp", "1", "2", "--out", "/sys/a.wc")),
        ("tmd", ("search", "exp", "1", "2", "--certificate", "/sys/a.json")),
        ("tmd", ("search", "exp", "1", "2", "--checkpoint", "/sys/a.json")),
        ("lbm", ("cavity", "--n", "8", "--out", "/sys", "--device", "cpu")),
        ("lbm", ("cavity", "--n", "8", "--out", "{folder}", "--checkpoint", "/sys/a.state")),
        ("lbm", ("predict", "--shape", "8", "8", "8", "--save", "/sys/a.json")),
    ],
)
def test_a_folder_that_cannot_be_written_ends_commands_before_the_work(
    package, arguments, tmp_path, capsys, monkeypatch
):
    def work(*arguments, **settings):
        raise AssertionError("the work has begun")

    for name in ("stablegpu._commands.fits.fit", "rode._commands.solutions.solve",
                 "sbth._commands.eigenvalues.spectrum", "tmd.search", "lbm.Simulation.run",
                 "stablegpu._commands.samples.distribution_of",
                 "lbm._commands.predictions._measure"):  # fmt: skip
        monkeypatch.setattr(name, work)
    data = tmp_path / "data.npy"
    np.save(data, np.arange(16.0).reshape(4, 4))
    filled = [text.format(data=data, folder=tmp_path) for text in arguments]
    assert importlib.import_module(f"{package}.__main__").main(filled) == 2
    err = capsys.readouterr().err
    assert "/sys/" in err
    assert err.count("\n") == 1


def test_whole_numbers_may_have_exponents(capsys):
    from hetero.command_line import CommandParser, whole_number

    parser = CommandParser(prog="p")
    parser.add_argument("--size", type=whole_number)
    sizes = [parser.parse_args(["--size", text]).size for text in ("12", "1e6", "2.5e3")]
    assert sizes == [12, 1_000_000, 2500]
    for text in ("1.5", "1e-3", "inf", "ten"):
        with pytest.raises(SystemExit):
            parser.parse_args(["--size", text])
        assert f"invalid whole number value: '{text}'" in capsys.readouterr().err


def test_failed_computations_and_warnings(capsys):
    import warnings

    from hetero.command_line import ComputationFailedError, run_command

    assert run_command("p", lambda: fail(ComputationFailedError("no convergence"))) == 1
    assert capsys.readouterr().err == "p: no convergence\n"

    original = warnings.formatwarning

    def warned():
        text = warnings.formatwarning("beware", UserWarning, "file.py", 1)
        assert text == "p: warning: beware\n"
        return 0

    assert run_command("p", warned) == 0
    assert warnings.formatwarning is original


def test_negative_numbers_with_exponents_are_no_options():
    from hetero.command_line import CommandParser

    parser = CommandParser(prog="p")
    parser.add_argument("x", type=float, nargs="+")
    assert parser.parse_args(["-1e-3", "-.5", "-2", "3"]).x == [-1e-3, -0.5, -2.0, 3.0]


def test_the_help_of_plot_and_out_names_every_format_that_is_accepted(tmp_path):
    from hetero.command_line import CommandParser, add_out_option, add_plot_option, check_outputs

    parser = CommandParser(prog="p")
    add_plot_option(parser, "the fit")
    add_out_option(parser, "the estimates")
    words = " ".join(parser.format_help().split())
    assert "draw the fit to a .html, .png, .svg or .pdf file" in words
    assert "write the estimates to a .csv, .parquet or .npy file" in words
    assert parser.parse_args(["--plot", "a.svg"]).out is None
    check_outputs()
    for suffix in (".html", ".png", ".SVG", ".pdf"):
        check_outputs(plot=tmp_path / f"a{suffix}")
    for suffix in (".csv", ".parquet", ".npy"):
        check_outputs(out=tmp_path / f"a{suffix}")


@pytest.mark.parametrize(
    ("option", "name", "message"),
    [
        ("plot", "a.csv", "--plot must end with .html, .png, .svg, .pdf, got "),
        ("plot", "none/a.svg", "--plot must be a file in an existing folder, got "),
        ("out", "a.svg", "--out must end with .csv, .parquet, .npy, got "),
        ("out", "none/a.csv", "--out must be a file in an existing folder, got "),
        ("out", "folder.csv", "--out must be a file in an existing folder, got "),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_the_run(option, name, message, tmp_path):
    from hetero.command_line import check_outputs

    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match=re.escape(message)):
        check_outputs(**{option: tmp_path / name})


@pytest.mark.parametrize("package", ["stablegpu", "rode", "lbm", "sbth", "tmd"])
def test_commands_load_matplotlib_only_to_draw(package):
    code = f"import sys, {package}.__main__; print('matplotlib' in sys.modules)"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
