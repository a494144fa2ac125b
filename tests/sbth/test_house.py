"""The rooms of the package: public files side by side, and imports that go down."""

import ast
import graphlib
from pathlib import Path

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
