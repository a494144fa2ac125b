"""Every example runs, and the tour's page has its figures and no failed check."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import SUITES
from hetero.compile_cache.store import root

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples"
EXAMPLES = sorted(p.relative_to(FOLDER).as_posix() for p in FOLDER.rglob("[a-z]*.py"))

pytestmark = pytest.mark.timeout(900)  # the tour compiles most of the toolkit


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that runs Python with arguments, and returns what it prints.

    The machine's limits are measured once for all, and compiled code is that of the other tests.
    """
    caches = {
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
        "HETERO_CACHE_DIR": str(root().parent),
    }

    def run(*arguments) -> str:
        command = [sys.executable, *map(str, arguments)]
        ended = subprocess.run(
            command, cwd=ROOT, env=os.environ | caches, capture_output=True, text=True
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    return run


FOLDERS = sorted({name.partition("/")[0] for name in EXAMPLES if "/" in name})


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_example_is_described(folder):
    described = (FOLDER / folder / "README.md").read_text()
    for name in EXAMPLES:
        if name.startswith(folder):
            assert f"`{name.partition('/')[2]}`" in described, name
            assert name in (ROOT / "docs/examples.md").read_text(), name


LONG = (
    "lattice_boltzmann/ahmed_body.py", "lattice_boltzmann/grid_turbulence.py",
    "lattice_boltzmann/vortex_street.py", "random_odes/many_workers.py", "random_odes/pulse.py",
)  # fmt: skip
"""Examples that compile for a quarter of a minute what no test shares."""


def _cases():
    """Yield the examples; those that the tour runs take their own commands in slow tests only."""
    tour = (FOLDER / "tour.py").read_text()
    for name in EXAMPLES:
        is_in_tour = f'    "{name.removesuffix(".py").replace("/", ".")}",\n' in tour
        yield pytest.param(name, marks=[pytest.mark.slow] * (is_in_tour or name in LONG))


@pytest.mark.parametrize("name", list(_cases()))
def test_example_runs(name, tmp_path, run):
    printed = run(FOLDER / name, "--quick", "--out", tmp_path)
    if name == "tour.py":
        page = (tmp_path / "index.html").read_text()
        assert 6 <= page.count("data:image/png;base64,") == page.count("<img ")
        assert page.rindex("<img ") < page.index('id="numbers"')  # pictures first
        assert 10 < page.count('data-label="check"') == page.count('class="note">allowed: ')
        assert "95 % interval" in page  # of the waiting time for a bad day
        assert not re.search(r'<(?:link|script)|src="(?!data:)', page)  # nothing from elsewhere
        assert {*re.findall(r'href="#([\w-]+)"', page)} <= {*re.findall(r' id="([\w-]+)"', page)}
        assert "pass" in printed
        assert "FAIL" not in printed
    else:
        assert list(tmp_path.rglob("*.png"))


@pytest.mark.parametrize("suite", [pytest.param("stable", marks=pytest.mark.slow), "sbth-eigsh"])
def test_benchmarks_run(tmp_path, suite, run):
    run("-c", f"import {', '.join(SUITES.values())}")
    target = tmp_path / "record.json"
    run("-m", "benchmarks", "run", suite, "--quick", "--json", target)
    assert '"facts"' in target.read_text()
