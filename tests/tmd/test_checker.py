"""The checker that stands alone proves what is true, without tmd, and refuses what is not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tmd
from tmd import checker
from tmd._certificates.case_lists import _to_block_cases
from tmd._search.cases import COLUMNS, BlockCases, hash_json

FILE = Path(checker.__file__)


def write(folder, certificate, lines):
    """Write a certificate, with its hash, and a list; return their paths."""
    body = {k: v for k, v in certificate.items() if k != "hash"}
    (folder / "c.json").write_text(json.dumps(body | {"hash": hash_json(body)}))
    (folder / "c.wc").write_text("\n".join(lines) + "\n")
    return [str(folder / "c.json"), str(folder / "c.wc")]


def search(name, domain, **options):
    result = tmd.search(name, domain, device="cpu", **options)
    lines = [line for line in result.lines() if not line.startswith("#")]
    return json.loads(json.dumps(result.certificate)), lines


@pytest.mark.parametrize(
    ("name", "domain", "options"),
    [
        ("exp", ("0x1.62e4p+0", "0x1.62e48p+0"), {"bits": 30}),  # the ulp changes
        ("sinpi", (-3, 3), {"bits": 6, "precision": (6, -6, 7)}),
        ("lgamma", (-3, 12), {"bits": 6, "precision": (6, -6, 7)}),
        ("tanh", (-8, 8), {"bits": 6, "precision": (6, -6, 7)}),
        ("exp", ("-0x1.8p4", "0x1.8p3"), {"bits": 6, "precision": (6, -6, 7)}),
        ("asin", (-2, 2), {"bits": 7, "precision": "bfloat16"}),
        ("log", ("0.9375", 1.0625), {"bits": 14, "precision": 24}),
    ],
)  # fmt: skip
def test_what_searches_certify_is_proved_without_tmd(name, domain, options, tmp_path):
    paths = write(tmp_path, *search(name, domain, **options))
    code = f"import runpy, sys; sys.argv = {['checker', *paths, '--windows', '30']}\ntry:\n"
    code += f"    runpy.run_path({str(FILE)!r}, run_name='__main__')\n"
    code += "except SystemExit as end:\n    code = end.code\n"
    code += "assert not {'tmd', 'hetero', 'numpy', 'numba'} & {*sys.modules}\nsys.exit(code)"
    run = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("proved:") == 4
    assert "trusted: Arb" in run.stdout


def test_what_is_wrong_is_refused(tmp_path, capsys):
    certificate, lines = search("exp", (1, 1.0625), bits=9, precision=16)
    short, short_lines = search("sinpi", ("0.1", 0.4), bits=6, precision=10)
    column = {name: i for i, name in enumerate(COLUMNS)}

    def changed(original, **values):
        block = [*original["blocks"][0]]
        for name, value in values.items():
            block[column[name]] = value
        return original | {"blocks": [block, *original["blocks"][1:]]}

    def without(original, gone):
        """Return a certificate of all cases but one, with matching counts and hashes."""
        kept = [case for case in original["cases_of_first"] if case[0] != gone]
        cases = _to_block_cases({n: (False, middle) for n, middle in kept})
        assert isinstance(cases, BlockCases)
        return changed(original, cases=len(kept), hash=cases.hash)

    for expected, arguments in {
        "differs from the block": (certificate, lines[1:]),
        "is no case": (certificate, [*lines, "0x1.0002p+0"]),
        "but in no block": (certificate, [*lines, "0x1.8p+0"]),
        "is listed twice": (certificate, [*lines, lines[0]]),
        "of kind M, not F as listed": (certificate, [line + " F" for line in lines]),
    }.items():
        code = checker.main(write(tmp_path, *arguments))
        err = capsys.readouterr().err
        assert (code, expected in err) == (1, True), err
    for message, values in {
        "must be searched": {"count": certificate["blocks"][0][column["count"]] - 8},
        "not of arguments of the domain": {"quantum": -14},
        "does not have the ulp": {"ulp": -13},
    }.items():
        body = changed(certificate, **values)
        body["hash"] = hash_json({k: v for k, v in body.items() if k != "hash"})
        with pytest.raises(checker.Refused, match=message):
            checker.Checker(body, lines, 0, 0).check_coverage()
    # A case that is left out consistently is found by the windows.
    f = checker.Checker(short, short_lines, 0, 0)
    f.check_list()
    members = f.found[0]
    gone = next(iter(members))
    x = f.argument(f.blocks[0], gone)
    fewer = short | {"cases_of_first": [(n, kind == "M") for n, kind in members.items()]}
    fewer = without(fewer, gone)
    fewer.pop("cases_of_first")
    remaining = [line for line in short_lines if checker.parse(line) != x]
    assert len(remaining) == len(short_lines) - 1
    assert checker.main([*write(tmp_path, fewer, remaining), "--windows", "400"]) == 1
    assert "cases, but" in capsys.readouterr().err
    body = certificate | {"bits": 10}
    (tmp_path / "c.json").write_text(json.dumps(body))
    assert checker.main([str(tmp_path / "c.json"), str(tmp_path / "c.wc")]) == 1
    assert "hash does not match" in capsys.readouterr().err
    assert checker.main([str(tmp_path / "none"), str(tmp_path / "c.wc")]) == 2


def test_polynomials_that_are_not_accurate_are_refused(tmp_path):
    certificate, lines = search("exp", (1, "0x1.00001p+0"), bits=24)
    column = {name: i for i, name in enumerate(COLUMNS)}
    (block,) = certificate["blocks"]
    assert checker.Checker(certificate, lines, 0, 0).check_bounds().startswith("the polynomials")
    block[column["degree"]], block[column["size"]] = 3, 42
    body = {k: v for k, v in certificate.items() if k != "hash"}
    body = body | {"hash": hash_json(body)}
    with pytest.raises(checker.Refused, match="are not accurate"):
        checker.Checker(body, lines, 0, 0).check_bounds()


def test_the_enumeration_of_a_window_misses_nothing():
    """Against brute force on small circles."""
    for m in (97, 128):
        for a in range(m):
            for low in (0, 1, m // 3, m - 5):
                high = min(low + 3, m - 1)
                hits = [x for x in range(m) if low <= a * x % m <= high]
                assert checker._first_hit(a, m, low, high) == (hits[0] if hits else None)
