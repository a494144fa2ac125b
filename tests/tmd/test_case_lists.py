"""A list and its certificate belong together: nothing can be added, removed or changed."""

import json
import re
from pathlib import Path

import pytest

import tmd
from tmd.__main__ import main
from tmd.case_lists import read_cases
from tmd.certificate import read, verify_cases

RECORDS = Path(__file__).parents[2] / "benchmarks/records"
DOMAIN = "0x1.62e4p+0", "0x1.62e48p+0"  # e^x crosses 4 there: two blocks


@pytest.fixture(scope="module")
def result():
    return tmd.search("exp", DOMAIN, bits=30)


@pytest.fixture
def lines(result, tmp_path):
    return result.write(tmp_path / "exp.wc").read_text().splitlines()


def arguments(lines):
    return [i for i, line in enumerate(lines) if not line.startswith("#")]


def check(result, lines, tmp_path):
    path = tmp_path / "changed.wc"
    path.write_text("\n".join(lines) + "\n")
    return verify_cases([result.certificate], path)


def test_the_list_of_a_search_is_that_of_its_certificate(result, lines, tmp_path):
    assert check(result, lines, tmp_path) == len(result.cases) > 40
    report = tmd.verify(result.certificate, cases=tmp_path / "exp.wc", samples=0)
    assert report == {
        **{"blocks": 0, "certified_blocks": 2, "windows": 0, "arguments": 0, "cases": 0},
        "listed": len(result.cases),
    }
    for cases in (result.cases, [c.argument for c in result.cases]):
        assert tmd.verify(result.certificate, cases=cases, samples=1)["listed"] == len(cases)


@pytest.mark.parametrize("which", [0, 17, -1])
def test_a_deleted_line_is_noticed(result, lines, tmp_path, which):
    del lines[arguments(lines)[which]]
    with pytest.raises(tmd.CertificateError, match=r"the list holds \d+ cases of block [01]"):
        check(result, lines, tmp_path)


def test_an_empty_list_is_noticed(result, lines, tmp_path):
    with pytest.raises(tmd.CertificateError, match="the list holds 0 cases of block 0"):
        check(result, [line for line in lines if line.startswith("#")], tmp_path)


def test_added_and_changed_arguments_are_noticed(result, lines, tmp_path):
    at = arguments(lines)[5]
    x = float.fromhex(lines[at])
    for text, words in (
        ((x + 2.0**-52).hex(), "is no case: its value is 2^-30 ulp or more from"),
        ("0x1.8p+0", "is outside of the certified domain"),
        ("0x1.62e40000000008p+0", "is no argument of the search"),
        (lines[at + 1], "is listed twice"),
        ("-" + lines[at], "is outside of the certified domain"),
        ("exp", "holds no number"),
        (f"{lines[at]} X", "must be an argument, F or M, and bits"),
        (f"{lines[at]} F 31 32", "must be an argument, F or M, and bits"),
    ):
        for changed in ([*lines[:at], text, *lines[at + 1 :]], [*lines, text]):
            with pytest.raises(tmd.CertificateError, match=re.escape(words)) as error:
                check(result, changed, tmp_path)
            assert "changed.wc" in str(error.value)


def test_kinds_and_bits_of_a_list_are_checked(result, lines, tmp_path):
    head = [line for line in lines if line.startswith("#")]
    full = [f"{c.hex} {c.kind} {c.identical_bits}" for c in result.cases]
    assert check(result, head + full, tmp_path) == len(result.cases)
    case = result.cases[3]
    other = "FM"[case.kind == "F"]
    full[3] = f"{case.hex} {other} {case.identical_bits}"
    with pytest.raises(tmd.CertificateError, match=f"is of kind {case.kind}"):
        check(result, head + full, tmp_path)
    full[3] = f"{case.hex} {case.kind} {case.identical_bits + 1}"
    with pytest.raises(tmd.CertificateError, match=f"has {case.identical_bits} identical bits"):
        check(result, head + full, tmp_path)
    full[3] = f"{case.hex} {case.kind} exact"
    with pytest.raises(tmd.CertificateError, match="identical bits"):
        check(result, head + full, tmp_path)


def test_the_list_of_another_certificate_is_refused(lines, tmp_path):
    other = tmd.search("exp", DOMAIN, bits=31)
    with pytest.raises(tmd.CertificateError, match="the list names the certificate"):
        check(other, lines, tmp_path)
    unnamed = [line.split("; certificate")[0] for line in lines]
    with pytest.raises(tmd.CertificateError, match="is no case"):
        check(other, unnamed, tmp_path)


