"""`python -m tmd`: its output, its files and its error messages."""

import json

import pytest

from studies.__main__ import main as run_studies
from tmd.__main__ import main

SEARCH = ["search", "exp", "1.5", "0x1.8000004p+0", "--bits", "20", "--quiet"]


def test_search_writes_lines_and_a_certificate_that_verifies(tmp_path, capsys):
    wc, certificate = tmp_path / "exp.wc", tmp_path / "exp.json"
    assert main([*SEARCH, "--out", str(wc), "--certificate", str(certificate)]) == 0
    lines = wc.read_text().splitlines()
    arguments = [float.fromhex(line) for line in lines if not line.startswith("#")]
    assert arguments == sorted(arguments)
    assert len(arguments) == json.loads(certificate.read_text())["cases"]
    assert f"{len(arguments)} cases, hardness" in capsys.readouterr().err
    assert main(["verify", str(certificate)]) == 0
    assert "1 blocks, 3 windows" in capsys.readouterr().out


def test_check_tries_python_numpy_and_a_library(capsys):
    pytest.importorskip("ctypes.util")
    import ctypes.util

    if (path := ctypes.util.find_library("m")) is None:
        pytest.skip("this system has no C library with mathematical functions")
    options = ["--bits", "20", "--count", "50", "--quiet", "--library", path]
    assert main(["check", "exp", "1.5", "0x1.8000004p+0", *options]) == 0
    out = capsys.readouterr().out
    assert out.count("of 50 wrong") == 3
    assert path in out


def test_errors_are_reported_without_a_traceback(capsys, tmp_path):
    assert main(["search", "log", "1", "2"]) == 2
    assert "a zero at 1" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "none.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert main(["check", "exp", "1", "1.0000001", "--library", "no-such.so", "--quiet"]) == 2
    assert "cannot be loaded" in capsys.readouterr().err


def test_configurations_of_two_lengths_are_those_of_the_points(tmp_path):
    options = ["--device", "cpu", "--out", str(tmp_path)]
    assert run_studies(["run", "hard-cases table 1", *options]) == 0
    record = json.loads((tmp_path / "tmd-configurations-cpu.json").read_text())
    assert record["result"] == {"agree": True, "configurations": 10}
    assert record["tables"][0]["rows"][4][:6] == [1, 1, 4, 3, 11, 3]  # table 1, row (1, 1)


@pytest.mark.slow
def test_studies_write_records_and_a_figure(tmp_path):
    names = [
        "tmd-binades",
        "tmd-divergence",
        "tmd-generation",
        "tmd-phases",
        "tmd-tests",
        "tmd-truncation",
    ]
    assert run_studies(["run", *names, "--quick", "--device", "cpu", "--out", str(tmp_path)]) == 0
    written = {path.name for path in tmp_path.iterdir()}
    assert written >= {f"{name}-cpu.json" for name in names} | {
        "tmd-binades.png",
        "tmd-divergence.png",
    }


@pytest.mark.parametrize("option", ["--out", "--certificate"])
def test_outputs_that_cannot_be_written_are_refused_before_the_search(option, tmp_path, capsys):
    import tmd

    with pytest.MonkeyPatch.context() as m:
        m.setattr(tmd, "search", lambda *_, **__: pytest.fail("it searched"), raising=False)
        for path in (tmp_path, tmp_path / "none" / "exp.wc"):
            assert main([*SEARCH, option, str(path)]) == 2
            assert f"{option} must be a file in an existing folder" in capsys.readouterr().err
        assert main(["check", "exp", "1", "2", "--library", "no-such.so"]) == 2
        assert "cannot be loaded" in capsys.readouterr().err


def test_an_interruption_prints_no_traceback(capsys):
    import tmd

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as m:
        m.setattr(tmd, "search", interrupt, raising=False)
        assert main(SEARCH) == 130
    assert "interrupted" in capsys.readouterr().err
