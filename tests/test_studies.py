"""The runner of the studies, and the format of their records."""

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import studies.__main__ as runner

PARTS = ["name", "device", "command", "facts", "limits"]


def print_squares(study):
    study.table("Squares", ("n", "square"), [(n, n**2) for n in range(3)])
    return {"largest": 4}


@pytest.fixture
def install(monkeypatch):
    """Return a function that lets the runner know other studies, by name, instead of its own."""

    def install(**functions):
        names = {name.replace("_", "-"): f"module_of_{name}" for name in functions}
        for module, function in zip(names.values(), functions.values(), strict=True):
            monkeypatch.setitem(sys.modules, module, ModuleType(module))
            sys.modules[module].run = function
        monkeypatch.setattr(runner, "STUDIES", names)

    return install


@pytest.fixture
def run(tmp_path, capsys):
    """Return a function that runs studies: the exit code, lines printed, and lines of errors."""

    def run(*words):
        code = runner.main([*words, "--device", "cpu", "--quick", "--out", str(tmp_path)])
        printed = capsys.readouterr()
        return code, printed.out.splitlines(), printed.err.splitlines()

    return run


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a record of the folder."""
    return lambda name: json.loads((tmp_path / f"{name}-cpu.json").read_text())


def test_a_study_prints_its_table_and_writes_a_record(install, run, read, tmp_path):
    install(tiny=print_squares)
    code, printed, _ = run("run", "tiny")
    assert code == 0
    assert any("Squares" in line for line in printed)
    assert printed[-1] == str(tmp_path / "tiny-cpu.json")
    record = read("tiny")
    assert list(record) == [*PARTS, "seconds", "result", "tables"]
    assert 0.0 < record["seconds"] < 60.0
    assert record["command"] == "python -m studies run tiny --device cpu --quick"  # no folder
    assert record["result"] == {"largest": 4}
    assert record["tables"][0]["rows"] == [[0, 0], [1, 1], [2, 4]]
    assert (tmp_path / "tiny-cpu.1.csv").read_text().split() == ["n,square", "0,0", "1,1", "2,4"]


def test_all_leaves_out_what_this_commit_has_measured(install, run, read, tmp_path, monkeypatch):
    install(tiny=print_squares)
    for commit, runs in (("abc", 1), ("abc", 0), ("def", 1), ("def+", 1), ("def+", 1)):
        monkeypatch.setattr("hetero.measurement.environment.commit", lambda c=commit: c)
        code, printed, _ = run("all")
        assert code == 0
        assert sum("Squares" in line for line in printed) == runs, commit
        assert read("tiny")["facts"]["commit"] == commit
        assert any(line.startswith(str(tmp_path / "tiny-cpu.json")) for line in printed)
        assert printed[-1] == str(tmp_path / "all-cpu.json")


def test_the_list_says_what_every_study_is_and_each_has_a_function_run(capsys):
    assert runner.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(runner.STUDIES)
    assert all(len(line.split()) > 3 for line in lines)
    assert set(runner.DURATIONS) <= set(runner.STUDIES)
    durations = {line[22:32].strip() for line in lines}
    assert durations == {"< 1 min", *runner.DURATIONS.values()}
    # Importing all of them takes a quarter of a minute; their own tests do.
    for module in runner.STUDIES.values():
        path = Path(runner.__file__).parents[1] / (module.replace(".", "/") + ".py")
        assert re.search(r"^def run\(study: Study\)", path.read_text(), re.M), module


@pytest.mark.parametrize(("words", "message"), [
    (("run", "phrenology"), "'phrenology' is neither a study"),
    (("all", "phrenology"), "PACKAGE must be"),
    (("run", "tiny", "--processes", "0"), "--processes must be an integer >= 1"),
])  # fmt: skip
def test_mistakes_are_one_line_and_exit_code_2(words, message, install, tmp_path, capsys):
    install(tiny=print_squares)
    verb, name, *options = words
    defaults = ["--device", "cpu", "--quick", "--out", str(tmp_path)]
    assert runner.main([verb, name, *defaults, *options]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert message in said


# ---- studies that do not come to their end -----------------------------------------------------


def squares_until(error):
    """Return a study that raises an error after the rows of its second table."""

    def measure():
        yield from ((n, n**2) for n in range(3))
        if error is not None:
            raise error

    def run_study(study):
        study.table("Before", ("n",), [(7,)])
        rows = study.table("Squares", ("n", "square"), measure())
        study.table("Empty", ("n",), ())
        return {"rows": len(rows)}

    return run_study


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (ValueError("the lamp went out"), 2)]
)
def test_an_interrupted_study_leaves_its_rows(install, run, read, error, code, tmp_path):
    install(slow_one=squares_until(None))
    assert run("run", "slow-one")[0] == 0
    before, path = read("slow-one"), tmp_path / "slow-one-cpu-incomplete.json"
    install(slow_one=squares_until(error))
    ended_with, _, errors = run("run", "slow-one")
    assert ended_with == code
    assert any(f"its rows so far are in {path}" in line for line in errors)
    record = json.loads(path.read_text())
    assert record["incomplete"] == type(error).__name__
    assert "result" not in record
    assert [table["title"] for table in record["tables"]] == ["Before", "Squares"]
    assert record["tables"][1]["rows"] == [[0, 0], [1, 1], [2, 4]]
    assert read("slow-one") == before
    install(slow_one=squares_until(None))
    assert run("run", "slow-one")[0] == 0
    assert not path.exists()


def test_a_study_that_fails_does_not_end_all(install, run, read, tmp_path):
    def fail(study):
        raise RuntimeError("no lamp")

    error = RuntimeError("the disk of the stars is full")
    install(bad_one=squares_until(error), bad_two=fail, good_one=print_squares)
    code, _, errors = run("all")
    assert code == 1
    assert any("the disk of the stars is full" in line for line in errors)
    assert errors[-1] == "failed: bad-one, bad-two"
    assert [table["title"] for table in read("good-one")["tables"]] == ["Squares"]
    record = json.loads((tmp_path / "bad-one-cpu-incomplete.json").read_text())
    assert len(record["tables"][1]["rows"]) == 3
    assert not list(tmp_path.glob("bad-*-cpu.json"))
    assert not list(tmp_path.glob("bad-two*"))  # it has no rows