def test_undecided_arguments_are_listed_and_checked(result, lines, tmp_path, monkeypatch):
    """None is known, so a case is taken for one: balls seem not to decide it."""
    from dataclasses import replace

    from tmd import case_lists, certificate, decide

    x = result.cases[2].exact_argument

    def blind(function, plan, index, honest=decide.decided):
        found = None if plan.block.run.argument(index) == x else honest(function, plan, index)
        return found

    monkeypatch.setattr(case_lists, "decided", blind)
    with pytest.raises(tmd.CertificateError, match="cannot be decided"):
        check(result, lines, tmp_path)
    (plan, found), *others = result.cases._found
    number = list(found.index).index(int(x / 2**plan.block.run.quantum) - plan.block.run.first)
    keep = [i for i in range(found.index.size) if i != number]
    arrays = {k: getattr(found, k)[keep] for k in ("index", "middle", "value", "error")}
    counts = [*found.counts[:4], found.counts[4] + 1]
    found = replace(found, **arrays, counts=counts, undecided=[int(found.index[number])])
    pairs = [(plan, found), *others]
    question = {k: result.certificate[k] for k in ("function", "domain", "bits", "precision")}
    question |= {k: result.certificate[k] for k in ("argument_precision", "rounding")}
    made = certificate.make(question, 0, [certificate.row(*pair) for pair in pairs])
    changed = replace(
        result,
        cases=type(result.cases)("exp", result.format, pairs),
        undecided=[x],
        certificate=made,
    )
    written = list(changed.lines())
    assert f"# undecided {result.cases[2].hex}" in written
    assert check(changed, written, tmp_path) == len(result.cases)
    written.remove(f"# undecided {result.cases[2].hex}")
    with pytest.raises(tmd.CertificateError, match="of block 0"):
        check(changed, written, tmp_path)


def test_long_arguments_keep_all_digits(tmp_path):
    domain = "0x1.00000000000001p+0", "0x1.00000000001p+0"
    result = tmd.search("exp", domain, bits=10, precision=60)
    path = result.write(tmp_path / "exp.wc")
    assert tmd.verify(result.certificate, cases=path, samples=0)["listed"] == len(result.cases) > 0


def test_other_files_are_no_lists(tmp_path):
    with pytest.raises(tmd.CertificateError, match="cannot be read"):
        read_cases(tmp_path / "none.wc")
    (tmp_path / "binary.wc").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(tmd.CertificateError, match="cannot be read"):
        read_cases(tmp_path / "binary.wc")


def test_the_command_checks_both_ways(result, lines, tmp_path, capsys):
    certificate = tmp_path / "exp.json"
    certificate.write_text(json.dumps(result.certificate))
    ask = ["verify", str(certificate), "--cases", str(tmp_path / "exp.wc")]
    assert main([*ask, "--samples", "1"]) == 0
    out = capsys.readouterr().out
    assert f"{len(result.cases)} cases, exactly those that are certified" in out
    assert "1 of 2 blocks (a sample; --full takes all), 1 windows" in out
    assert main([*ask, "--samples", "0"]) == 0
    assert "no block was searched again" in capsys.readouterr().out
    lines.pop()
    (tmp_path / "exp.wc").write_text("\n".join(lines) + "\n")
    assert main([*ask, "--samples", "0"]) == 2
    assert "the list holds" in capsys.readouterr().err


# ---- the record of the campaign ----------------------------------------------------------------


@pytest.fixture(scope="module")
def record():
    return read(RECORDS / "tmd-exp-certificates.jsonl.xz")


def test_every_binade_is_certified_at_the_bits_of_its_list(record):
    """44 identical bits are a distance below 2^-45."""
    assert {tuple(c["domain"]): c["bits"] for c in record if c["bits"] != 45} == {}


def within(certificate, lines):
    lo, hi = map(float.fromhex, certificate["domain"])
    return [line for line in lines if line[0] != "#" and lo <= float.fromhex(line.split()[0]) < hi]


@pytest.mark.parametrize("low", ["0x1.0000000000000p+0", "-0x1.fffffffffffffp-3"])
def test_a_binade_of_the_record_has_exactly_its_certified_cases(record, low, tmp_path):
    (certificate,) = [c for c in record if c["domain"][0] == low]
    lines = within(certificate, (RECORDS / "tmd-exp-cases.txt").read_text().splitlines())
    path = tmp_path / "part.txt"
    path.write_text("\n".join(lines))
    assert verify_cases([certificate], path) == certificate["cases"] == len(lines)
    path.write_text("\n".join(lines[:-1]))
    with pytest.raises(tmd.CertificateError, match="the list holds"):
        verify_cases([certificate], path)


@pytest.mark.slow
def test_the_record_has_exactly_its_certified_cases(record):
    assert verify_cases(record, RECORDS / "tmd-exp-cases.txt") == sum(c["cases"] for c in record)
