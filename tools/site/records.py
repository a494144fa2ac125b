"""The tables of the benchmarks' page, from benchmarks/records/."""

from __future__ import annotations

import json
from pathlib import Path

PACKAGES = {
    "stablegpu": "Stable distributions",
    "rode": "Random ODEs",
    "lbm": "Flows",
    "sbth": "Eigenvalues",
    "tmd": "Correct rounding",
    "hetero": "The machines and first calls",
}


OWN_FIGURES = ("alpha", "beta", "loc", "scale", "before")
"""Names under `peers` that are parts of a figure, or the same figure of an earlier version."""


def make_tables(root: Path) -> str:
    """Return a section for each package, with one table for each record that has figures."""
    sections = []
    for package, title in PACKAGES.items():
        paths = sorted((root / "benchmarks/records" / package).glob("*.json"))
        paths = [path for path in paths if "figures" in load(path)]
        sections += [f"## {title}: `{package}`", make_comparison(paths)]
        sections += [make_table(path, root) for path in paths]
    return "\n\n".join(sections)


def make_comparison(paths: list[Path]) -> str:
    """Return a table of the figures that were compared with other software."""
    rows = []
    for path in paths:
        record = load(path)
        for figure in record["figures"]:
            if peers := format_peers(figure):
                value = f"{format_number(figure['value'])} {figure['unit']}"
                rows.append((figure["name"], value, peers, name_machine(record)))
    if not rows:
        return ""
    head = ["| compared with others | here | others, same unit | machine |", "|---|---:|---|---|"]
    return "\n".join((*head, *map(join_cells, rows)))


def load(path: Path) -> dict:
    """Return the record in a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def make_table(path: Path, root: Path) -> str:
    """Return the heading, the machine, the command and the figures of one record."""
    record = load(path)
    name = path.relative_to(root / "benchmarks/records").as_posix()
    lines = [
        f"### {path.stem}",
        f"{describe_machine(record)} Record: [`{name}`](../benchmarks/records/{name}).",
        f"`{record['command']}`",
    ]
    if note := record.get("note"):
        lines.append(str(note))
    rows = ["| figure | value | of the limit | peers |", "|---|---:|---|---|"]
    rows += [format_row(figure) for figure in record["figures"]]
    body = "\n\n".join(lines[1:]) + "\n\n" + "\n".join(rows)
    indented = "\n".join(f"    {line}" if line else "" for line in body.splitlines())
    return f'??? note "{path.stem}, {record["facts"]["date"][:10]}"\n\n{indented}'


def describe_machine(record: dict) -> str:
    """Return a sentence about the machine, the date and the versions."""
    facts = record["facts"]
    versions = ", ".join(
        f"{name} {facts['versions'][name]}"
        for name in ("python", "numba", "numba-cuda")
        if name in facts["versions"]
    )
    return f"{name_machine(record)}; {facts['date'][:10]}; {versions}; commit {facts['commit']}."


def name_machine(record: dict) -> str:
    """Return the GPU, or the processor and its threads."""
    facts = record["facts"]
    gpus = [gpu["name"] for gpu in facts["gpus"]] if record["device"].startswith("cuda") else []
    return " and ".join(gpus) or f"{facts['cpu']}, {facts['threads']} threads"


def format_peers(figure: dict) -> str:
    """Return the figures of other software, without those of this project itself."""
    return ", ".join(
        f"{name}: {format_number(value)}"
        for name, value in (figure.get("peers") or {}).items()
        if name not in OWN_FIGURES
    )


def join_cells(cells: tuple[str, ...]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def format_row(figure: dict) -> str:
    """Return a row of the table."""
    share = ""
    if figure.get("fraction") is not None:
        share = f"{100 * figure['fraction']:.0f} % of {figure['limit_name']}"
    peers = ", ".join(
        f"{name}: {format_number(value)}" for name, value in (figure.get("peers") or {}).items()
    )
    cells = (figure["name"], f"{format_number(figure['value'])} {figure['unit']}", share, peers)
    return join_cells(cells)


def format_number(value: float | str | None) -> str:
    """Return a number with three or four digits."""
    if not isinstance(value, (int, float)):
        return "–" if value is None else str(value)
    if abs(value) >= 1e5:
        mantissa, _, exponent = f"{value:.2e}".partition("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.4g}"
