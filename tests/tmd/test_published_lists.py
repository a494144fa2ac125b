"""The published lists agree with their record, and hold what others have published."""

import json
from pathlib import Path

import pytest
from flint import arb

from benchmarks.tmd_lists import RECORDS, check_published, main, read_list
from tmd import checker
from tmd.__main__ import main as tmd_main
from tmd.functions.function import working_precision

PUBLIC = {  # cases that others have published; one of log is the hardest known
    "sin": {"0x1.f6d7518808571p+1023", "0x1.a880417b7b119p+1023"},  # in other libraries' tests
    "log": set((Path(__file__).parent / "data/public_log_cases.txt").read_text().split()),
}


@pytest.mark.parametrize("number", range(4))
def test_published_lists(number):
    record = json.loads((RECORDS / "tmd-lists.json").read_text())["lists"][number]
    assert check_published(record, RECORDS, sample=50) > 1000
    cases = {case[0] for rows in read_list(RECORDS / record["file"]).values() for case in rows}
    assert cases >= PUBLIC.get(record["function"], set())


def test_the_list_of_exp_confirms_that_of_log():
    """If exp(y) is close to a float x, log(x) is even closer to y."""
    binades = read_list(RECORDS / "tmd-log-cases.txt.xz").values()
    log = {float.fromhex(case[0]): case[1] for rows in binades for case in rows}
    lines = [line.split() for line in (RECORDS / "tmd-exp-cases.txt").read_text().splitlines()]
    cases = [float.fromhex(line[0]) for line in lines if line[0] != "#" and line[1] == "F"]
    normal = [y for y in cases if abs(y) >= 16 and -708 < y < 709]
    with working_precision(200):
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
