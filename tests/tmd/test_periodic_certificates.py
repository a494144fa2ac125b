"""Certificates of periodic searches are proved by both checkers; what is wrong is refused."""

import itertools
import json
from fractions import Fraction

import pytest

import tmd
from tmd import checker
from tmd._certificates.periodic_records import COLUMNS
from tmd._search.cases import hash_json
from tmd.certificates import join_certificates

COLUMN = {name: i for i, name in enumerate(COLUMNS)}


@pytest.fixture(scope="module")
def result():
    """All of cos in [2^5, 2^6): 250 groups, of which some have two ulps."""
    return tmd.search_periodic("cos", 5, bits=8, precision=16, device="cpu")


def check(certificate, folder, windows=1200, lines=None):
    """Return what the checker that stands alone does with a certificate, all windows of it."""
    lines = [x for x, _ in certificate["cases"]] if lines is None else lines
    (folder / "c.json").write_text(json.dumps(certificate))
    (folder / "c.wc").write_text("\n".join(lines) + "\n")
    return checker.main([str(folder / "c.json"), str(folder / "c.wc"), "--windows", str(windows)])


def test_it_is_proved_by_both_checkers(result, tmp_path, capsys, device):
    certificate = result.certificate
    assert len(certificate["cases"]) == len(result.cases) > 500
    assert any(len(row[COLUMN["ulps"]]) == 2 for row in certificate["rows"])
    report = tmd.verify(
        certificate, samples=2, cases=result.write(tmp_path / "a.wc"), device=device
    )
    assert (report["groups"], report["windows"], report["listed"]) == (2, 4, len(result.cases))
    assert check(certificate, tmp_path, windows=20) == 0
    out = capsys.readouterr().out
    assert out.count("proved:") == 4
    assert "20 random windows" in out
    assert "trusted: Arb" in out


def test_certificates_of_parts_join_to_one_of_the_whole(result, tmp_path, capsys):
    ends = [Fraction(0), Fraction(1, 3), Fraction(1, 3) + Fraction(1, 64), Fraction(1)]
    parts = [
        tmd.search_periodic("cos", 5, phases=phases, bits=8, precision=16, device="cpu").certificate
        for phases in itertools.pairwise(ends)
    ]
    whole = join_certificates(parts[::-1])
    assert whole["cases"] == result.certificate["cases"]
    assert check(whole, tmp_path) == 0
    assert "proved: all 10" in capsys.readouterr().out
    assert tmd.verify_cases(parts, result.cases) == len(result.cases)
    assert tmd.verify(whole, full=True, samples=0)["cases"] >= len(result.cases) - 64
    with pytest.raises(tmd.CertificateError, match="does not continue"):
        join_certificates(parts[::2])


def drop_case(c):
    c["cases"].pop(7)


def drop_group(c):
    row = next(row for row in c["rows"] if row[COLUMN["groups"]] > 1)
    row[COLUMN["groups"]] -= 1
    c["windows"] -= (2 * row[COLUMN["windows"]] + 1) * len(row[COLUMN["ulps"]])


def drop_ulp(c):
    row = next(row for row in c["rows"] if len(row[COLUMN["ulps"]]) > 1)
    row[COLUMN["ulps"]].pop()
    row[COLUMN["slabs"]].pop()
    c["windows"] -= row[COLUMN["groups"]] * (2 * row[COLUMN["windows"]] + 1)


def add_case(c):
    x, kind = c["cases"][5]
    number = Fraction(float.fromhex(x)) + Fraction(1, 1 << 10)  # the next argument
    c["cases"].insert(6, [float(number).hex(), kind])


def lower_slab(c):
    slabs = c["rows"][len(c["rows"]) // 3][COLUMN["slabs"]]
    slabs[0] *= 0.8


def swap_kind(c):
    c["cases"][3][1] = "FM"[c["cases"][3][1] == "F"]


def narrow_windows(c):
    row = c["rows"][9]
    row[COLUMN["half_width"]] = (float.fromhex(row[COLUMN["half_width"]]) / 2).hex()


def add_windows(c):
    c["windows"] += 2


def drop_points(c):
    c["points"].pop(0)


def turn_phases(c):
    """The cases and windows of a half, certified for all phases."""
    c["phases"] = ["0x0.0p+0", "0x1.0000000000000p-1"]


def change_exponent(c):
    c["exponent"] += 1


def raise_hardness(c):
    c["bits"] += 1


@pytest.mark.parametrize(
    ("change", "refusal", "message"),
    [(drop_case, "cases, but", "cases, but"),
     (drop_group, "no window covers", "no window covers"),
     (drop_ulp, "the ulps near", "leaves out an ulp"), (add_case, "is no case", "is not a case"),
     (lower_slab, "is too low", "the slab"),
     (swap_kind, "is no case of kind", "is not a case of kind"),
     (narrow_windows, "no window covers", "no window covers"),
     (add_windows, "windows, not", "do not have"),
     (drop_points, "no window covers", "no window covers"),
     (turn_phases, "phase of", "not an argument of the search"),
     (change_exponent, "no argument of the binade", "not an argument of the search"),
     (raise_hardness, "is no case", "is not a case")],
)  # fmt: skip
def test_what_is_wrong_is_refused_by_both(result, change, refusal, message, tmp_path, capsys):
    certificate = json.loads(json.dumps(result.certificate))
    change(certificate)
    assert check(certificate, tmp_path) == 1
    assert "hash does not match" in capsys.readouterr().err
    body = {key: value for key, value in certificate.items() if key != "hash"}
    certificate["hash"] = hash_json(body)
    assert check(certificate, tmp_path) == 1
    assert refusal in capsys.readouterr().err
    with pytest.raises(tmd.CertificateError, match=message):
        tmd.verify(certificate, full=True, samples=0, device="cpu")


@pytest.mark.parametrize(
    ("change", "status"),
    [({"version": 2}, 2), ({"kind": "tmd-certificate"}, 2), ({"exponent": 10**9}, 1),
     ({"precision": 100}, 1), ({"phases": ["0", "1/0"]}, 2), ({"points": [["0", "1e999999"]]}, 2),
     ({"rows": [["0", 1.5, "1", 0, [-16], [1.0]]]}, 1)],
)  # fmt: skip
def test_statements_of_other_forms_are_refused_by_the_checker(result, change, status, tmp_path):
    certificate = result.certificate | change
    body = {key: value for key, value in certificate.items() if key != "hash"}
    certificate["hash"] = hash_json(body)
    assert check(certificate, tmp_path, lines=[x for x, _ in result.certificate["cases"]]) == status


def test_a_window_across_a_zero_leaves_out_ulps(result):
    certificate = json.loads(json.dumps(result.certificate))
    half_width = "0x1.0000000000000p-6"  # the values reach from 0 to 2^-4
    certificate["rows"].append(["0x1.f000000000000p-2", 1, half_width, 0, [-20], [1.0]])
    certificate["windows"] += 1
    certificate["hash"] = hash_json({k: v for k, v in certificate.items() if k != "hash"})
    with pytest.raises(tmd.CertificateError, match="leaves out an ulp"):
        tmd.verify(certificate)


def test_lists_that_differ_are_refused(result, tmp_path, capsys):
    lines = [case.hex for case in result.cases]
    for wrong in (lines[1:], [*lines, lines[0]], [*lines[1:], "0x1.8p+5"]):
        assert check(result.certificate, tmp_path, lines=wrong) == 1
        assert "list differs" in capsys.readouterr().err
        with pytest.raises(tmd.CertificateError, match=r"lacks|listed twice|not certified"):
            tmd.verify_cases([result.certificate], map(float.fromhex, wrong))
