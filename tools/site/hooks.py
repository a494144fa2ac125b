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
from urllib.parse import urlsplit

import bibliography
import outputs
import pictures
import records
import tutorials
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
REPEATED = {
    "CONTRIBUTING.md": "developers/contributing.md",
    "CHANGELOG.md": "changes.md",
}
"""Files of the repository that are pages of the site."""

IN_REPOSITORY = {"README.md": "index.md", **REPEATED}

LINK = re.compile(
    r"\[(?P<text>[^\[\]]*)\]\((?P<target>(?![a-z]+:|#|/)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)"
)

SOURCE_PAGE = """---
search: {{exclude: true}}
hide: [toc]
---
# {name}

`{path}`

``````{language}
{content}
``````
"""
"""A page that shows a file of the repository; its fence is longer than any in the file."""

CARDS = ("benchmarks.md", "papers.md")
"""Pages whose rows become cards with a label for each cell on a narrow screen."""

TUNNELS_PICTURE = "images/lbm-tunnels.png"
"""Path in the site of the picture of the gallery of wind tunnels."""

PLACEHOLDER = ".example"
"""Top-level domain of addresses that nobody has; see RFC 2606."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Take the addresses from pyproject.toml; those that are placeholders are left out."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    if not urlsplit(urls["Documentation"]).hostname.endswith(PLACEHOLDER):
        config.site_url = urls["Documentation"] + "/"
    if not urlsplit(urls["Repository"]).hostname.endswith(PLACEHOLDER):
        config.repo_url, config.repo_name = urls["Repository"], "Sources"
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that repeat a file, the files that documents link to, and pictures."""
    for name, page in REPEATED.items():
        content = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=redirect_links(content, name, page)))
    for target in sorted(find_linked_files()):
        files.append(make_source(target, config))
    files.append(File.generated(config, TUNNELS_PICTURE, content=pictures.draw_tunnels(ROOT)))
    load = functools.partial(tutorials.load_or_run, run=os.environ.get("SITE_RUN", "1") != "0")
    pages = sorted((ROOT / "docs/tutorials").glob("*.md"), key=lambda page: -page.stat().st_size)
    with ThreadPoolExecutor(2) as pool:  # each runs in a process; compiling takes one core
        results = list(pool.map(load, pages))  # the longest first: one process would end late
    for result in results:
        for name, picture in result.pictures.items():
            files.append(File.generated(config, f"tutorials/{name}", content=picture))
    return files


def find_linked_files() -> set[str]:
    """Return the files outside docs/ to which documents link, relative to the repository."""
    found: set[str] = set()
    for source in (*(ROOT / name for name in REPEATED), *sorted((ROOT / "docs").rglob("*.md"))):
        text = source.read_text(encoding="utf-8")
        if source.name == "benchmarks.md":
            text += records.make_tables(ROOT)
        folder = source.relative_to(ROOT).parent.as_posix()
        found.update(
            posixpath.normpath(f"{folder}/{match['target']}") for match in LINK.finditer(text)
        )
    return {
        name
        for name in found
        if (ROOT / name).is_file() and not name.startswith("docs/") and name not in IN_REPOSITORY
    }


def name_source(target: str) -> str:
    """Return the path in the site of a file outside docs/: sources are pages, data are files."""
    return f"sources/{target}" + ("" if target.endswith(".json") else ".md")


def make_source(target: str, config: MkDocsConfig) -> File:
    """Return a file outside docs/ as it is, or as a page that is not in the menu."""
    content = (ROOT / target).read_text(encoding="utf-8")
    if not target.endswith(".json"):
        content = SOURCE_PAGE.format(
            name=posixpath.basename(target),
            path=target,
            language=posixpath.splitext(target)[1].removeprefix("."),
            content=content,
        )
    file = File.generated(config, name_source(target), content=content)
    file.inclusion = InclusionLevel.NOT_IN_NAV
    return file


def redirect_links(markdown: str, source: str, page: str) -> str:
    """Return Markdown whose links hold in the site.

    Links to files outside docs/ lead to their copies; those to folders become their text.

    Parameters
    ----------
    markdown : the text, with links relative to `source`
    source : path in the repository of the file that the text is from
    page : path in the site
    """

    def replace(match: re.Match) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match["target"]))
        if target in IN_REPOSITORY:
            target = IN_REPOSITORY[target]
        elif target.startswith("docs/"):
            target = target.removeprefix("docs/")
        elif (ROOT / target).is_file():
            target = name_source(target)
        else:  # MkDocs warns of a link that leads nowhere
            return match["text"] if (ROOT / target).is_dir() else match[0]
        path = posixpath.relpath(target, posixpath.dirname(page) or ".")
        return f"[{match['text']}]({path}{match['anchor'] or ''})"

    return LINK.sub(replace, markdown)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Complete generated pages, and redirect links that leave docs/."""
    path = page.file.src_uri
    for mark, replacement in outputs.MARKS.items():  # MkDocs knows no second word there
        markdown = markdown.replace(mark, replacement)
    if path in REPEATED.values() or path.startswith("sources/"):
        return markdown
    if path == "benchmarks.md":
        markdown = markdown.replace("<!-- overview -->", records.make_overview(ROOT))
        markdown = markdown.replace("<!-- records -->", records.make_tables(ROOT))
    if path == "packages/lbm-tunnel-gallery.md":
        picture = f"![Speed around the bodies, in the plane of symmetry](../{TUNNELS_PICTURE})"
        markdown = markdown.replace("<!-- picture -->", picture)
        markdown = markdown.replace("<!-- table -->", pictures.make_tunnels_table(ROOT))
    if path == "bibliography.md":
        markdown = markdown.replace(
            "<!-- references -->", bibliography.make_list(ROOT / "docs/references.bib")
        )
    if path.startswith("tutorials/"):
        markdown = tutorials.load_or_run(ROOT / "docs" / path, run=False).insert_into(markdown)
    return redirect_links(markdown, f"docs/{path}", path)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Label the cells of wide tables, so that a narrow screen can show each row as a card."""
    if page.file.src_uri not in CARDS:
        return html
    return re.sub(r"<table>.*?</table>", lambda match: label_cells(match[0]), html, flags=re.S)


def label_cells(table: str) -> str:
    """Return a table whose cells name their columns; empty cells are marked to be hidden."""
    names = re.findall(r"<th[^>]*>(.*?)</th>", table)

    def label_row(row: re.Match) -> str:
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row[0], re.S)
        return f"<tr>{''.join(map(records.label_cell, names, cells))}</tr>"

    body = re.sub(r"<tr>\s*<td.*?</tr>", label_row, table, flags=re.S)
    return body.replace("<table>", '<table class="cards">', 1)
