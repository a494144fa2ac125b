"""The runner of the studies, and the one format of records of studies and benchmarks."""

import importlib
import json
import os
import sys
from types import ModuleType

import pytest

import hetero
import studies.__main__ as runner
from benchmarks import __main__ as benchmarks_runner
from benchmarks.measurements import Measurement
from studies.stablegpu import thread_rates
from studies.study import Study

PARTS = ["name", "device", "command", "facts", "limits"]


@pytest.fixture
def tiny(monkeypatch):
    """Let the runners know a study that prints a table, and a suite with one figure."""

    def run_study(study):
        study.table("Squares", ("n", "square"), [(n, n**2) for n in range(3)])
        return {"largest": 4}

    def run_suite(device, quick):
        return [Measurement("speed", 1.0, "m/s", 2.0, "light")]

    for names, run in ((runner.STUDIES, run_study), (benchmarks_runner.SUITES, run_suite)):
        module = ModuleType(run.__name__)
        module.run = run
        monkeypatch.setitem(sys.modules, run.__name__, module)
        monkeypatch.setitem(names, "tiny", run.__name__)


def test_a_study_prints_its_table_and_writes_a_record(tiny, tmp_path, capsys):
    options = ["--device", "cpu", "--quick", "--out", str(tmp_path)]
    assert runner.main(["run", "tiny", *options]) == 0
    printed = capsys.readouterr().out
    assert "Squares" in printed
    assert printed.splitlines()[-1] == str(tmp_path / "tiny-cpu.json")
    record = json.loads((tmp_path / "tiny-cpu.json").read_text())
    assert list(record) == [*PARTS, "seconds", "result", "tables"]
    assert 0.0 < record["seconds"] < 60.0
    assert record["command"].startswith("python -m studies run tiny --device cpu")
    assert record["result"] == {"largest": 4}
    assert record["tables"][0]["rows"] == [[0, 0], [1, 1], [2, 4]]
    assert (tmp_path / "tiny-cpu.1.csv").read_text().split() == ["n,square", "0,0", "1,1", "2,4"]


def test_all_leaves_out_what_this_commit_has_measured(tiny, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runner, "STUDIES", {"tiny": runner.STUDIES["tiny"]})
    options = ["all", "--device", "cpu", "--quick", "--out", str(tmp_path)]
    record = tmp_path / "tiny-cpu.json"
    for commit, runs in (("abc", 1), ("abc", 0), ("def", 1), ("def+", 1), ("def+", 1)):
        monkeypatch.setattr("hetero.measurement.environment.commit", lambda c=commit: c)
        assert runner.main(options) == 0
        printed = capsys.readouterr().out
        assert printed.count("Squares") == runs, commit
        assert json.loads(record.read_text())["facts"]["commit"] == commit
        assert str(record) in printed
        assert printed.splitlines()[-1] == str(tmp_path / "all-cpu.json")


