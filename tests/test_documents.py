"""The code in the README and in docs/ runs, top to bottom, with the results that they state."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def code(document: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", document.read_text(), re.S)


def readme(names):
    assert abs(names["d"].pdf(0.0) - 0.2541126866022) < 1e-12
    assert abs(names["result"].alpha - 1.5) < 0.05


def lbm(names):
    assert 1000 < names["s"].steps <= 4000
    assert {"cavity.vti", "cavity.state"} <= {path.name for path in Path().iterdir()}


def rode(names):
    assert names["result"].peaks.shape == (1, 4096)


def sbth(names):
    assert len(names["lowest"]) == 10
    assert abs(names["values"][-1] - 50.0) < 1e-12  # of a matrix of 50 x 50 ones


def tmd(names):
    cases = names["result"].cases
    assert len(cases) == 495
    assert sum(case.kind == "F" for case in cases) == 241


CLAIMS = {"README": readme, "lbm": lbm, "rode": rode, "sbth": sbth, "tmd": tmd}


def test_every_document_with_code_is_tested():
    assert {document.stem for document in DOCUMENTS if code(document)} == set(CLAIMS)


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if code(d)], ids=lambda d: d.stem)
def test_code_runs(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in code(document):
        exec(compile(block, document.name, "exec"), names)
    CLAIMS[document.stem](names)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.stem)
def test_links_name_existing_files(document):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_named_records_exist():
    for document in DOCUMENTS:
        for name in re.findall(r"benchmarks/records/[\w*./-]*", document.read_text()):
            assert list(ROOT.glob(name.rstrip("./"))), (document.name, name)


RECORDS = sorted((ROOT / "benchmarks/records").rglob("*.json"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem)
def test_records_name_the_machine(record):
    data = json.loads(record.read_text())
    # The record of the campaign has no facts, because its certificates name their devices.
    assert "campaign" in data or data["facts"]
