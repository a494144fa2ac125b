"""Every addition, removal or change in a list contradicts its certificate."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import tmd
from tmd import certificates as tmd_certificates
from tmd._certificates import case_lists
from tmd._search import decisions
from tmd.certificates import read_certificates, verify_cases

RECORDS = Path(__file__).parents[2] / "benchmarks/records/tmd"
DOMAIN = "0x1.62e4p+0", "0x1.62e48p+0"  # e^x crosses 4 there: two blocks


@pytest.fixture(scope="module")
def result():
    return tmd.search("exp", DOMAIN, bits=30)


@pytest.fixture
def lines(result, tmp_path):
    """The lines of the list of the search."""
    return result.write(tmp_path / "exp.wc").read_text().splitlines()


def argument_lines(lines):
    """Return the indices of the lines that are not comments."""
    return [i for i, line in enumerate(lines) if not line.startswith("#")]


def check(result, lines, tmp_path):
    """Compare a list with the certificate of a search; return the number of cases."""
    path = tmp_path / "changed.wc"
    path.write_text("\n".join(lines) + "\n")
    return verify_cases([result.certificate], path)


def test_the_list_of_a_search_matches_its_certificate(result, lines, tmp_path):
    assert check(result, lines, tmp_path) == len(result.cases) > 40
    report = tmd.verify(result.certificate, cases=tmp_path / "exp.wc", samples=0)
    assert report == {
        **{"blocks": 0, "certified_blocks": 2, "windows": 0, "arguments": 0, "cases": 0},
        "listed": len(result.cases),
    }
    for cases in (result.cases, [c.argument for c in result.cases]):
        assert tmd.verify(result.certificate, cases=cases, samples=1)["listed"] == len(cases)


def test_missing_lines_and_other_files_are_noticed(result, lines, tmp_path):
    for which in (0, 17, -1):
        changed = lines.copy()
        del changed[argument_lines(lines)[which]]
        with pytest.raises(tmd.CertificateError, match=r"the list has \d+ cases of block [01]"):
            check(result, changed, tmp_path)
    with pytest.raises(tmd.CertificateError, match="the list has 0 cases of block 0"):
        check(result, [line for line in lines if line.startswith("#")], tmp_path)
    other = tmd.search("exp", DOMAIN, bits=31)
    with pytest.raises(tmd.CertificateError, match="the list belongs to the certificate"):
        check(other, lines, tmp_path)
    (tmp_path / "binary.wc").write_bytes(b"\xff\xfe\x00")
    for name in ("none.wc", "binary.wc"):
        with pytest.raises(tmd.CertificateError, match="cannot be read"):
            verify_cases([result.certificate], tmp_path / name)


def test_added_and_changed_arguments_are_noticed(result, lines, tmp_path):
    i = argument_lines(lines)[5]
    x = float.fromhex(lines[i])
    for text, message in (
        ((x + 2.0**-52).hex(), "is not a case: its value is at least 2^-30 ulp from"),
        ("0x1.8p+0", "is outside the certified domain"),
        ("0x1.62e40000000008p+0", "is not an argument of the search"),
        (lines[i + 1], "is listed twice"),
        ("-" + lines[i], "is outside the certified domain"),
        ("exp", "does not begin with a number"),
        (f"{lines[i]} X", "must be an argument, F or M, and bits"),
        (f"{lines[i]} F 31 32", "must be an argument, F or M, and bits"),
    ):
        for changed in ([*lines[:i], text, *lines[i + 1 :]], [*lines, text]):
            with pytest.raises(tmd.CertificateError, match=re.escape(message)) as error:
                check(result, changed, tmp_path)
            assert "changed.wc" in str(error.value)


def test_kinds_and_bits_of_a_list_are_checked(result, lines, tmp_path):
    head = [line for line in lines if line.startswith("#")]
    full = [f"{c.hex} {c.kind} {c.identical_bits}" for c in result.cases]
    assert check(result, head + full, tmp_path) == len(result.cases)
    case = result.cases[3]
    for kind, bits, message in (
        ("FM"[case.kind == "F"], case.identical_bits, f"is of kind {case.kind}"),
        (case.kind, case.identical_bits + 1, f"has {case.identical_bits} identical bits"),
        (case.kind, "exact", "identical bits"),
    ):
        full[3] = f"{case.hex} {kind} {bits}"
        with pytest.raises(tmd.CertificateError, match=message):
            check(result, head + full, tmp_path)


def test_long_arguments_keep_all_digits(tmp_path):
    domain = "0x1.00000000000001p+0", "0x1.00000000001p+0"
    result = tmd.search("exp", domain, bits=10, precision=60)
    path = result.write(tmp_path / "exp.wc")
    assert tmd.verify(result.certificate, cases=path, samples=0)["listed"] == len(result.cases) > 0


# ---- the record of the campaign ----------------------------------------------------------------


@pytest.fixture(scope="module")
def record():
    return read_certificates(RECORDS / "tmd-exp-certificates.jsonl.xz")


def test_every_binade_is_certified_at_the_bits_of_its_list(record):
    """Cases with 44 identical bits have a distance below 2^-45."""
    assert {tuple(c["domain"]): c["bits"] for c in record if c["bits"] != 45} == {}


def lines_in_domain(certificate, lines):
    """Return the lines whose arguments are in the domain of a certificate."""
    lo, hi = map(float.fromhex, certificate["domain"])
    return [line for line in lines if line[0] != "#" and lo <= float.fromhex(line.split()[0]) < hi]


@pytest.mark.parametrize("low", ["0x1.0000000000000p+0", "-0x1.fffffffffffffp-3"])
def test_a_binade_of_the_record_has_exactly_its_certified_cases(record, low, tmp_path):
    (certificate,) = [c for c in record if c["domain"][0] == low]
    lines = lines_in_domain(certificate, (RECORDS / "tmd-exp-cases.txt").read_text().splitlines())
    path = tmp_path / "part.txt"
    path.write_text("\n".join(lines))
    assert verify_cases([certificate], path) == certificate["cases"] == len(lines)
    path.write_text("\n".join(lines[:-1]))
    with pytest.raises(tmd.CertificateError, match="the list has"):
        verify_cases([certificate], path)


@pytest.mark.slow
def test_the_record_has_exactly_its_certified_cases(record):
    assert verify_cases(record, RECORDS / "tmd-exp-cases.txt") == sum(c["cases"] for c in record)


def test_undecided_arguments_are_listed_and_checked(result, lines, tmp_path, monkeypatch):
    """No undecided argument is known, so balls are made to fail at a case."""
    x = result.cases[2].exact_argument

    def decide_all_but_x(function, plan, index, decide_by_balls=decisions.decide_by_balls):
        if plan.block.run.argument(index) == x:
            return None
        return decide_by_balls(function, plan, index)

    monkeypatch.setattr(case_lists, "decide_by_balls", decide_all_but_x)
    with pytest.raises(tmd.CertificateError, match="cannot be decided"):
        check(result, lines, tmp_path)
    (plan, cases), *others = result.cases._blocks
    number = list(cases.index).index(int(x / 2**plan.block.run.quantum) - plan.block.run.first)
    decided = [i for i in range(cases.index.size) if i != number]
    arrays = {k: getattr(cases, k)[decided] for k in ("index", "middle", "value", "error")}
    counts = [*cases.counts[:4], cases.counts[4] + 1]
    cases = replace(cases, **arrays, counts=counts, undecided=[int(cases.index[number])])
    pairs = [(plan, cases), *others]
    question = {k: result.certificate[k] for k in ("function", "domain", "bits", "precision")}
    question |= {k: result.certificate[k] for k in ("argument_precision", "rounding")}
    records = [tmd_certificates.block_record(*pair) for pair in pairs]
    changed_certificate = tmd_certificates.make_certificate(question, 0, records)
    changed = replace(
        result,
        cases=type(result.cases)("exp", result.format, pairs),
        undecided=[x],
        certificate=changed_certificate,
    )
    written = list(changed.lines())
    assert f"# undecided {result.cases[2].hex}" in written
    assert check(changed, written, tmp_path) == len(result.cases)
    written.remove(f"# undecided {result.cases[2].hex}")
    with pytest.raises(tmd.CertificateError, match="of block 0"):
        check(changed, written, tmp_path)
