"""Take the tour of heterokit: run, measure and check every example on every device.

    python examples/tour.py [--device cpu|cuda|auto] [--out DIR] [--quick]

The tour writes one page, DIR/index.html, with pictures and numbers, and prints the numbers as one
table. The exit code is 1 if a check against a known truth fails. `auto` is the CPU and every usable
GPU, `cuda` every GPU.
"""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from numba.core import event as numba_events
from rich.console import Console
from rich.table import Table

import hetero
from _page import write_page
from _shared import Figure, Row, parse_arguments
from hetero.devices import parse as parse_device

EXAMPLES = (
    "stable_distributions.returns",
    "stable_distributions.windows",
    "lattice_boltzmann.known_flows",
    "random_odes.earthquakes",
    "eigenvalues.spins",
    "correct_rounding.hard_cases",
)
"""Modules in the folders beside this file. Each has

- `tour(out, device, quick) -> list[Row]`: its jobs on one device;
- `figures(out, device, quick) -> list[Figure]`: PNG files in `out`, drawn once.
"""


class CompilationNotice(numba_events.Listener):
    """Say once for each job that Numba compiles it; otherwise it would seem to hang."""

    def __init__(self) -> None:
        self.job = ""

    def on_start(self, event: numba_events.Event) -> None:
        """Announce the job whose first function is compiled."""
        if self.job:
            _say(f"  compiling {self.job}: the first run takes a minute, later ones load the code")
            self.job = ""

    def on_end(self, event: numba_events.Event) -> None:
        """Say nothing when a function has been compiled."""


def parse_devices(spec: str) -> list[hetero.Device]:
    """Return the devices that `--device` stands for."""
    device = parse_device(spec)
    if device is None:
        return list(hetero.available())
    if spec.strip().lower() == "cuda":
        return [gpu for gpu in hetero.available() if gpu.kind == "cuda"]
    return [device]


def run_jobs(devices: list[hetero.Device], out: Path, quick: bool) -> list[Row]:
    """Run every example on every device; an example that raises becomes a row that failed."""
    rows: list[Row] = []
    notice = CompilationNotice()
    numba_events.register("numba:compile", notice)
    steps = [(name, device) for name in EXAMPLES for device in devices]
    for name, device in hetero.progress(steps, "tour"):
        _say(f"{name} on {device}")
        notice.job = f"{name} for {device}"
        try:
            rows += importlib.import_module(name).tour(out, device, quick)
        except Exception as error:
            traceback.print_exc()
            rows.append(_crashed(name, str(device), error))
    numba_events.unregister("numba:compile", notice)
    return rows


def draw_figures(
    device: hetero.Device, out: Path, quick: bool
) -> tuple[dict[str, list[Figure]], list[Row]]:
    """Draw all figures; return them by folder, and a failed row for each that was not drawn."""
    figures: dict[str, list[Figure]] = {}
    failures: list[Row] = []
    for name in hetero.progress(EXAMPLES, "figures"):
        _say(f"figures of {name}")
        try:
            drawn = importlib.import_module(name).figures(out, device, quick)
            figures.setdefault(name.partition(".")[0], []).extend(drawn)
        except Exception as error:
            traceback.print_exc()
            failures.append(_crashed(f"figures of {name}", str(device), error))
    return figures, failures


def measure_limits(devices: list[hetero.Device]) -> Iterator[hetero.Limits]:
    """Yield the limits of each device: measured once on a machine (seconds), then from a file."""
    for device in devices:
        _say(f"limits of {device}")
        yield hetero.limits(device)


def make_table(rows: list[Row]) -> Table:
    """Return the rows as a table for the terminal."""
    table = Table("job", "device", title="The tour", title_justify="left", show_lines=True)
    table.add_column("rate", justify="right")
    table.add_column("of the limit", justify="right")
    table.add_column("check", overflow="fold")
    for row in rows:
        colour = "green" if row.passed else "bold red"
        limit = f"{row.share_text}\n[dim]{row.limit}[/dim]" if row.limit else row.share_text
        verdict = f"[{colour}]{row.verdict}[/{colour}]  {row.check}"
        if row.tolerance:
            verdict += f"\n[dim]allowed: {row.tolerance}[/dim]"
        table.add_row(row.job, row.device, row.rate_text, limit, verdict)
    return table


def programs() -> Path:
    """Return the folder of this environment's programs, relative to the current one if inside."""
    folder = Path(sys.executable).parent
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def _crashed(job: str, device: str, error: Exception) -> Row:
    return Row(job, device, None, "", None, "", f"{type(error).__name__}: {error}", False)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    """Take the tour and return the exit code."""
    options = parse_arguments(__doc__.splitlines()[0], "out/tour")
    start = time.perf_counter()
    devices = parse_devices(options.device)
    limits = list(measure_limits(devices))
    rows = run_jobs(devices, options.out, options.quick)
    figures, failures = draw_figures(devices[-1], options.out, options.quick)
    rows += failures
    seconds = time.perf_counter() - start
    page = write_page(
        options.out / "index.html", rows, figures, hetero.facts(), limits, seconds, programs()
    )
    console = Console(width=None if sys.stdout.isatty() else 120)  # a log file has no width
    console.print(make_table(rows))
    console.print(f"{seconds:.0f} s. Page: {page}", highlight=False, soft_wrap=True)
    return 0 if rows and all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
