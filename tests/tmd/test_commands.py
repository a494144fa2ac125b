"""`tmd search`, `verify` and `check` for programs, pictures of searches, and their progress."""

import ctypes.util
import json
from functools import partial

import pytest

import tmd
from commands import call_main
from recorded_bars import RecordedBars
from studies.__main__ import main as run_studies
from tmd import _search
from tmd.__main__ import main

DOMAIN = ("exp", "1.5", "0x1.8000004p+0")
BITS = ("--bits", "20")


run = partial(call_main, main)


def must_not_search(monkeypatch):
    """Let a search fail the test."""
    monkeypatch.setattr(tmd, "search", lambda *_, **__: pytest.fail("it searched"), raising=False)


@pytest.fixture(scope="module")
def result():
    return tmd.search(DOMAIN[0], DOMAIN[1:], bits=20, device="cpu")


def test_search_as_json_holds_every_case(result, tmp_path, capsys):
    page, certificate = tmp_path / "exp.html", tmp_path / "exp.json"
    files = ("--plot", page, "--certificate", certificate)
    code, out, _ = run(capsys, "search", *DOMAIN, *BITS, "--device", "cpu", "--json", *files)
    assert code == 0
    found = json.loads(out)
    assert [case["argument"] for case in found["cases"]] == [case.hex for case in result.cases]
    assert found["arguments"] == result.cases.searched == 1 << 26
    assert found["hardness"] == result.hardness
    for case, listed in zip(result.cases[:20], found["cases"], strict=False):
        low, high = listed["distance"]
        assert low <= case.distance.upper
        assert case.distance.lower <= high
    text = page.read_text()
    assert "data:image/svg+xml;base64," in text
    assert result.cases.hardest(1)[0].hex in text
    code, out, _ = run(capsys, "verify", certificate, "--json", "--device", "cpu")
    assert code == 0
    assert json.loads(out)["searches"][0]["cases"] == len(result.cases)


def test_check_tries_python_numpy_and_a_library(capsys):
    if (path := ctypes.util.find_library("m")) is None:
        pytest.skip("this system has no C library with mathematical functions")
    options = (*DOMAIN, *BITS, "--count", "20", "--library", path)
    code, out, _ = run(capsys, "check", *options, "--quiet", "--exit-zero")
    assert (code, out.count("of 20 wrong")) == (0, 3)
    assert path in out
    code, out, _ = run(capsys, "check", *options, "--json")
    libraries = json.loads(out)["libraries"]
    assert ([one["tried"] for one in libraries], code) == ([20] * 3, bool(libraries[2]["wrong"]))
    assert all(set(w) == {"argument", "returned", "correct"} for o in libraries for w in o["wrong"])
    arguments = ("check", "exp", "1", "1.01", "--precision", "24", "--bits", "8", "--count", "9")
    code, out, _ = run(capsys, *arguments)
    assert (code, out.startswith("NumPy ")) == (0, True)


def test_mistakes_are_explained_with_exit_code_2(tmp_path, capsys, monkeypatch):
    """Nothing is searched before they are found."""
    must_not_search(monkeypatch)
    none = tmp_path / "none" / "exp.json"
    search, check = ("search", "exp", "1", "2"), ("check", "exp", "1", "2")
    cases = {
        (*search, "--device", "banana"): "got 'banana'",
        (*search, "--plot", "cases.txt"): "--plot must end with .html",
        (*search, "--out", tmp_path): "--out must be a file in an existing folder",
        (*search, "--certificate", tmp_path): "--certificate must be a file in an existing folder",
        ("search", "exp", "1"): "the following arguments are required: hi",
        ("check", "exp"): "pass the ends LO and HI of a domain, or --cases FILE",
        (*check, "--cases", "exp.wc"): "--cases replaces the domain",
        (*check, "--library", "libc.so.6"): "exports no function 'exp'",
        ("verify", "/dev/null"): "'/dev/null' holds no certificate",
        ("verify", none, "--seed", "-1"): "--seed must be an integer >= 0",
    }
    for arguments, message in cases.items():
        require_mistake(capsys, arguments, message)
    monkeypatch.undo()
    for arguments, message in {
        ("search", "gamma", "1", "2"): "gamma",
        ("search", "exp", "2", "1"): "lo < hi",
        ("search", "exp", "one", "2"): "one",
        ("search", "log", "-2", "-1"): "no value at 0 and below",
        (*search, "--bits", "3"): "bits",
    }.items():
        require_mistake(capsys, arguments, message)


def require_mistake(capsys, arguments, message):
    """Check that a command ends with 2 and a message."""
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, ""), arguments
    assert message in err, err
    assert "Traceback" not in err


def test_undecided_arguments_end_with_1(result, monkeypatch, capsys):
    monkeypatch.setattr(tmd, "search", lambda *_, **__: result, raising=False)
    monkeypatch.setattr(type(result), "success", property(lambda self: False))
    assert run(capsys, "search", *DOMAIN, *BITS)[0] == 1


def test_progress_counts_every_argument(monkeypatch):
    bars = RecordedBars(monkeypatch)
    monkeypatch.setitem(_search.SUBDOMAINS_PER_BATCH, "cpu", 64)
    tangent = "tan", "0x1.921fb54442c00p+0", "0x1.921fb54442d18p+0"  # balls decide next to the pole
    for name, *domain in (("exp", "1.5", "0x1.8000000010000p+0"), tangent):
        bars.steps.clear()
        found = tmd.search(name, domain, bits=20, progress=True, device="cpu")
        planning, search, *amounts = bars.steps
        assert planning == (f"{name}: planning", 1.0)
        assert search == (name, found.cases.searched)
        assert amounts[-1] == found.cases.searched
        assert amounts == sorted(amounts)
        bars.steps.clear()
        tmd.verify(found.certificate, full=True, samples=0, progress=True, device="cpu")
        assert bars.steps[-1] == found.cases.searched


@pytest.mark.slow
def test_studies_write_records_and_a_figure(tmp_path):
    names = ("binades", "divergence", "generation", "phases", "tests", "truncation", "windows")
    names = [f"tmd-{name}" for name in names]
    assert run_studies(["run", *names, "--quick", "--device", "cpu", "--out", str(tmp_path)]) == 0
    written = {path.name for path in tmp_path.iterdir()}
    pictures = {"tmd-binades.png", "tmd-divergence.png"}
    assert written >= {f"{name}-cpu.json" for name in names} | pictures