def test_all_writes_how_long_each_study_and_package_took(tiny, tmp_path, monkeypatch, capsys):
    def stop(study):
        raise SystemExit(143)

    module = ModuleType("stopping")
    module.run = stop
    monkeypatch.setitem(sys.modules, "stopping", module)
    tiny_module = runner.STUDIES["tiny"]
    studies = {"a-one": tiny_module, "a-two": tiny_module, "b-one": "stopping"}
    monkeypatch.setattr(runner, "STUDIES", studies)
    monkeypatch.setattr("hetero.measurement.environment.commit", lambda: "abc")
    options = ["--device", "cpu", "--quick", "--out", str(tmp_path)]
    path = tmp_path / "all-cpu.json"

    def times():
        return json.loads(path.read_text())

    assert runner.main(["run", "a-one", *options]) == 0
    assert not path.exists()
    with pytest.raises(SystemExit):
        runner.main(["all", *options])
    entries = times()["studies"]
    assert [(name, e["outcome"]) for name, e in entries.items()] == [
        ("a-one", "done"),
        ("a-two", "done"),
        ("b-one", "SystemExit"),
    ]
    first = json.loads((tmp_path / "a-one-cpu.json").read_text())
    assert entries["a-one"] == {"seconds": first["seconds"], "outcome": "done", "commit": "abc"}
    assert entries["a-two"]["seconds"] > 0.0

    module.run = lambda study: {}
    capsys.readouterr()
    assert runner.main(["all", "b", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert times()["studies"]["a-two"] == entries["a-two"]
    assert times()["studies"]["b-one"]["outcome"] == "done"
    totals = {"a": entries["a-one"]["seconds"] + entries["a-two"]["seconds"]}
    totals["b"] = times()["studies"]["b-one"]["seconds"]
    assert times()["packages"] == totals
    assert list(times()) == [*PARTS, "studies", "packages"]
    assert lines[-1] == str(path)
    assert lines[-2].split() == ["b", f"{totals['b']:.1f}"]
    assert lines[-4].split() == ["b-one", f"{totals['b']:.1f}"]


def test_all_starts_nothing_that_would_take_too_long(tiny, tmp_path, monkeypatch, capsys):
    module = runner.STUDIES["tiny"]
    monkeypatch.setattr(runner, "STUDIES", {"a-long": module, "a-new": module, "a-short": module})
    for name, seconds in (("a-long", 100.0), ("a-short", 1.0)):
        path = tmp_path / f"{name}-cpu.json"
        path.write_text(json.dumps({"seconds": seconds, "facts": {"commit": "old"}}))
    options = ["--device", "cpu", "--quick", "--out", str(tmp_path)]
    assert runner.main(["all", "--minutes", "1", *options]) == 0
    assert "left for another run by --minutes: a-long" in capsys.readouterr().err.splitlines()
    times = json.loads((tmp_path / "all-cpu.json").read_text())
    assert list(times["studies"]) == ["a-new", "a-short"]
    assert runner.main(["all", *options]) == 0
    times = json.loads((tmp_path / "all-cpu.json").read_text())
    assert list(times["studies"]) == ["a-long", "a-new", "a-short"]
    assert runner.main(["all", "--minutes", "-1", *options]) == 2
    assert "--minutes must be positive" in capsys.readouterr().err


def test_a_study_that_fails_does_not_end_all(tiny, tmp_path, monkeypatch, capsys):
    def fail(study):
        study.table("Half", ("n",), [(1,)])
        raise RuntimeError("the disk of the stars is full")

    module = ModuleType("failing")
    module.run = fail
    monkeypatch.setitem(sys.modules, "failing", module)
    studies = {"bad-one": "failing", "good-one": runner.STUDIES["tiny"]}
    monkeypatch.setattr(runner, "STUDIES", studies)
    assert runner.main(["all", "--device", "cpu", "--quick", "--out", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert "the disk of the stars is full" in captured.err
    assert captured.err.splitlines()[-1] == "failed: bad-one"
    record = json.loads((tmp_path / "good-one-cpu.json").read_text())
    assert [table["title"] for table in record["tables"]] == ["Squares"]
    assert not (tmp_path / "bad-one-cpu.json").exists()


def test_all_of_a_package(capsys):
    names = runner.names_for(hetero.Device("cuda"), ["sbth", "lbm"])
    assert {name.partition("-")[0] for name in names} == {"sbth", "lbm"}
    assert "lbm-hybrid" in names
    assert "lbm-hybrid" not in runner.names_for(hetero.Device("cpu"), ["lbm"])
    assert runner.main(["all", "phrenology", "--device", "cpu", "--quick"]) == 2
    assert "PACKAGE must be" in capsys.readouterr().err


def test_a_benchmark_writes_the_same_format(tiny, tmp_path, monkeypatch):
    path = tmp_path / "tiny.json"
    monkeypatch.setattr("sys.argv", ["benchmarks", "run", "tiny", "--json", str(path)])
    benchmarks_runner.main()
    record = json.loads(path.read_text())
    assert list(record) == [*PARTS, "figures"]
    assert record["figures"][0]["fraction"] == 0.5


def test_the_list_says_what_every_study_is(capsys):
    assert runner.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(runner.STUDIES)
    assert all(len(line.split()) > 3 for line in lines)
    assert set(runner.DURATIONS) <= set(runner.STUDIES)
    durations = {line[22:32].strip() for line in lines}
    assert durations == {"< 1 min", *runner.DURATIONS.values()}


def test_every_study_has_a_function_run():
    for module in runner.STUDIES.values():
        assert callable(importlib.import_module(module).run)


def test_all_leaves_out_what_a_device_cannot_run():
    on_cpu, on_gpu = (runner.names_for(hetero.Device(kind)) for kind in ("cpu", "cuda"))
    assert set(on_gpu) - set(on_cpu) == {"lbm-hybrid"}
    assert set(on_cpu) - set(on_gpu) == {"sbth-plane", "stablegpu-threads"}
    assert {*on_cpu, *on_gpu} == set(runner.STUDIES) - set(runner.NOT_IN_ALL)


def test_threads_of_a_cpu_are_not_measured_on_a_gpu(tmp_path):
    study = Study(tmp_path, hetero.Device("cuda"), quick=True)
    with pytest.raises(ValueError, match="use --device cpu"):
        thread_rates.run(study)


def test_studies_of_papers_are_those_behind_their_tables():
    """Table 6.3 has the study that is compared and the one that counts its operations."""
    found = runner.studies_of_papers()
    assert {"sbth-comparison", "sbth-counts", "lbm-hybrid", "tmd-tests"} <= found
    assert not found & {"lbm-gallery", "lbm-bodies", "sbth-plane"}


def test_all_studies_of_papers_of_a_package(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "studies_of_papers", lambda: {"rode-ziggurats", "tmd-phases"})
    options = ["rode", "--papers", "--quick", "--device", "cpu", "--out", str(tmp_path)]
    assert runner.main(["all", *options]) == 0
    assert {path.name for path in tmp_path.glob("*.json")} == {
        "all-cpu.json", "rode-ziggurats-cpu.json",
    }  # fmt: skip


def test_an_unknown_study_is_refused(capsys):
    assert runner.main(["run", "phrenology"]) == 2
    assert "'phrenology' is neither a study" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--device", "banana"), "device must be"),
        (("--device", "cpu", "--processes", "0"), "--processes must be an integer >= 1"),
        (("--device", "cpu", "--out", "/sys"), "/sys/"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(options, words, tiny, tmp_path, capsys):
    if "/sys" in options and not os.path.isdir("/sys"):
        pytest.skip("this system has no folder that is read-only")
    assert runner.main(["run", "tiny", "--out", str(tmp_path), *options]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_tables_belong_to_one_record(tmp_path):
    study = Study(tmp_path, hetero.Device("cpu"), quick=True)
    for name in ("first", "second"):
        study.table(name, ("n",), [(1,)])
        path = study.write(name, {}, ["studies"])
        assert [table["title"] for table in json.loads(path.read_text())["tables"]] == [name]
