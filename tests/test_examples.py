"""Every example runs, and the tour's page has its figures and no failed check."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hetero.compile_cache.folder import root
from hetero.cuda.driver import SIMULATOR

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples"
EXAMPLES = sorted(p.relative_to(FOLDER).as_posix() for p in FOLDER.rglob("[a-z]*.py"))

pytestmark = [
    pytest.mark.skipif(SIMULATOR, reason="too large for the simulator"),
    pytest.mark.timeout(900),  # the tour compiles most of the toolkit
]


def environment(tmp_path) -> dict[str, str]:
    """Return an environment with its own cache, except for compiled code, which all tests share."""
    return os.environ | {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HETERO_CACHE_DIR": str(root()),
    }


FOLDERS = sorted({name.partition("/")[0] for name in EXAMPLES if "/" in name})


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_example_is_described(folder):
    described = (FOLDER / folder / "README.md").read_text()
    for name in EXAMPLES:
        if name.startswith(folder):
            assert f"`{name.partition('/')[2]}`" in described, name
            assert name in (ROOT / "docs/examples.md").read_text(), name


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs(name, tmp_path):
    run = subprocess.run(
        [sys.executable, FOLDER / name, "--quick", "--out", tmp_path],
        capture_output=True,
        text=True,
        env=environment(tmp_path),
    )
    assert run.returncode == 0, run.stdout + run.stderr
    if name == "tour.py":
        page = (tmp_path / "index.html").read_text()
        assert page.count("data:image/png;base64,") >= 1
        assert "http" not in page.replace("http://www.w3.org", "")
        assert "pass" in run.stdout
        assert "FAIL" not in run.stdout
    else:
        assert list(tmp_path.rglob("*.png"))


def test_shares_of_a_limit_are_written_without_exponents(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    from _shared import Row

    shares = {0.0012: "0.12 %", 0.0996: "10 %", 0.995: "100 %", 1.234: "123 %", None: "–"}
    for share, text in shares.items():
        assert Row("job", "cpu", 1.0, "points/s", share, "", "", True).share_text == text


def test_benchmarks_run(tmp_path):
    target = tmp_path / "record.json"
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", "run", "stable", "--quick", "--json", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=environment(tmp_path),
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert '"facts"' in target.read_text()
