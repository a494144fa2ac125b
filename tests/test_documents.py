"""The code in the README and in docs/ runs, top to bottom, with the results that they state."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = [page for page in PAGES if page not in TUTORIALS]  # `make docs` runs the tutorials


def load_tool(name: str):
    """Import tools/site/<name>.py, which is in no package."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", ROOT / f"tools/site/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


outputs = load_tool("outputs")


def name_of(document: Path) -> str:
    return document.relative_to(ROOT).with_suffix("").as_posix()


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


CLAIMS = {
    "docs/packages/lbm": lbm,
    "docs/packages/rode": rode,
    "docs/packages/sbth": sbth,
    "docs/packages/tmd": tmd,
}
"""What code that prints nothing must have computed. Other documents show what their code prints."""

WITH_CODE = [page for page in DOCUMENTS if outputs.read_blocks(page.read_text())]


def test_every_document_with_code_states_results():
    for document in WITH_CODE:
        blocks = outputs.read_blocks(document.read_text())
        assert name_of(document) in CLAIMS or any(block.output for block in blocks), document


NUMBER = re.compile(r"-?\b\d+\.\d+(?:e[+-]?\d+)?(?![\dxp])")


def assert_close(printed: str, stated: str) -> None:
    """Compare what commands print; numbers with a point may differ in their last digits."""
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", stated)
    figures, expected = (list(map(float, NUMBER.findall(text))) for text in (printed, stated))
    assert figures == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("document", WITH_CODE, ids=name_of)
def test_code_runs(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name_of(document) not in CLAIMS:  # on a GPU, sums in another order have other last digits
        monkeypatch.setenv("HETERO_DEVICE", "cpu")
    names: dict = {"__name__": "__main__"}
    for block in outputs.read_blocks(document.read_text()):
        printed = outputs.run_block(block.code, document.name, names, block.language)
        if block.output is not None and block.language == "sh":
            assert_close(printed, block.output.rstrip("\n"))
        elif block.output is not None:
            assert printed == block.output.rstrip("\n")
    if claim := CLAIMS.get(name_of(document)):
        claim(names)


@pytest.mark.parametrize("document", PAGES, ids=name_of)
def test_links_name_existing_files(document):
    text = re.sub(r"^ *```.*?^ *```$", "", document.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (document.parent / target).exists(), target


def test_named_records_exist():
    for document in DOCUMENTS:
        for name in re.findall(r"benchmarks/records/[\w*./-]*", document.read_text()):
            assert list(ROOT.glob(name.rstrip("./"))), (document.name, name)


@pytest.mark.parametrize("package", ["hetero", "stablegpu", "rode", "lbm", "sbth", "tmd"])
def test_the_reference_has_every_public_name(package):
    text = (ROOT / f"docs/api/{package}.md").read_text()
    names = re.findall(rf"^::: {package}\.(\w+)$", text, re.M)
    public = set(importlib.import_module(package).__all__) - {"__version__"}
    assert sorted(names) == sorted(public)


def test_parameters_that_share_a_description_are_shown_with_their_own_default():
    pytest.importorskip("griffe", reason="the site needs the extra docs")
    text = "Flow.\n\nParameters\n----------\nrho, u : array, optional\n    Initial fields.\n"
    expected = (
        "rho : array, optional\n    Initial fields.\nu : array, optional\n    Initial fields."
    )
    assert expected in load_tool("docstrings").move_descriptions(text)


def test_the_figures_of_the_readme_are_those_of_the_records():
    """`python tools/site/readme_figures.py` updates them."""
    assert load_tool("readme_figures").make_table() in (ROOT / "README.md").read_text()


RECORDS = sorted((ROOT / "benchmarks/records").rglob("*.json"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem)
def test_records_name_the_machine(record):
    data = json.loads(record.read_text())
    # The record of the campaign has no facts, because its certificates name their devices.
    assert "campaign" in data or data["facts"]
