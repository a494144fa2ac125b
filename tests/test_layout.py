"""The rules of the layout: which modules import which, and what `import` loads."""

import ast
import functools
import graphlib
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOMAINS = ("stablegpu", "rode", "lbm", "sbth", "tmd")


@functools.cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@functools.cache
def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def sources(package: str) -> list[Path]:
    paths = sorted((ROOT / package).rglob("*.py"))
    assert paths
    return paths


@pytest.mark.parametrize("package", ["hetero", *DOMAINS])
def test_packages_import_neither_each_other_nor_what_is_not_installed_nor_cuda(package):
    others = set(DOMAINS) - {package} | {"benchmarks", "examples", "studies", "tests", "tools"}
    for path in sources(package):
        tops = {name.partition(".")[0] for name in imported(path)}
        assert not tops & others, path
        if path.parent != ROOT / "hetero" / "cuda":
            direct = {n for n in imported(path) if n.startswith("numba.cuda")}
            # The others get `cuda` from hetero.cuda.driver.
            assert not direct, path


@pytest.mark.parametrize("package", ["hetero", *DOMAINS])
def test_import_loads_neither_numpy_nor_numba_nor_a_driver(package):
    code = (
        f"import sys, {package}; print({{'numpy', 'scipy', 'matplotlib', 'numba', 'cuda', 'cupy', "
        "'torch', 'mpi4py'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


@pytest.mark.parametrize("package", ["hetero", *DOMAINS])
def test_dir_shows_every_public_name(package):
    module = importlib.import_module(package)
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    assert {*module.__all__, "__version__"} == set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match=f"No {package} attribute nonsense"):
        module.nonsense  # noqa: B018


@pytest.mark.parametrize("package", ["hetero", *DOMAINS])
def test_type_checkers_see_every_public_name(package):
    """Names that a stub imports without `as` are private for type checkers."""
    tree = ast.parse((ROOT / package / "__init__.pyi").read_text())
    names = {
        alias.asname
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert names == set(importlib.import_module(package).__all__)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(p): p for package in ("hetero", *DOMAINS) for p in sources(package)}


def imports_of(path: Path) -> list[tuple[str, str | None]]:
    """Return modules and names that a file imports, also inside functions and for types only."""
    pairs: list[tuple[str, str | None]] = []
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            pairs.extend((alias.name, None) for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            pairs.extend((node.module, alias.name) for alias in node.names)
    return pairs


def targets_of(name: str) -> set[str]:
    """Return the modules of this project that a module imports."""
    targets = set()
    for module, member in imports_of(MODULES[name]):
        for candidate in (f"{module}.{member}", module):
            if candidate in MODULES:
                targets.add(candidate)
                break
    # A package's `__init__` only names what it exports, and `__main__` is imported by nobody.
    return targets - {name}


def room_of(name: str) -> str:
    """Return the entry of a package's root, a file or a folder, that a module belongs to."""
    return ".".join(name.split(".")[:2])


@pytest.mark.parametrize("unit_of", [str, room_of], ids=["files", "rooms"])
def test_imports_form_no_circle(unit_of):
    """Imports inside functions and for type checkers count, too: readers follow them."""
    graph: dict[str, set[str]] = {}
    for name in MODULES:
        # A package and its `warm_up` name what it offers, and nothing below imports them.
        if unit_of is str or ("." in name and not name.endswith((".__main__", ".warm_up"))):
            others = {unit_of(target) for target in targets_of(name)} - {unit_of(name)}
            graph.setdefault(unit_of(name), set()).update(others)
    try:
        list(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("package", ["hetero", *DOMAINS])
def test_no_private_name_of_another_module_is_imported(package):
    for path in sources(package):
        for module, member in imports_of(path):
            if module.partition(".")[0] not in ("hetero", *DOMAINS) or member is None:
                continue
            is_topic = f"{module}.{member}" in MODULES
            assert is_topic or not member.startswith("_") or member == "__version__", (path, member)
