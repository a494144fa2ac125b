"""`tmd campaign`: runs with a budget continue, and give what single searches give."""

import itertools
import json
import time
from dataclasses import replace
from fractions import Fraction

import tmd
from hetero.data_files.atomic_files import lock_name
from tmd.__main__ import main
from tmd._campaigns.binades import list_bands, list_binades
from tmd._certificates.reading import load_certificate
from tmd._periodic import searching
from tmd.functions import load_function


def run(folder, *options, budget="60"):
    command = ["campaign", "log1p", "--bits", "8", "--precision", "binary16", "--device", "cpu"]
    return main([*command, "--budget", budget, "--resume", str(folder), "--quiet", *options])


def test_a_campaign_continues_and_covers_all_arguments(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "campaign"
    exponents = ["--exponents", "-3", "2"]
    original = tmd.search
    calls = []

    def search_twice(*arguments, **options):
        calls.append(arguments[1])
        if len(calls) == 3:
            raise KeyboardInterrupt  # Ctrl-C, not the deadline
        return original(*arguments, **options)

    monkeypatch.setattr(tmd, "search", search_twice, raising=False)
    assert run(folder, *exponents) == 130
    assert len(list(folder.glob("*.wc"))) == 2
    monkeypatch.setattr(tmd, "search", original, raising=False)
    capsys.readouterr()
    assert run(folder, *exponents, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["binades"], report["done"], report["seconds_left"]) == (10, 10, 0.0)
    assert report["refused"] == {}  # no binades beyond the end of the domain are listed
    whole = [
        case.hex
        for ends in ((Fraction(-1), Fraction(-1, 16)), (Fraction(1, 8), 8))
        for case in tmd.search("log1p", ends, bits=8, precision="binary16", device="cpu").cases
        if abs(case.exact_argument) >= Fraction(1, 8)
    ]
    found = []
    for path in folder.glob("*.wc"):
        found += [line for line in path.read_text().splitlines() if not line.startswith("#")]
    assert sorted(found) == sorted(whole)
    for certificate in folder.glob("*tive*.json"):
        tmd.verify(certificate, cases=certificate.with_suffix(".wc"), samples=0)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert run(folder, *exponents) == 0
    assert before == {path: path.read_bytes() for path in folder.iterdir()}


def test_a_budget_ends_a_search_and_its_blocks_stay(tmp_path, capsys):
    """A binade of binary64 takes a CPU hours."""
    command = ["campaign", "exp", "--exponents", "0", "0", "--device", "cpu", "--quiet"]
    assert main([*command, "--budget", "1", "--resume", str(tmp_path / "c")]) == 0
    out = capsys.readouterr().out
    assert "0 of 2 binades are done" in out
    assert "unknown: nothing was finished" in out
    assert {path.name for path in (tmp_path / "c").iterdir()} <= {
        "campaign.json", "refused.json", "positive-0.blocks"
    }  # fmt: skip


def test_commands_that_share_a_folder_search_different_parts(tmp_path, capsys):
    def search(exponent):
        command = ["campaign", "sin", "--precision", "16", "--bits", "8", "--parts", "3", "--quiet"]
        exponents = ["--exponents", exponent, exponent, "--device", "cpu"]
        assert main([*command, *exponents, "--resume", str(tmp_path / "c")]) == 0
        return capsys.readouterr().out

    assert "3 of 3 parts" in search("41")
    with lock_name(tmp_path / "c" / "40-1.lock", wait=False) as is_ours:  # by another command
        assert is_ours
        assert "2 of 3 parts" in search("40")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "campaign.lock").touch()  # another command begins the campaign
    assert run(tmp_path / "new", "--exponents", "3", "3") == 0
    assert "3 of 3 parts" in search("40")
    assert {path.stem for path in (tmp_path / "c").glob("*.wc")} == {"40", "41"}


