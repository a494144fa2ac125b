"""Measured figures of the benchmarks, how they are printed, and how a record is written."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

import hetero


@dataclass
class Measurement:
    """One measured figure, and the figures that it is compared with.

    Attributes
    ----------
    name : the measured work, with its sizes
    value, unit : the figure, in the unit that is usual in its field
    limit, limit_name : the ceiling of this machine that it is compared with, in the same unit
    peers : figures of other software in the same unit, measured in the same run
    note : what is included and what is not (transfers, compilation), and how work is counted
    timing : statistics of the timed calls
    """

    name: str
    value: float
    unit: str
    limit: float | None = None
    limit_name: str = ""
    peers: dict[str, float] = field(default_factory=dict)
    note: str = ""
    timing: dict | None = None

    @property
    def fraction(self) -> float | None:
        """Figure over its limit, if it has one."""
        return None if self.limit is None else self.value / self.limit


def report(suite: str, device: hetero.Device, figures: list[Measurement]) -> None:
    """Print the figures as a table."""
    table = Table("figure", "value", "of the limit", "peers", title=f"{suite} on {device}")
    for f in figures:
        share = "" if f.fraction is None else f"{f.fraction:.1%} of {f.limit_name}"
        peers = ", ".join(f"{name} {value:.4g}" for name, value in f.peers.items())
        table.add_row(f.name, f"{f.value:.4g} {f.unit}", share, peers)
    Console(width=150).print(table)


def write(path: Path, suite: str, device: hetero.Device, figures: list[Measurement]) -> None:
    """Write the figures to a JSON file, with the facts and limits of the machine."""
    record = {
        "suite": suite,
        "device": str(device),
        "command": shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]]),
        "facts": hetero.facts(),
        "limits": hetero.limits(device).as_dict(),
        "figures": [asdict(f) | {"fraction": f.fraction} for f in figures],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
