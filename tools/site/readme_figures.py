"""Write the table of figures in README.md from benchmarks/records/.

    python tools/site/readme_figures.py

readme_figures.txt is the table with placeholders {record; figure; options}: the name of a record,
that of a figure or how it begins, and any of `* FACTOR`, `peer NAME` (a figure of other software
instead) and `digits N` (2 by default). A figure of a study is named by the texts that begin a row
of a table, and by a column: "512x512x512 float32 ab ranks 1x1x2: GLUPS". Run this after a record
has changed; a test compares.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = Path(__file__).with_suffix(".txt")
TABLE = re.compile(r"(?<=<!-- figures -->\n\n).*?(?=\n\n<!-- end of figures -->)", re.S)


@functools.cache
def load_figures(record: str) -> list[dict]:
    """Return the figures of the record with this name, such as `lbm/lbm-cuda`."""
    path = ROOT / "benchmarks" / "records" / f"{record}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    return content["figures"] if "figures" in content else figures_of_tables(content["tables"])


def figures_of_tables(tables: list[dict]) -> list[dict]:
    """Return the numbers of the tables of a study, by the names of their rows and columns."""
    figures = []
    for table in tables:
        for row in table["rows"]:
            labels = itertools.takewhile(lambda cell: isinstance(cell, str | list), row)
            texts = ["x".join(map(str, t)) if isinstance(t, list) else t for t in labels]
            for column, value in list(zip(table["columns"], row, strict=True))[len(texts) :]:
                figures.append({"name": f"{' '.join(texts)}: {column}", "value": value})
    return figures


def find(named: dict, name: str) -> Any:
    """Return the entry with this name, or the only one whose name begins so."""
    if name in named:
        return named[name]
    matches = [entry for key, entry in named.items() if key.startswith(name)]
    if len(matches) != 1:
        raise ValueError(f"{len(matches)} names begin with {name!r}: {', '.join(named)}")
    return matches[0]


def format_value(value: float, digits: int) -> str:
    """Return a number with this many digits, all of its integer part, and no exponent."""
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def replace_placeholder(match: re.Match) -> str:
    """Return the number that a placeholder stands for."""
    record, name, *options = (part.strip() for part in match[1].split(";"))
    figure = find({figure["name"]: figure for figure in load_figures(record)}, name)
    value, digits = figure["value"], 2
    for option in options:
        keyword, _, text = option.partition(" ")
        if keyword == "peer":
            value = find(figure["peers"], text)
    for option in options:
        keyword, _, text = option.partition(" ")
        if keyword == "*":
            value *= float(text)
        elif keyword == "digits":
            digits = int(text)
    return format_value(value, digits)


def make_table() -> str:
    """Return the table with all numbers."""
    text = TEMPLATE.read_text(encoding="utf-8").rstrip("\n")
    return re.sub(r"\{([^{}]*)\}", replace_placeholder, text)


def main() -> None:
    """Replace the table in README.md."""
    readme = ROOT / "README.md"
    text, count = TABLE.subn(lambda match: make_table(), readme.read_text(encoding="utf-8"))
    assert count == 1, "README.md has no place for the table"
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