def test_bands_of_logarithms_continue_with_other_exponents(tmp_path, monkeypatch):
    folder, original, question = tmp_path / "c", tmd.search, ["--precision", "22", "--bits", "12"]
    command = ["campaign", "log", *question, "--device", "cpu", "--resume", str(folder), "--quiet"]

    def search_and_stop(*arguments, **options):
        original(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(tmd, "search", search_and_stop, raising=False)
    for first, last in (("66", "66"), ("68", "71")):
        assert main([*command, "--exponents", first, last]) == 130
    monkeypatch.setattr(tmd, "search", original, raising=False)
    assert len([*folder.glob("*.blocks")]) == 2
    for first, last in (("69", "69"), ("65", "73")):
        assert main([*command, "--exponents", first, last]) == 0
    assert not [*folder.glob("*.blocks")]
    for e in range(65, 74):
        ends = Fraction(2) ** e, Fraction(2) ** (e + 1)
        alone = tmd.search("log", ends, bits=12, precision=22, device="cpu", algorithm="clipped")
        path = folder / f"positive-{e}.json"
        assert tmd.verify(path, cases=alone.cases, samples=0)["listed"] == len(alone.cases) > 0


def test_bands_are_of_positive_arguments():
    function = replace(load_function("log"), name="any_log", domain=(None, None))
    names = list_binades(function, 22, [5, 6])
    assert list_bands("any_log", names, 8) == [[name] for name in names]


def test_mistakes(tmp_path, capsys):
    assert run(tmp_path / "c", "--exponents", "3", "3", budget="0") == 2
    assert "--budget must be a positive number" in capsys.readouterr().err
    assert run(tmp_path / "c", "--exponents", "3", "1") == 2
    assert "FIRST <= LAST" in capsys.readouterr().err
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("")
    assert run(tmp_path / "notes", "--exponents", "3", "3") == 2
    assert "not empty" in capsys.readouterr().err
    assert main(["campaign", "exp", "--precision", "20", "--resume", str(tmp_path / "e")]) == 2
    assert "--exponents FIRST LAST is needed" in capsys.readouterr().err  # of unlimited ones


def test_a_campaign_in_parts_gives_a_whole_search(tmp_path, capsys, monkeypatch):
    command = ["campaign", "sin", "--exponents", "100", "100", "--parts", "4", "--bits", "8",
               "--precision", "16", "--quiet", "--device", "cpu"]  # fmt: skip
    assert main([*command, "--budget", "1e-9", "--resume", str(tmp_path / "c")]) == 0
    assert "0 of 4 parts of binades are done" in capsys.readouterr().out
    # A budget ends a part after each batch, whose phases are then certified and not searched again.
    monkeypatch.setitem(searching.GROUPS_PER_BATCH, "cpu", 24)
    ends = []
    for _ in range(6):
        monkeypatch.setattr(time, "monotonic", itertools.count().__next__)
        assert main([*command, "--budget", "3", "--json", "--resume", str(tmp_path / "c")]) == 0
        monkeypatch.undo()
        monkeypatch.setitem(searching.GROUPS_PER_BATCH, "cpu", 24)
        report = json.loads(capsys.readouterr().out)
        states = [load_certificate(path) for path in (tmp_path / "c").glob("*.part.json")]
        ends += [Fraction(float.fromhex(state["phases"][1])) for state in states]
    assert ends == sorted(set(ends))
    assert len(ends) >= 4
    assert 0 < report["done"] < 4
    assert report["seconds_left"] > 0
    assert main([*command, "--resume", str(tmp_path / "c")]) == 0
    assert "4 of 4 parts" in capsys.readouterr().out
    # A process that was killed, or ran beside this one, leaves parts of a binade that is done.
    for name in ("100-1.json", "100-1.wc", "100-2.part.json"):
        (tmp_path / "c" / name).write_text("left")
    assert main([*command, "--resume", str(tmp_path / "c")]) == 0
    assert "4 of 4 parts" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "c").iterdir()} == {
        "campaign.json", "refused.json", "100.json", "100.wc"
    }  # fmt: skip
    whole = tmd.search_periodic("sin", 100, bits=8, precision=16, device="cpu")
    joined = load_certificate(tmp_path / "c" / "100.json")
    assert joined["cases"] == whole.certificate["cases"]
    assert joined["phases"] == whole.certificate["phases"]
    verify = ["verify", str(tmp_path / "c" / "100.json"), "--samples", "1", "--device", "cpu"]
    assert main([*verify, "--cases", str(tmp_path / "c" / "100.wc")]) == 0
    out = capsys.readouterr().out
    assert f"{len(whole.cases)} cases, exactly those" in out
    assert "verified 1 of" in out
    assert main([*command, "--parts", "5", "--resume", str(tmp_path / "c")]) == 2
    assert "another campaign" in capsys.readouterr().err
    command = ["campaign", "sin", "--exponents", "1023", "1024", "--parts", "4"]
    assert main([*command, "--resume", str(tmp_path / "d")]) == 2
    assert "exponent must be one of the format" in capsys.readouterr().err
    assert not (tmp_path / "d").exists()
