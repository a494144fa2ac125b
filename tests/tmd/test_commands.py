"""`tmd search`, `verify` and `check` for programs, pictures of searches, and their progress."""

import json

import numpy as np
import pytest

import tmd
from hetero.display.figures import new_figure
from tmd.__main__ import main
from tmd._search import pipeline

DOMAIN = ("exp", "1.5", "0x1.8000004p+0")
BITS = ("--bits", "20")


def run(capsys, *arguments):
    """Return exit code, standard output and standard error of a command."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as ended:
        code = ended.code
    out, err = capsys.readouterr()
    return code, out, err


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


def test_check_as_json(capsys):
    code, out, _ = run(capsys, "check", *DOMAIN, *BITS, "--count", "20", "--json")
    assert code == 0
    libraries = json.loads(out)["libraries"]
    assert all(one["tried"] == 20 for one in libraries)
    assert all(set(w) == {"argument", "returned", "correct"} for o in libraries for w in o["wrong"])


def test_check_takes_a_list_of_cases_instead_of_a_search(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(tmd, "search", lambda *_, **__: pytest.fail("it searched"), raising=False)
    path = tmp_path / "exp.wc"
    path.write_text("# mine\n0x1.8p+0\n0x1p+0\n")
    code, out, err = run(capsys, "check", "exp", "--cases", path, "--json")
    assert code == 0, err
    assert [one["tried"] for one in json.loads(out)["libraries"]] == [2, 2]


def test_check_of_functions_of_binary32(capsys):
    arguments = ("check", "exp", "1", "1.01", "--precision", "24", "--bits", "8", "--count", "9")
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert out.startswith("NumPy ")


def test_mistakes_are_explained_with_exit_code_2(tmp_path, capsys):
    cases = {
        ("search", "gamma", "1", "2"): "gamma",
        ("search", "exp", "2", "1"): "lo < hi",
        ("search", "exp", "one", "2"): "one",
        ("search", "exp", "1", "2", "--bits", "3"): "bits",
        ("search", "exp", "1", "2", "--device", "banana"): "got 'banana'",
        ("search", "exp", "1", "2", "--plot", "cases.txt"): "--plot must end with .html",
        ("search", "exp", "1", "2", "--out", tmp_path): "--out must be a file",
        ("search", "exp", "1", "2", "--certificate", tmp_path / "none" / "exp.json"): (
            "--certificate must be a file in an existing folder"
        ),
        ("search", "exp", "1"): "the following arguments are required: hi",
        ("check", "exp"): "pass the ends LO and HI of a domain, or --cases FILE",
        ("check", "exp", "1", "2", "--cases", "exp.wc"): "--cases replaces the domain",
        ("check", "exp", "1", "2", "--library", "/no/such.so"): "cannot be loaded",
        ("check", "exp", "1", "1.001", "--library", "libc.so.6"): "exports no function 'exp'",
        ("verify", "/dev/null"): "'/dev/null' holds no certificate",
        ("verify", tmp_path / "none.json"): "none.json",
        ("verify", tmp_path / "none.json", "--seed", "-1"): "--seed must be an integer >= 0",
    }
    for arguments, message in cases.items():
        code, out, err = run(capsys, *arguments)
        assert (code, out) == (2, ""), arguments
        assert message in err, err
        assert "Traceback" not in err


def test_undecided_arguments_end_with_1(result, monkeypatch, capsys):
    monkeypatch.setattr(tmd, "search", lambda *_, **__: result, raising=False)
    monkeypatch.setattr(type(result), "success", property(lambda self: False))
    assert run(capsys, "search", *DOMAIN, *BITS)[0] == 1


def test_help_has_examples(capsys):
    for command in ("search", "verify", "check"):
        code, out, _ = run(capsys, command, "--help")
        assert code == 0
        assert f"examples:\n  tmd {command} exp" in out
        assert run(capsys, command, "--version")[1].startswith("tmd ")


def test_a_result_shows_itself(result):
    assert "<img" in result._repr_html_()
    figure = result.plot()
    numbers = figure.axes[0].lines[1].get_data()
    assert numbers[0][0] == 20
    assert numbers[1][0] == len(result.cases)
    expected = figure.axes[0].lines[0].get_ydata()[0]
    assert expected == pytest.approx(len(result.cases), rel=0.5)
    drawn = sum(line.get_xdata().size for line in figure.axes[1].lines)
    assert drawn == min(2000, np.count_nonzero(result.cases.distances[:, 0] > 0.0))
    ax = new_figure().subplots()
    assert result.plot(ax) is ax.figure
    none = tmd.search("exp", ("1", "0x1.00000000001p+0"), bits=40, device="cpu")
    assert "<img" not in none._repr_html_()
    assert none.plot() is not None


def test_progress_counts_every_argument(monkeypatch):
    done = []

    class Bars:
        def add(self, description, total):
            done.append((description, total))
            return 0

        def update(self, bar, amount):
            done.append(amount)

        def close(self):
            pass

    monkeypatch.setattr("hetero.display.progress_bar._make_bars", lambda transient=False: Bars())
    monkeypatch.setitem(pipeline.SUBDOMAINS_PER_BATCH, "cpu", 64)
    tangent = "tan", "0x1.921fb54442c00p+0", "0x1.921fb54442d18p+0"  # balls decide next to the pole
    for name, *domain in (("exp", "1.5", "0x1.8000000010000p+0"), tangent):
        done.clear()
        found = tmd.search(name, domain, bits=20, progress=True, device="cpu")
        planning, search, *amounts = done
        assert planning == (f"{name}: planning", 1.0)
        assert search == (name, found.cases.searched)
        assert amounts[-1] == found.cases.searched
        assert amounts == sorted(amounts)
        done.clear()
        tmd.verify(found.certificate, full=True, samples=0, progress=True, device="cpu")
        assert done[-1] == found.cases.searched
