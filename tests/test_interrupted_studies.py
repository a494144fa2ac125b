"""Studies that do not come to their end: what they have measured is kept."""

import json
import os
import signal
import subprocess
import sys
import time
from types import ModuleType

import pytest

import studies.__main__ as runner

ROWS = 3


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Return a function that runs a study whose last row raises an exception, or does not."""
    settings = {"error": None}

    def measure():
        for n in range(ROWS):
            yield n, n**2
        if settings["error"] is not None:
            raise settings["error"]

    def run_study(study):
        study.table("Before", ("n",), [(7,)])
        rows = study.table("Squares", ("n", "square"), measure())
        study.table("Empty", ("n",), ())
        return {"rows": len(rows)}

    module = ModuleType("slow")
    module.run = run_study
    monkeypatch.setitem(sys.modules, "slow", module)
    monkeypatch.setattr(runner, "STUDIES", {"slow-one": "slow"})

    def run(error, verb="run"):
        settings["error"] = error
        names = ["slow-one"] if verb == "run" else []
        return runner.main([verb, *names, "--device", "cpu", "--quick", "--out", str(tmp_path)])

    return run


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (ValueError("the lamp went out"), 2)]
)
def test_an_interrupted_study_leaves_its_rows(run, error, code, tmp_path, capsys):
    assert run(None) == 0
    before = (tmp_path / "slow-one-cpu.json").read_text()
    assert run(error) == code
    path = tmp_path / "slow-one-cpu-incomplete.json"
    assert f"its rows so far are in {path}" in capsys.readouterr().err
    record = json.loads(path.read_text())
    assert record["incomplete"] == type(error).__name__
    assert "result" not in record
    assert [table["title"] for table in record["tables"]] == ["Before", "Squares"]
    assert record["tables"][1]["rows"] == [[n, n**2] for n in range(ROWS)]
    assert (tmp_path / "slow-one-cpu.json").read_text() == before
    assert run(None) == 0
    assert not path.exists()


def test_all_leaves_the_rows_of_a_study_that_fails(run, tmp_path):
    assert run(RuntimeError("the disk of the stars is full"), "all") == 1
    record = json.loads((tmp_path / "slow-one-cpu-incomplete.json").read_text())
    assert len(record["tables"][1]["rows"]) == ROWS
    assert not (tmp_path / "slow-one-cpu.json").exists()


def test_a_study_without_rows_leaves_no_file(run, tmp_path, monkeypatch):
    def fail(study):
        raise RuntimeError("no lamp")

    monkeypatch.setattr(sys.modules["slow"], "run", fail)
    assert run(None, "all") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["all-cpu.json"]  # the times of all


def test_long_tables_say_how_far_they_are(run, monkeypatch, capsys):
    monkeypatch.setattr("studies.study.SECONDS_BETWEEN_REPORTS", 0.0)
    assert run(None) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Squares")]
    assert [line.split(": ")[1] for line in lines] == ["0, 0", "1, 1", "2, 4"]


PROGRAM = """
import sys, time
from types import ModuleType
import studies.__main__ as runner

def measure():
    yield 1, 1
    print("measured", flush=True)
    time.sleep(60)

def run_study(study):
    study.table("Squares", ("n", "square"), measure())

module = ModuleType("slow")
module.run = run_study
sys.modules["slow"] = module
runner.STUDIES["slow-one"] = "slow"
sys.exit(runner.main(["run", "slow-one", "--device", "cpu", "--quick", "--out", sys.argv[1]]))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows ends processes without a signal")
def test_a_study_whose_time_is_over_leaves_its_rows(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"measured\n"
        process.send_signal(signal.SIGTERM)
        start = time.perf_counter()
        process.communicate(timeout=50)
    assert process.returncode == 128 + signal.SIGTERM
    assert time.perf_counter() - start < 50
    record = json.loads((tmp_path / "slow-one-cpu-incomplete.json").read_text())
    assert record["incomplete"] == "SystemExit"
    assert record["tables"][0]["rows"] == [[1, 1]]


def test_a_record_does_not_name_the_folder_of_the_run(run, tmp_path):
    assert run(None) == 0
    record = json.loads((tmp_path / "slow-one-cpu.json").read_text())
    assert record["command"] == "python -m studies run slow-one --device cpu --quick"
    assert runner._without_folder(["run", "x", "--out=here", "--quick"]) == ["run", "x", "--quick"]
