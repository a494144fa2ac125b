"""The code in the README and in docs/ runs, top to bottom, with the results that they state."""

import ast
import functools
import importlib.util
import inspect
import io
import itertools
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from programs_in_process import run_commands

ROOT = Path(__file__).parents[1]
PACKAGES = ["hetero", "stablegpu", "rode", "lbm", "sbth", "tmd"]
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
    "docs/packages/lbm": lbm, "docs/packages/rode": rode, "docs/packages/sbth": sbth,
    "docs/packages/tmd": tmd,
}  # fmt: skip
"""What code that prints nothing must have computed. Other documents show what their code prints."""

WITH_CODE = [page for page in DOCUMENTS if outputs.read_blocks(page.read_text())]
SLOW = ["docs/packages/lbm", "docs/packages/rode"]
SLOW += [f"docs/guides/{name}" for name in ("lbm", "rode", "clusters")]
"""Documents that compile what only they need; the first two print nothing."""


def test_every_document_with_code_states_results():
    for document in WITH_CODE:
        blocks = outputs.read_blocks(document.read_text())
        assert name_of(document) in CLAIMS or any(block.output for block in blocks), document


NUMBER = re.compile(r"-?\b\d+\.\d+(?:e[+-]?\d+)?(?![\dxp])")


def assert_close(printed: str, stated: str) -> None:
    """Compare what commands print; numbers with a point may differ in their last digits."""
    printed, stated = ("\n".join(map(str.rstrip, text.splitlines())) for text in (printed, stated))
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", stated)
    figures, expected = (list(map(float, NUMBER.findall(text))) for text in (printed, stated))
    assert figures == pytest.approx(expected, rel=1e-4)


def assert_pictures_agree(drawn: bytes, shown: Path) -> None:
    """Compare two pictures roughly: other versions of Matplotlib place letters elsewhere."""
    with Image.open(io.BytesIO(drawn)) as one, Image.open(shown) as other:
        assert one.size == pytest.approx(other.size, rel=0.05), shown
        small = [np.asarray(image.convert("L").resize((60, 30)), float) for image in (one, other)]
    assert np.abs(small[0] - small[1]).mean() < 8.0, shown  # of 255


@pytest.mark.parametrize("document", [
    pytest.param(page, marks=[pytest.mark.slow] * (name_of(page) in SLOW)) for page in WITH_CODE
], ids=name_of)  # fmt: skip
def test_code_runs_and_documents_show_what_it_prints_and_draws(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name_of(document) not in CLAIMS:  # on a GPU, sums in another order have other last digits
        monkeypatch.setenv("HETERO_DEVICE", "cpu")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "100")
    names: dict = {"__name__": "__main__"}
    begun = dict.fromkeys(PACKAGES, False)
    with outputs.figures_in_memory():
        for block in outputs.read_blocks(document.read_text()):
            if document.name == "README.md":  # its blocks are copied one by one
                names = {"__name__": "__main__"}
            if block.language == "sh":
                printed = run_commands(block.code, begun)
                if block.output is not None:
                    assert_close(printed, block.output)
                continue
            printed = outputs.run_block(block.code, document.name, names)
            if block.output is not None:
                assert printed == block.output.rstrip("\n")
            drawn = outputs.take_picture()
            assert (drawn is None) == (block.picture is None), block.code
            if drawn is not None:
                assert_pictures_agree(drawn, document.parent / block.picture)
    if claim := CLAIMS.get(name_of(document)):
        claim(names)


def calls_in(code: str):
    """Yield the functions of the packages that code calls by name, and the calls."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call):
            package, *names = ast.unparse(node.func).split(".")
            if package in PACKAGES and names and all(map(str.isidentifier, names)):
                yield functools.reduce(getattr, names, importlib.import_module(package)), node


@pytest.mark.parametrize("page", [*WITH_CODE, *sorted((ROOT / "examples").rglob("*.py"))])
def test_code_calls_functions_with_arguments_that_they_have(page):
    """Also where only slow tests run it."""
    text = page.read_text()
    python = [block.code for block in outputs.read_blocks(text) if block.language == "python"]
    for function, call in itertools.chain(
        *map(calls_in, [text] if page.suffix == ".py" else python)
    ):
        positional = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
        named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        inspect.signature(function).bind_partial(*positional, **named)


@pytest.mark.parametrize("document", PAGES, ids=name_of)
def test_links_name_existing_files(document):
    text = re.sub(r"^ *```.*?^ *```$", "", document.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (document.parent / target).exists(), target


def test_named_records_exist():
    for document in DOCUMENTS:
        for name in re.findall(r"benchmarks/records/[\w*./-]*", document.read_text()):
            assert list(ROOT.glob(name.rstrip("./"))), (document.name, name)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_reference_has_every_public_name(package):
    text = (ROOT / f"docs/api/{package}.md").read_text()
    names = re.findall(rf"^::: {package}\.(\w+)$", text, re.M)
    public = set(importlib.import_module(package).__all__) - {"__version__"}
    assert sorted(names) == sorted(public)


def test_the_figures_of_the_readme_are_those_of_the_records():
    """`python tools/site/readme_figures.py` updates them."""
    assert load_tool("readme_figures").make_table() in (ROOT / "README.md").read_text()
