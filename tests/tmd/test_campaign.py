"""The campaign's files: binades that meet, records that hold what was found."""

import json
import math

import tmd
from benchmarks import tmd_campaign as campaign
from tmd.certificate import read


def test_binades_meet_and_end_where_values_do():
    for e in range(campaign.FIRST, campaign.LAST):
        assert campaign.domain(1, e)[1] == campaign.domain(1, e + 1)[0]
        # (-high, -low]: the next binade ends before -high.
        assert campaign.domain(-1, e)[0] == campaign.domain(-1, e + 1)[1]
    top = campaign.domain(1, 9)[1]
    assert math.isfinite(math.exp(math.nextafter(top, 0)))
    assert math.nextafter(campaign.domain(-1, 9)[0], -math.inf) < -745.13


def test_records_hold_what_was_found(tmp_path):
    for lo, hi in ((1, "0x1.0001p0"), ("-0x1.f001p-3", "-0x1.fp-3")):
        result = tmd.search("exp", (lo, hi), bits=45, device="cpu")
        campaign.keep(result, tmp_path / "binades", 1.0)
    assert {p.name for p in (tmp_path / "binades").iterdir()} == {
        "exp_p+000.json",
        "exp_m-003.json",
    }
    campaign.collect(tmp_path / "binades", tmp_path / "record")
    record = json.loads((tmp_path / "record" / "tmd-exp.json").read_text())
    assert [b["arguments"] for b in record["binades"]] == [1 << 36, 1 << 36]
    certificates = read(tmp_path / "record" / "tmd-exp-certificates.jsonl.xz")
    assert [c["hash"] for c in certificates] == [b["certificate"] for b in record["binades"]]
    assert tmd.verify(certificates[0], samples=0)["blocks"] == 0
    listed = (tmp_path / "record" / "tmd-exp-cases.txt").read_text()
    assert sum(not line.startswith("#") for line in listed.splitlines()) == sum(
        b["cases_44"] for b in record["binades"]
    )
    campaign.spread(tmp_path / "record", tmp_path / "again")
    for path in (tmp_path / "binades").iterdir():
        before, after = (
            json.loads((p / path.name).read_text()) for p in (path.parent, tmp_path / "again")
        )
        assert before == after
