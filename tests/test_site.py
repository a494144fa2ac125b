"""The site builds without warnings; its links hold, and it works in a browser on a small screen.

Tutorials that `make docs` has not run before are built without their output here.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

from browser import CHROMIUM, probe, serve
from test_documents import load_tool

ROOT = Path(__file__).parents[1]
PHONE_WIDTH = 400  # CSS pixels
pytestmark = pytest.mark.timeout(600)


def build(source: Path, target: Path) -> subprocess.CompletedProcess:
    """Build the site as `make docs` does it, without running tutorials."""
    pytest.importorskip("mkdocs", reason="the site needs the extra docs")
    command = re.search(r"/(mkdocs build.*)", (ROOT / "Makefile").read_text())[1]
    return subprocess.run(
        [sys.executable, "-m", *command.split(), "--site-dir", target], cwd=source,
        env=os.environ | {"SITE_RUN": "0", "NO_MKDOCS_2_WARNING": "1"}, capture_output=True,
        text=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Return a folder with the site: a copy of what `make docs` built, if no source has changed."""
    folder = tmp_path_factory.mktemp("site") / "site"
    if load_tool("stamp").is_site_current():
        return shutil.copytree(ROOT / "out/site", folder)
    run = build(ROOT, folder)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


class Page(HTMLParser):
    """Identifiers and targets of a page."""

    def __init__(self, path: Path):
        super().__init__()
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.ids.add(value)
            elif name in ("href", "src") and value and tag not in ("base",):
                self.targets.add(value)


def pages(site: Path) -> dict[str, Page]:
    """Return all pages by their path, without 404.html, whose links are absolute, and the probe."""
    return {
        path.relative_to(site).as_posix(): Page(path)
        for path in sorted(site.rglob("*.html"))
        if path.name not in ("404.html", "probe.html")
    }


def test_internal_links_and_anchors_exist(site):
    parsed = pages(site)
    assert len(parsed) > 40
    broken = []
    for name, page in parsed.items():
        for target in page.targets:
            address, anchor = urldefrag(urljoin(f"http://site/{name}", target))
            if urlsplit(address).netloc != "site":
                continue
            path = unquote(urlsplit(address).path).lstrip("/") or "index.html"
            path += "index.html" if path.endswith("/") else ""
            if not (site / path).exists() or (anchor and unquote(anchor) not in parsed[path].ids):
                broken.append((name, target))
    assert not broken


def test_pages_recognize_code_and_load_nothing_from_elsewhere(site):
    """Scripts, styles, fonts and pictures come with the site, which works without a network."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "```" not in text, path.name
        for tag in re.findall(r"<(?:script|link|img)\b[^>]*>", text):
            outside = re.search(r'(?:src|href)="https?://([^"]*)"', tag)
            assert outside is None or 'rel="canonical"' in tag, (path.name, tag)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(p.name for p in (ROOT / "docs/tutorials").glob("*.md")))
def test_tutorial_runs(name, tmp_path):
    run = subprocess.run(
        [sys.executable, ROOT / "tools/site/tutorials.py", ROOT / "docs/tutorials" / name],
        cwd=tmp_path, env=os.environ | {"HETERO_DEVICE": "cpu", "MPLBACKEND": "agg"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert ", picture" in run.stdout


EVERY_PAGE = """
  report.wide = []; report.formulas = [];
  for (const name of %s) {
    const frame = await open(name, %d, 800), page = frame.contentDocument;
    const root = page.documentElement;
    frame.contentWindow.scrollTo(10000, 0);
    if (frame.contentWindow.scrollX > 0 || root.scrollWidth > root.clientWidth)
      report.wide.push([name, root.scrollWidth]);
    for (const element of page.querySelectorAll(".arithmatex"))
      if (!element.querySelector(".katex-html") || element.querySelector(".katex-error"))
        report.formulas.push([name, element.textContent]);
    frame.remove();
  }
"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt install chromium")
def test_pages_work_in_a_browser_on_a_small_screen(site, tmp_path):
    """No page scrolls sideways, writes an error to the console, or asks for a missing file.

    All formulas are typeset.
    """
    names = sorted(pages(site))
    script = EVERY_PAGE % (json.dumps(names), PHONE_WIDTH)
    with serve(site) as address:
        found = probe(site, address, tmp_path, script, 1000 * len(names))
    assert found == {"wide": [], "formulas": []}
