"""Pages in a headless Chromium: served from a folder, opened in frames, asked what they show."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from html import unescape
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

PROBE = """<!doctype html><meta charset="utf-8"><body><pre id="report"></pre><script>
const open = async (name, width, height) => {
  const frame = document.createElement("iframe");
  frame.style = `width: ${width}px; height: ${height}px; border: 0`;
  frame.src = name;
  document.body.append(frame);
  await new Promise(done => frame.onload = done);
  await new Promise(done => setTimeout(done, 150));
  return frame;
};
(async () => {
  const report = {};
  try { %s } catch (error) { report.error = String(error); }
  document.getElementById("report").textContent = "report:" + JSON.stringify(report) + ":end";
})();
</script></body>"""
"""A page that opens others in frames of any width and reports what it finds there."""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site and remembers what it did not find."""

    missing: list[str] = []  # noqa: RUF012

    def log_message(self, *arguments):
        pass

    def send_error(self, code, *arguments, **settings):
        self.missing.append(self.path)
        super().send_error(code, *arguments, **settings)


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine and yield its address."""
    Handler.missing.clear()
    handler = functools.partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def browse(url: str, tmp_path: Path, milliseconds: int) -> tuple[str, list[str]]:
    """Return a page as Chromium has it after some time of its own, and its console."""
    run = subprocess.run([
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
        *("--enable-logging=stderr", "--v=0", "--no-first-run", "--disable-extensions"),
        *("--disable-dev-shm-usage", f"--user-data-dir={tmp_path}", "--window-size=1280,900"),
        *("--timeout=240000", f"--virtual-time-budget={milliseconds}", url),
    ], capture_output=True, text=True, timeout=300)  # fmt: skip
    return run.stdout, [line for line in run.stderr.splitlines() if ":CONSOLE" in line]


def probe(site: Path, address: str, tmp_path: Path, script: str, milliseconds: int) -> dict:
    """Run a script beside the pages of the site and return its report."""
    (site / "probe.html").write_text(PROBE % script)
    text, console = browse(f"{address}/probe.html", tmp_path, milliseconds)
    assert console == []
    assert [path for path in Handler.missing if path != "/favicon.ico"] == []
    report = re.search(r"report:(\{.*?\}):end", text)
    assert report, text[-2000:]
    return json.loads(unescape(report[1]))
