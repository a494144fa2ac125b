"""The published lists agree with their record, and hold what others have published."""

import json

import pytest
from flint import arb, ctx

from benchmarks.tmd_lists import RECORDS, check_published, main, read_list
from tmd import checker
from tmd.__main__ import main as tmd_main

PUBLIC = {
    "sin": {"0x1.f6d7518808571p+1023", "0x1.a880417b7b119p+1023"},  # in other libraries' tests
    "log": {"0x1.5ff2358363354p+8", "0x1.920a768d56909p+8", "0x1.4db258a0d8df6p+7", "0x1.07598f4a78f02p+9",
        "0x1.6571de5a3a4d0p+9", "0x1.e16cea453c800p+8", "0x1.1e88509f96c39p+11", "0x1.a455a70c31d80p+13",
        "0x1.f63e8a05c6055p+14", "0x1.604475cb1f86dp+15", "0x1.3ef2d508592d8p+17", "0x1.7d822b508bb3bp+20",
        "0x1.1a4c3109027aep+22", "0x1.a04c79af61dcep+26", "0x1.187473f1019f6p+31", "0x1.8e27f4f0e6c74p+34",
        "0x1.deab16bf0cba3p+37", "0x1.b61a3bd0deac0p+39", "0x1.a6004162f2b8cp+45", "0x1.e5ddfb3b41f29p+64",
        "0x1.524e9d7fe70e2p+56", "0x1.935e800e9635dp+60", "0x1.30c6cc651d6e1p+77", "0x1.91ec4412c344fp+86",
        "0x1.0f3005a80b129p+91", "0x1.70c2cce39b588p+105", "0x1.4341e70e3c555p+108", "0x1.d3324adeb9529p+124",
        "0x1.360da2a6d7e8cp+139", "0x1.40713bfc9a8dbp+162", "0x1.9ad7086625da3p+171", "0x1.0cfa5b9746a0ep+176",
        "0x1.6f38eaa6d3e6dp+190", "0x1.9a99d7504aef9p+216", "0x1.83957d77856c4p+219", "0x1.c90810d354618p+245",
        "0x1.6c6e6ba16e9eap+248", "0x1.04bb33c7077c7p+260", "0x1.eb37d64183273p+272", "0x1.79ff23028be99p+301",
        "0x1.36e72be711554p+313", "0x1.b6dc28149d20fp+333", "0x1.0603fbe639f6ep+368", "0x1.7206f83985ef0p+343",
        "0x1.a89ea5e40b0c0p+350", "0x1.c901b6ae9ae9cp+324", "0x1.075c304425891p+228", "0x1.62a88613629b6p+678",},  # fmt: skip
}
"""Cases that others have published; the last of log is the hardest known."""


@pytest.mark.parametrize("number", range(4))
def test_published_lists(number):
    record = json.loads((RECORDS / "tmd-lists.json").read_text())["lists"][number]
    assert check_published(record, RECORDS, sample=50) > 1000
    cases = {case[0] for rows in read_list(RECORDS / record["file"]).values() for case in rows}
    assert cases >= PUBLIC.get(record["function"], set())


def test_the_list_of_exp_confirms_that_of_log():
    """If exp(y) is close to a float x, log(x) is even closer to y."""
    log = {float.fromhex(case[0]): case[1] for rows in
           read_list(RECORDS / "tmd-log-cases.txt.xz").values() for case in rows}  # fmt: skip
    lines = (RECORDS / "tmd-exp-cases.txt").read_text().splitlines()
    cases = [line.split()[:2] for line in lines if not line.startswith("#")]
    floats = [y for y in (float.fromhex(x) for x, kind in cases if kind == "F") if abs(y) >= 16]
    normal = [y for y in floats if -708 < y < 709]
    ctx.prec = 200
    assert {log[float(arb(y).exp().mid())] for y in normal} == {"F"}
    assert len(normal) > 2000


def test_a_campaign_becomes_a_list_and_is_compared_with_it(tmp_path, capsys):
    folder, out = tmp_path / "sin", tmp_path / "records"
    command = ["campaign", "sin", "--precision", "16", "--bits", "8", "--parts", "2", "--quiet"]
    tmd_main([*command, "--exponents", "40", "41", "--device", "cpu", "--resume", str(folder)])
    assert main([str(folder), "--out", str(out), "--windows", "3"]) == 0
    (record,) = json.loads((out / "tmd-lists.json").read_text())["lists"]
    counts = [len(json.loads((folder / f"{e}.json").read_text())["cases"]) for e in (40, 41)]
    assert [row[1] + row[2] for row in record["binades"]] == counts
    assert main(["--out", str(out), "--check"]) == 0
    assert main(["--out", str(out), "--unpack", str(tmp_path / "again")]) == 0
    assert main([str(tmp_path / "again" / "sin"), "--out", str(out), "--compare"]) == 0
    record["binades"][1][-1] = "0"
    (out / "tmd-lists.json").write_text(json.dumps({"lists": [record]}))
    assert main([str(folder), "--out", str(out), "--compare"]) == 1
    assert "sin 41: DIFFERENT" in capsys.readouterr().out
    with pytest.raises(ValueError, match="in the binade 41"):
        main(["--out", str(out), "--check"])
    (folder / "proofs" / "40.json").unlink()
    (folder / "40.wc").write_text((folder / "40.wc").read_text().rstrip().rpartition("\n")[0])
    with pytest.raises(checker.Refused, match="the list differs"):
        main([str(folder), "--out", str(out)])
