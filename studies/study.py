"""Settings of a study, its tables and pictures, and its record."""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from benchmarks.measurements import write_record
from hetero.command_line import save_output
from hetero.devices import Device
from hetero.measurement.benchmarking import benchmark

SECONDS_BETWEEN_REPORTS = 5.0
"""Time after which a row of a table that is being measured is reported."""


@dataclass
class Study:
    """Settings of a study, and the tables that it has printed.

    Attributes
    ----------
    out : folder for records and pictures
    device : hetero.Device
    quick : whether sizes are tiny, for the tests
    processes : number of processes that compute true values
    size : size of the problem, for studies that let the caller choose it
    rows : pattern of the names of what is measured, for studies that let the caller choose it
    """

    out: Path
    device: Device
    quick: bool = False
    processes: int = 1
    size: int | None = None
    rows: str = ""
    tables: list = field(default_factory=list)

    @property
    def cache(self) -> Path:
        """Folder in which true values are kept for the next run."""
        return self.out / "cache"

    def empty(self, size: int, dtype: DTypeLike) -> Any:
        """Return memory for numbers on the device."""
        if self.device.kind == "cpu":
            return np.empty(size, dtype)
        from hetero.cuda.driver import cuda

        return cuda.device_array(size, dtype)

    def rate(self, function: Callable[[], object], items: int) -> float:
        """Return the items per second of a call, its first run not counted.

        Samples last so long that the preparation of a call on a GPU is hidden behind earlier calls.
        """
        sample = 2e-3 if self.quick else 2e-2
        return benchmark(function, repeats=5, min_time=sample, device=self.device).rate(items)

    def table(self, title: str, heads: Iterable[str], rows: Iterable[Iterable]) -> list[list]:
        """Print a table, store it for the record, and return its rows.

        Rows are stored as they come. Where they come from a generator that measures them, stderr
        says how far it is, and a study that is interrupted leaves the rows that it has measured.
        """
        from rich.console import Console
        from rich.table import Table

        heads = list(heads)
        stored: list[list] = []
        self.tables.append({"title": title, "columns": heads, "rows": stored})
        start = reported = time.perf_counter()
        for row in rows:
            stored.append(list(row))
            if (now := time.perf_counter()) - reported > SECONDS_BETWEEN_REPORTS:
                reported = now
                cells = ", ".join(_text(cell) for cell in stored[-1])
                print(f"{title}, row {len(stored)}, {now - start:.0f} s: {cells}", file=sys.stderr)
        table = Table(*map(str, heads), title=title, title_justify="left")
        for row in stored:
            table.add_row(*(_text(cell) for cell in row))
        Console(width=150).print(table)
        return stored

    def figure(self, size: tuple[float, float] = (9.0, 4.5)) -> Any:
        """Return an empty figure in the project's style."""
        from hetero.display.figures import new_figure

        return new_figure(size)

    def save(self, figure: Any, name: str) -> Path:
        """Write a picture to the file `name`, whose suffix chooses the format; return its path."""
        self.out.mkdir(parents=True, exist_ok=True)
        figure.savefig(self.out / name, dpi=110)
        return self.out / name

    def write(
        self, name: str, result: dict, command: Sequence[str], seconds: float | None = None
    ) -> Path:
        """Write the record of a study, whose tables are those printed since the last one.

        `seconds` is the time that the study took, with the compilation of what is not compiled yet.
        Each table is also written to a CSV file beside. Paths of pictures in the result are counted
        from the record's folder.
        """
        tables, self.tables = self.tables, []
        folder = f"{self.out}{os.sep}"
        result = {
            key: value.removeprefix(folder) if isinstance(value, str) else value
            for key, value in result.items()
        }
        self.incomplete_path(name).unlink(missing_ok=True)
        for number, table in enumerate(tables, 1):
            path = self.path(name).with_suffix(f".{number}.csv")
            save_output(path, partial(_write_csv, table))
        return write_record(
            *(self.path(name), name, self.device, command),
            seconds=seconds,
            result=result,
            tables=tables,
        )

    def write_incomplete(self, name: str, why: str, command: Sequence[str]) -> Path | None:
        """Write the tables of a study that did not come to its end; return the path.

        The file is not that of a record: one of an earlier run stays. None where nothing has been
        measured.
        """
        tables, self.tables = self.tables, []
        tables = [table for table in tables if table["rows"]]
        if not tables:
            return None
        path = self.incomplete_path(name)
        return write_record(path, name, self.device, command, incomplete=why, tables=tables)

    def path(self, name: str) -> Path:
        """Return the path of a study's record."""
        return self.out / f"{name}-{self.device.kind}.json"

    def incomplete_path(self, name: str) -> Path:
        """Return the path for what a study that did not come to its end has measured."""
        return self.out / f"{name}-{self.device.kind}-incomplete.json"


def _write_csv(table: dict, path: Path) -> None:
    """Write a table to a CSV file: the heads of the columns, then the rows."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([table["columns"], *table["rows"]])


def _text(cell: object) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
