"""The files of the campaign: adjoining binades, and records with all cases."""

import json
import math
import re

import pytest

import tmd
from benchmarks import tmd_campaign as campaign
from tmd.certificates import read_certificates, verify_cases


def test_binades_adjoin_and_end_with_the_values():
    for e in range(campaign.FIRST, campaign.LAST):
        assert campaign.domain(1, e)[1] == campaign.domain(1, e + 1)[0]
        # (-high, -low]: the next binade ends before -high.
        assert campaign.domain(-1, e)[0] == campaign.domain(-1, e + 1)[1]
    top = campaign.domain(1, 9)[1]
    assert math.isfinite(math.exp(math.nextafter(top, 0)))
    assert math.nextafter(campaign.domain(-1, 9)[0], -math.inf) < -745.13


def test_records_hold_the_results_of_the_searches(tmp_path):
    for lo, hi in ((1, "0x1.0001p0"), ("-0x1.f001p-3", "-0x1.fp-3")):
        result = tmd.search("exp", (lo, hi), bits=45, device="cpu")
        campaign.write_binade(result, tmp_path / "binades", 1.0)
    assert {p.name for p in (tmp_path / "binades").iterdir()} == {
        "exp_p+000.json",
        "exp_m-003.json",
    }
    campaign.collect(tmp_path / "binades", tmp_path / "record")
    record = json.loads((tmp_path / "record" / "tmd-exp.json").read_text())
    assert [b["arguments"] for b in record["binades"]] == [1 << 36, 1 << 36]
    certificates = read_certificates(tmp_path / "record" / "tmd-exp-certificates.jsonl.xz")
    assert [c["hash"] for c in certificates] == [b["certificate"] for b in record["binades"]]
    assert verify_cases(certificates, tmp_path / "record" / "tmd-exp-cases.txt") == sum(
        c["cases"] for c in certificates
    )
    listed = (tmp_path / "record" / "tmd-exp-cases.txt").read_text()
    assert sum(not line.startswith("#") for line in listed.splitlines()) == sum(
        b["cases_44"] for b in record["binades"]
    )
    campaign.unpack(tmp_path / "record", tmp_path / "again")
    for path in (tmp_path / "binades").iterdir():
        before, after = (
            json.loads((p / path.name).read_text()) for p in (path.parent, tmp_path / "again")
        )
        assert before == after


def test_a_binade_is_written_only_with_the_certificate_of_its_list(tmp_path):
    """The hashes in a certificate of 32 bits belong to other cases than those listed."""
    result = tmd.search("exp", (1, "0x1.00000001p0"), bits=32, device="cpu")
    with pytest.raises(ValueError, match="needs bits=45, got 32"):
        campaign.write_binade(result, tmp_path, 1.0)
    assert not list(tmp_path.iterdir())


def test_a_binade_that_was_searched_with_other_bits_is_refused(tmp_path):
    loose = tmd.search("exp", (1, "0x1.00000001p0"), bits=32, device="cpu")
    name = campaign.file_name(*map(float, loose.domain))
    record = {"domain": [x.hex() for x in map(float, loose.domain)], "seconds": 1.0, "cases": []}
    (tmp_path / name).write_text(json.dumps(record | {"certificate": loose.certificate}))
    with pytest.raises(ValueError, match=re.escape(f"not searched with bits=45: {name}")):
        campaign.collect(tmp_path, tmp_path / "record")
