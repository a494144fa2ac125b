"""The site builds without warnings; its links hold, and it works in a browser on a small screen.

Tutorials that `make docs` has not run before are built without their output here.
"""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

ROOT = Path(__file__).parents[1]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PHONE_WIDTH = 400  # CSS pixels

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Build the site and return its folder."""
    pytest.importorskip("mkdocs", reason="the site needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env=os.environ | {"SITE_RUN": "0", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
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


def test_every_block_of_code_is_recognized(site):
    for path in site.rglob("*.html"):
        assert "```" not in path.read_text(encoding="utf-8"), path.name


def test_nothing_is_loaded_from_elsewhere(site):
    """Scripts, styles, fonts and pictures come with the site, which works without a network."""
    for path in site.rglob("*.html"):
        tags = re.findall(r"<(?:script|link|img)\b[^>]*>", path.read_text(encoding="utf-8"))
        for tag in tags:
            outside = re.search(r'(?:src|href)="https?://([^"]*)"', tag)
            assert outside is None or 'rel="canonical"' in tag, (path.name, tag)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(p.name for p in (ROOT / "docs/tutorials").glob("*.md")))
def test_tutorial_runs(name, tmp_path):
    run = subprocess.run(
        [sys.executable, ROOT / "tools/site/tutorials.py", ROOT / "docs/tutorials" / name],
        cwd=tmp_path,
        env=os.environ | {"HETERO_DEVICE": "cpu", "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert ", picture" in run.stdout


PROBE = """<!doctype html><meta charset="utf-8"><body><pre id="report"></pre><script>
const names = %s, wide = [];
(async () => {
  for (const name of names) {
    const frame = document.createElement("iframe");
    frame.style = "width: %dpx; height: 800px; border: 0";
    frame.src = name;
    document.body.append(frame);
    await new Promise(done => frame.onload = done);
    await new Promise(done => setTimeout(done, 150));
    const root = frame.contentDocument.documentElement;
    frame.contentWindow.scrollTo(10000, 0);
    if (frame.contentWindow.scrollX > 0 || root.scrollWidth > root.clientWidth)
      wide.push([name, root.scrollWidth]);
    frame.remove();
  }
  document.getElementById("report").textContent = "report:" + JSON.stringify({wide}) + ":end";
})();
</script></body>"""
"""A page that shows every other page in a frame as wide as a telephone."""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site and remembers what it did not find."""

    missing: list[str] = []  # noqa: RUF012

    def log_message(self, *arguments):
        pass

    def send_error(self, code, *arguments, **settings):
        self.missing.append(self.path)
        super().send_error(code, *arguments, **settings)


@pytest.fixture
def address(site):
    """Serve the site on this machine and yield its address."""
    Handler.missing.clear()
    handler = functools.partial(Handler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt install chromium")
def test_pages_work_in_a_browser_on_a_small_screen(site, address, tmp_path):
    """No page scrolls sideways, writes an error to the console, or asks for a missing file."""
    names = sorted(pages(site))
    (site / "probe.html").write_text(PROBE % (json.dumps(names), PHONE_WIDTH))
    run = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            *("--enable-logging=stderr", "--v=0", "--no-first-run", "--disable-extensions"),
            *("--disable-dev-shm-usage", f"--user-data-dir={tmp_path}", "--window-size=1280,900"),
            *("--timeout=240000", f"--virtual-time-budget={1000 * len(names)}"),
            f"{address}/probe.html",
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    report = re.search(r"report:(\{.*?\}):end", run.stdout)
    assert report, run.stdout[-2000:] + run.stderr[-2000:]
    assert json.loads(report[1])["wide"] == []
    console = [line for line in run.stderr.splitlines() if ":CONSOLE" in line]
    assert console == []
    assert [path for path in Handler.missing if path != "/favicon.ico"] == []
