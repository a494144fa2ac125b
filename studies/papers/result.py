"""A numbered table or figure of a document: what makes it here, and both values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "benchmarks" / "records"


@dataclass(frozen=True)
class Cell:
    """A cell of a table of a study's record.

    Attributes
    ----------
    record : the record's file, from the folder of all records
    table : how the title of the table begins
    row : cells that identify the row, as text, in the order of the columns; others may lie between
    column : the head of the column
    """

    record: str
    table: str
    row: tuple[str, ...]
    column: str

    def read(self) -> float:
        """Return the number in the cell."""
        for table in read_record(self.record).get("tables", []):
            if table["title"].startswith(self.table):
                column = [str(head) for head in table["columns"]].index(self.column)
                for row in table["rows"]:
                    cells = iter(str(cell) for cell in row)
                    if all(wanted in cells for wanted in self.row):
                        return float(row[column])
                raise LookupError(f"{self.record}: {table['title']!r} has no row {self.row}")
        raise LookupError(f"{self.record} has no table {self.table!r}")


@dataclass(frozen=True)
class Figure:
    """A figure of a benchmark's record, by its whole name, or that of a peer beside it."""

    record: str
    name: str
    peer: str = ""

    def read(self) -> float:
        """Return the value."""
        for figure in read_record(self.record)["figures"]:
            if figure["name"] == self.name:
                return float(figure["peers"][self.peer] if self.peer else figure["value"])
        raise LookupError(f"{self.record} has no figure {self.name!r}")


Source: TypeAlias = Cell | Figure
"""Place of a number of ours in the records."""


@dataclass(frozen=True)
class Value:
    """A published number and ours.

    Attributes
    ----------
    what : the quantity
    published : the printed number; None where the document has a curve and no number
    unit : of both numbers
    hardware : what the published number was measured on; empty if it is not a time or a rate
    ours : where our number stands; None if nothing here corresponds to it
    factor : what our number is multiplied by to have the unit
    over : where the number stands that ours is divided by; None: ours is no quotient
    differs : what our number is of, if it is other work than the published one; empty: the same
    """

    what: str
    published: float | None
    unit: str
    hardware: str = ""
    ours: Source | None = None
    factor: float = 1.0
    differs: str = ""
    over: Source | None = None

    @property
    def number(self) -> float:
        """Our number, in the unit."""
        assert self.ours is not None
        divisor = 1.0 if self.over is None else self.over.read()
        return self.ours.read() / divisor * self.factor


@dataclass(frozen=True)
class NumberedResult:
    """A table or a figure of a document.

    Attributes
    ----------
    document : key of the document, "thesis" for example
    number : "table 6.3", "figure 12.7"
    place : the printed page, and that of the numbers if the text has them: "p. 56; numbers p. 57";
        of an article its section, because author's manuscript and journal differ in their pages
    subject : what it shows, in our words
    study : the study, or "benchmark NAME" for a suite, that makes it; empty if nothing does
    records : the records that hold it, from the folder of all records
    values : published numbers and ours
    remark : why ours differs, what is left out, or why nothing makes it
    """

    document: str
    number: str
    place: str
    subject: str
    study: str = ""
    records: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()
    remark: str = ""

    @property
    def key(self) -> str:
        """The name for the command line: "thesis table 6.3"."""
        return f"{self.document} {self.number}"

    @property
    def command(self) -> str:
        """The command that makes it, behind `python -m`."""
        if self.study.startswith("benchmark "):
            return f"benchmarks run {self.study.removeprefix('benchmark ')}"
        return f"studies run {self.study}" if self.study else ""


def if_recorded(source: Source) -> Source | None:
    """Return where a number stands, or None until a run of its study has recorded it."""
    try:
        source.read()
    except (LookupError, ValueError):
        return None
    return source


@cache
def read_record(name: str) -> Any:
    """Return a record of the project."""
    return json.loads((RECORDS / name).read_text(encoding="utf-8"))
