"""The rules of the layout: who imports whom, and what importing costs."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOMAINS = ("stablegpu", "rode", "lbm", "sbth", "tmd")


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def sources(package: str) -> list[Path]:
    found = sorted((ROOT / package).rglob("*.py"))
    assert found
    return found


@pytest.mark.parametrize("package", ["hetero", *DOMAINS])
def test_domains_do_not_import_each_other(package):
    others = set(DOMAINS) - {package}
    for path in sources(package):
        tops = {name.partition(".")[0] for name in imported(path)}
        assert not tops & others, path


@pytest.mark.parametrize("package", ["hetero", *DOMAINS])
def test_one_folder_imports_the_cuda_target(package):
    for path in sources(package):
        if path.parent != ROOT / "hetero" / "cuda":
            direct = {n for n in imported(path) if n.startswith("numba.cuda")}
            # The others get `cuda` from hetero.cuda.driver.
            assert not direct, path


@pytest.mark.parametrize("package", ["hetero", *DOMAINS])
def test_import_loads_neither_numba_nor_a_driver(package):
    code = (
        f"import sys, {package}; "
        "print([m for m in ('numba', 'cuda', 'cupy', 'torch', 'scipy', 'matplotlib', 'mpi4py') "
        "if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("package", ["hetero", *DOMAINS])
def test_dir_shows_every_public_name(package):
    module = importlib.import_module(package)
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        module.nonsense  # noqa: B018
