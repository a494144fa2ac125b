"""The tables and bar charts of the benchmarks' page, from benchmarks/records/."""

from __future__ import annotations

import json
import math
from html import escape
from pathlib import Path

PACKAGES = {
    "stablegpu": "Stable distributions",
    "rode": "Random ODEs",
    "lbm": "Flows",
    "sbth": "Eigenvalues",
    "tmd": "Correct rounding",
    "hetero": "The machines and first calls",
}


OWN_FIGURES = (
    *("alpha", "beta", "loc", "scale", "before"),
    *("times Lefevre's", "plain kernel, H200"),
)
"""Names under `peers` that are parts of a figure, or the same figure of another version."""

HEADLINES = (
    ("stablegpu/stable-cpu", "2,000,000 quantiles, alpha 1.5", "SciPy"),
    (
        "stablegpu/stable-cpu",
        "pdf and cdf of 200,000 unsorted points by quadrature, alpha 1.5",
        "SciPy",
    ),
    ("stablegpu/stable-cpu", "4,000,000 float64 samples, alpha 1.5", "SciPy"),
    ("stablegpu/special-cuda", "log_ndtr of 268,435,456 unsorted N(0, 5^2), float64", "CuPy"),
    ("rode/rode-cpu", "normal numbers, box-muller, float32", "NumPy SFC64 (one thread)"),
    ("rode/rode-cuda", "normal numbers, box-muller-fast, float32", "cuRAND XORWOW"),
    ("lbm/lbm-peers-cpu", "periodic 128^3, float32, esoteric, 2 threads", "lbmpy 2.0, X86_AVX512"),
    ("lbm/lbm-cuda", "cavity 512^3, float32, esoteric", "FluidX3D, H200 (published)"),
    ("sbth/sbth-cpu", "all eigenvalues of a band matrix, n = 4000, bandwidth 64", "SciPy"),
    ("sbth/sbth-cpu", "all eigenvalues of a full matrix, n = 2000", "NumPy (LAPACK)"),
    (
        "sbth/sbth-full-cuda",
        "all eigenvalues of a full matrix, n = 10000, float64",
        "CuPy (cuSOLVER)",
    ),
)
"""Record, beginning of a figure's name, and peer of each bar of the overview: the same machine,
without papers, for every package that has a peer. They include what others do better."""

DECADES = 5
"""Factors of ten that a full bar stands for."""


def make_tables(root: Path) -> str:
    """Return a section for each package, with one table for each record that has figures."""
    sections = []
    for package, title in PACKAGES.items():
        paths = sorted((root / "benchmarks/records" / package).glob("*.json"))
        paths = [path for path in paths if "figures" in load(path)]
        sections += [f"## {title}: `{package}`", make_comparison(paths)]
        sections += [make_table(path, root) for path in paths]
    return "\n\n".join(sections)


def make_overview(root: Path) -> str:
    """Return a bar chart of the headlines: how many times faster than other software."""
    items = []
    for name, beginning, peer in HEADLINES:
        record = load(root / f"benchmarks/records/{name}.json")
        figure = next(f for f in record["figures"] if f["name"].startswith(beginning))
        times = times_faster(figure, figure["peers"][peer])
        assert times is not None
        package = name.partition("/")[0]
        items.append(
            f"<li><span><code>{package}</code> {escape(figure['name'])}; "
            f"{escape(name_machine(record))}</span><span class='scale'>{make_bar(times)}</span>"
            f"<span><b>{format_times(times)} times</b> as fast as {escape(peer)}</span></li>"
        )
    return f'<ul class="bars">{"".join(items)}</ul>'


def make_bar(times: float) -> str:
    """Return a bar whose length is the logarithm of a ratio; ratios below 1 have another colour."""
    width = min(100.0, 100.0 * abs(math.log10(times)) / DECADES)
    kind = "bar" if times >= 1.0 else "bar slower"
    return f'<span class="{kind}" style="width: {width:.1f}%"></span>'


def times_faster(figure: dict, peer: float | str | None) -> float | None:
    """Return how many times faster a figure is than a peer's; None if it is no time and no rate."""
    if not isinstance(peer, (int, float)):
        return None
    unit = figure["unit"]
    if unit in ("s", "ms", "us"):
        return peer / figure["value"]
    return figure["value"] / peer if "/s" in unit or unit.endswith("LUPS") else None


def format_times(times: float) -> str:
    """Return a ratio with three digits at most, and with the thousands marked."""
    if times >= 1000:
        return f"{float(f'{times:.3g}'):,.0f}"  # more digits than were measured would mislead
    return f"{times:.0f}" if times >= 10 else f"{times:.1f}" if times >= 1 else f"{times:.2f}"


def make_comparison(paths: list[Path]) -> str:
    """Return a table of the figures that were compared with other software.

    It is HTML, because on a telephone each row becomes a list whose labels are in `data-label`.
    """
    names = ("figure", "here", "others", "times faster")
    rows = []
    for path in paths:
        record = load(path)
        compared = [(f, peers) for f in record["figures"] if (peers := other_software(f))]
        if compared:
            rows.append(f'<th colspan="{len(names)}">{escape(name_machine(record))}</th>')
        above = ""
        for figure, peers in compared:
            cells = list(format_comparison(figure, peers))
            cells[2], above = "as above" if cells[2] == above else cells[2], cells[2]
            rows.append("".join(map(label_cell, names, cells)))
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table class="comparison"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def label_cell(name: str, cell: str) -> str:
    """Return a cell that names its column on a narrow screen, where an empty one is hidden."""
    mark = "" if cell else " hidden-on-cards"
    return f'<td data-label="{name}"{mark}><span>{cell}</span></td>'


def format_ratio(times: float | None, peer: str) -> str:
    """Return a ratio with its bar, and the name of the peer if there are several."""
    if times is None:
        return "–"
    name = f" <small>{escape(peer)}</small>" if peer else ""
    return f"<b>{format_times(times)}</b>{name}{make_bar(times)}"


def format_comparison(figure: dict, peers: dict) -> tuple[str, str, str, str]:
    """Return the name of a figure, its value, others' values and the ratios, as HTML."""
    unit = escape(figure["unit"])
    others = [f"{escape(name)}: {format_number(value)} {unit}" for name, value in peers.items()]
    lines = [
        format_ratio(times_faster(figure, value), name if len(peers) > 1 else "")
        for name, value in peers.items()
    ]
    return (
        escape(figure["name"]),
        f"{format_number(figure['value'])} {unit}",
        "<br>".join(others),
        "".join(f'<span class="ratio">{line}</span>' for line in lines),
    )


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


def other_software(figure: dict) -> dict:
    """Return the figures of other software by its name."""
    peers = figure.get("peers") or {}
    return {name: value for name, value in peers.items() if name not in OWN_FIGURES}


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
