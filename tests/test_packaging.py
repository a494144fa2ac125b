"""What a package index and a citation say about the project."""

import re
import tomllib
from importlib.metadata import metadata
from pathlib import Path

from hetero.version import VERSION

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_description_has_absolute_links():
    description = metadata("heterokit").get_payload() or metadata("heterokit")["Description"]
    targets = re.findall(r"\]\(([^)#]+)", description)
    assert len(targets) > 5
    assert all(target.startswith("https://") for target in targets), targets


def test_the_citation_has_the_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^title: (.*)$", citation, re.M)[1] == PROJECT["name"] == "heterokit"
    assert re.search(r"^version: (.*)$", citation, re.M)[1] == VERSION
    assert f"version = {{{VERSION}}}" in (ROOT / "docs/how-to-cite.md").read_text()


def test_every_dependency_is_justified():
    text = (ROOT / "docs/developers/dependencies.md").read_text()
    for requirement in sum(PROJECT["optional-dependencies"].values(), PROJECT["dependencies"]):
        name = re.match(r"[\w-]+", requirement)[0]
        assert name in (PROJECT["name"], "numba") or re.search(rf"\b{name}\b", text), name
