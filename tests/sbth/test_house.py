"""The rooms of the package: public files side by side, imports that go down, and short ways."""

import ast
import graphlib
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

import sbth

ROOT = Path(sbth.__file__).parent
PUBLIC = {p.stem for p in ROOT.glob("*.py") if p.stem[0] != "_"} - {"reference", "warm_up"}
MOST_FLOORS = 8


def rooms() -> dict[str, set[str]]:
    """Return the rooms, the direct children of the package, and the rooms that each imports."""
    graph: dict[str, set[str]] = {}
    for path in ROOT.rglob("*.py"):
        room = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if room in ("__init__", "__main__", "warm_up"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sbth"):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                graph.setdefault(room, set()).update(name.split(".")[1] for name in names)
        graph.setdefault(room, set()).discard(room)
    return graph


def test_imports_go_down_through_few_floors():
    graph, floors = rooms(), {}
    for room in graphlib.TopologicalSorter(graph).static_order():  # an error if there is a circle
        floors[room] = 1 + max((floors[below] for below in graph[room]), default=0)
    assert max(floors.values()) <= MOST_FLOORS, floors


def test_public_files_stand_side_by_side():
    """Results are what all of them return; commands stand above them, machinery below."""
    for room, imported in rooms().items():
        if room != "_commands":
            assert not imported & (PUBLIC - {"results"}), room


def test_rooms_and_files_are_of_moderate_size():
    for folder in (ROOT, *(p for p in ROOT.rglob("*") if p.is_dir() and p.stem[:2] != "__")):
        entries = [p for p in folder.iterdir() if p.name != "__pycache__"]
        assert len(entries) <= (25 if folder == ROOT else 18), folder
    for path in ROOT.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 350, path


FUNCTIONS = [name for name in sbth.__all__ if inspect.isfunction(getattr(sbth, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_are_short(name):
    function = inspect.unwrap(getattr(sbth, name))
    (node,) = ast.parse(inspect.getsource(function)).body
    last = node.body[0].end_lineno  # of the docstring
    assert node.end_lineno - last <= 20


def files_of(call) -> set[str]:
    """Return the files of the project that a call enters."""
    files = set()

    def note(frame, event, _):
        name = Path(frame.f_code.co_filename)
        if event == "call" and (ROOT in name.parents or ROOT.parent / "hetero" in name.parents):
            files.add(name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return files


@pytest.mark.parametrize(
    ("solve", "options", "most"),
    [(sbth.eigvals_banded, {"method": "sbth"}, 15), (sbth.tridiagonalize, {}, 11)],
)
def test_warm_calls_take_a_short_way(solve, options, most):
    ab = np.random.default_rng(0).standard_normal((7, 400))

    def call():
        solve(ab, lower=True, device="cpu", **options)

    call()
    assert len(files_of(call)) <= most
