"""Studies: experiments of the literature, repeated on this machine by `python -m <package> study`.

Tables are printed; numbers and pictures are written to a folder.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hetero.command_line import check_outputs, print_json, save_output
from hetero.devices import Device, resolve
from hetero.measurement.benchmarking import benchmark
from hetero.measurement.environment import facts


@dataclass
class Study:
    """Settings of a study, and the tables that it has printed.

    Attributes
    ----------
    out : folder for JSON files and pictures
    device : hetero.Device
    quick : whether sizes are tiny, for the tests
    sample : least number of seconds of each of the five samples of `rate`
    silent : whether tables are stored, but not printed
    """

    out: Path
    device: Device
    quick: bool = False
    sample: float = 2e-3
    silent: bool = False
    tables: list = field(default_factory=list)

    def empty(self, size: int, dtype: DTypeLike) -> Any:
        """Return memory for numbers on the device."""
        if self.device.kind == "cpu":
            return np.empty(size, dtype)
        from hetero.cuda.driver import cuda

        return cuda.device_array(size, dtype)

    def rate(self, function: Callable[[], object], items: int) -> float:
        """Return the items per second of a call, its first run not counted."""
        timing = benchmark(function, repeats=5, min_time=self.sample, device=self.device)
        return timing.rate(items)

    def table(self, title: str, heads: Iterable[str], rows: Iterable[Iterable]) -> None:
        """Print a table and store it for the JSON file."""
        heads, rows = list(heads), [list(row) for row in rows]
        self.tables.append({"title": title, "columns": heads, "rows": rows})
        if self.silent:
            return
        from rich.console import Console
        from rich.table import Table

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

    def write(self, name: str, results: dict) -> Path:
        """Write the results of a study, its tables and the machine's facts."""
        self.out.mkdir(parents=True, exist_ok=True)
        path = self.out / f"{name}.json"
        record = {"study": name, "device": str(self.device), "facts": facts()}
        record |= {"result": results, "tables": self.tables}
        text = json.dumps(record, indent=1) + "\n"
        self.tables = []
        return save_output(path, lambda path: path.write_text(text))


def _text(cell: object) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def add_arguments(parser: argparse.ArgumentParser, modules: dict[str, str]) -> None:
    """Add WHAT, and the options of `add_options`, to a command that runs studies."""

    def check_name(name: str) -> str:
        if name not in modules:
            raise argparse.ArgumentTypeError(f"must be one of {', '.join(modules)}, got {name!r}")
        return name

    help = f"studies to run, of {', '.join(modules)} (default: all)"
    parser.add_argument("what", nargs="*", default=[], metavar="WHAT", type=check_name, help=help)
    add_options(parser)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add --device, --out, --quick and --json to a command that runs studies."""
    parser.add_argument("--device", default="auto", help="auto (a GPU if usable), cpu, cuda:1")
    parser.add_argument("--out", type=Path, default=Path("out/study"), help="folder for results")
    parser.add_argument("--quick", action="store_true", help="use tiny sizes, for the tests")
    parser.add_argument(
        "--json", action="store_true", help="print the results as one JSON object, and nothing else"
    )


def run_chosen(
    options: argparse.Namespace,
    modules: dict[str, str],
    make: Callable[..., Study] = Study,
    **settings: Any,
) -> int:
    """Run the studies that a command line names, and print the paths of their files."""
    device = resolve(options.device, work=1, break_even=0)
    options.out.mkdir(parents=True, exist_ok=True)
    check_outputs(others=(options.out / "study.json",))
    study = make(options.out, device, options.quick, silent=options.json, **settings)
    paths = run(modules, options.what or list(modules), study)
    if options.json:
        print_json({"studies": [json.loads(path.read_text()) for path in paths]})
        return 0
    for path in paths:
        print(path)
    return 0


def run(modules: dict[str, str], names: Iterable[str], study: Study) -> list[Path]:
    """Run studies by name and return the paths of their JSON files.

    A study is the function `run` of its module.
    """
    paths = []
    for name in names:
        results = importlib.import_module(modules[name]).run(study)
        paths.append(study.write(name, results))
    return paths
