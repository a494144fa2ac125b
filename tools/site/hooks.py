"""Hooks of MkDocs: links out of docs/, pages that repeat a file of the repository, generated pages.

`make docs` builds the site. The environment variable SITE_RUN=0 leaves tutorials without their
output where out/tutorials has none.
"""

from __future__ import annotations

import functools
import os
import posixpath
import re
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bibliography
import outputs
import records
import tutorials
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
REPEATED = {
    "CONTRIBUTING.md": "developers/contributing.md",
    "CHANGELOG.md": "changes.md",
}
"""Files of the repository that are pages of the site."""

IN_REPOSITORY = {"README.md": "index.md", **REPEATED}

LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)([^)#\s]+)(?=[)#])")


def on_config(config):
    """Take the addresses, which are placeholders for now, from pyproject.toml."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    config.site_url, config.repo_url = urls["Documentation"] + "/", urls["Repository"]
    config.repo_name = "Sources"
    return config


def on_files(files, config):
    """Add the pages that repeat a file of the repository, and the pictures of tutorials."""
    for name, page in REPEATED.items():
        text = relocate(ROOT / name, page, config.repo_url)
        files.append(File.generated(config, page, content=text))
    load = functools.partial(tutorials.load_or_run, run=os.environ.get("SITE_RUN", "1") != "0")
    with ThreadPoolExecutor(2) as pool:  # each runs in a process; compiling takes one core
        results = list(pool.map(load, sorted((ROOT / "docs/tutorials").glob("*.md"))))
    for result in results:
        for name, content in result.pictures.items():
            files.append(File.generated(config, f"tutorials/{name}", content=content))
    return files


def relocate(source: Path, page: str, repository: str) -> str:
    """Return the text of a file outside docs/ with links that hold at `page` in the site."""

    def replace(match: re.Match) -> str:
        target = posixpath.normpath(match[1])
        if target in IN_REPOSITORY:
            target = IN_REPOSITORY[target]
        elif target.startswith("docs/") and target.endswith((".md", ".png", ".svg")):
            target = target.removeprefix("docs/")
        else:
            return f"{repository}/blob/main/{target}"
        return posixpath.relpath(target, posixpath.dirname(page) or ".")

    return LINK.sub(replace, source.read_text(encoding="utf-8"))


def on_page_markdown(markdown, page, config, files):
    """Complete generated pages, and redirect links that leave docs/ to the repository."""
    path = page.file.src_uri
    for mark, replacement in outputs.MARKS.items():  # MkDocs knows no second word there
        markdown = markdown.replace(mark, replacement)
    if path in REPEATED.values():
        return markdown
    if path == "benchmarks.md":
        markdown = markdown.replace("<!-- records -->", records.make_tables(ROOT))
    if path == "bibliography.md":
        markdown = markdown.replace(
            "<!-- references -->", bibliography.make_list(ROOT / "docs/references.bib")
        )
    if path.startswith("tutorials/"):
        markdown = tutorials.load_or_run(ROOT / "docs" / path, run=False).insert_into(markdown)
    folder = posixpath.dirname(posixpath.join("docs", path))

    def replace(match: re.Match) -> str:
        target = posixpath.normpath(posixpath.join(folder, match[1]))
        is_page = target.startswith("docs/") and not target.endswith(".bib")
        if is_page:
            return match[1]
        if target in IN_REPOSITORY:
            return posixpath.relpath(posixpath.join("docs", IN_REPOSITORY[target]), folder)
        return f"{config.repo_url}/blob/main/{target}"

    return LINK.sub(replace, markdown)
