"""Settings of a study, its tables and pictures, and its record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from benchmarks.measurements import write_record
from hetero.devices import Device
from hetero.measurement.benchmarking import benchmark


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
    """

    out: Path
    device: Device
    quick: bool = False
    processes: int = 1
    size: int | None = None
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

    def table(self, title: str, heads: Iterable[str], rows: Iterable[Iterable]) -> None:
        """Print a table and store it for the record."""
        from rich.console import Console
        from rich.table import Table

        heads, rows = list(heads), [list(row) for row in rows]
        self.tables.append({"title": title, "columns": heads, "rows": rows})
        table = Table(*map(str, heads), title=title, title_justify="left")
        for row in rows:
            table.add_row(*(_text(cell) for cell in row))
        Console(width=150).print(table)

    def figure(self, size: tuple[float, float] = (9.0, 4.5)) -> Any:
        """Return an empty figure in the project's style."""
        from hetero.display.figures import new_figure

        return new_figure(size)

    def save(self, figure: Any, name: str) -> Path:
        """Write a picture to the file `name`, whose suffix chooses the format; return its path."""
        self.out.mkdir(parents=True, exist_ok=True)
        figure.savefig(self.out / name, dpi=110)
        return self.out / name

    def write(self, name: str, result: dict, command: Sequence[str]) -> Path:
        """Write the record of a study, whose tables are those printed since the last one."""
        tables, self.tables = self.tables, []
        return write_record(
            self.path(name), name, self.device, command, result=result, tables=tables
        )

    def path(self, name: str) -> Path:
        """Return the path of a study's record."""
        return self.out / f"{name}-{self.device.kind}.json"


def _text(cell: object) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
