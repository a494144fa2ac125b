"""Measured figures of the benchmarks, how they are printed, and the format of all records."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import hetero
from hetero.arrays import Array
from hetero.command_line import save_output


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

    def as_dict(self) -> dict:
        """Return the fields and the fraction, for JSON."""
        return asdict(self) | {"fraction": self.fraction}


def empty(device: hetero.Device, size: int, dtype: str = "float64") -> Array:
    """Return uninitialized memory of the device."""
    if device.kind == "cpu":
        return np.empty(size, dtype)
    from hetero.cuda.driver import cuda

    return cuda.device_array(size, dtype)


def milliseconds(
    name: str, call: Callable[[], object], device: hetero.Device, note: str
) -> Measurement:
    """Measure the median of a short call."""
    timing = hetero.benchmark(call, device=device)
    return Measurement(name, timing.median * 1e3, "ms", note=note, timing=timing.as_dict())


def report(suite: str, device: hetero.Device, figures: list[Measurement]) -> None:
    """Print the figures as a table."""
    table = Table("figure", "value", "of the limit", "peers", title=f"{suite} on {device}")
    for f in figures:
        share = "" if f.fraction is None else f"{f.fraction:.1%} of {f.limit_name}"
        peers = ", ".join(f"{name} {value:.4g}" for name, value in f.peers.items())
        table.add_row(f.name, f"{f.value:.4g} {f.unit}", share, peers)
    Console(width=150).print(table)


def write_record(
    path: Path, name: str, device: hetero.Device, command: Sequence[str], **contents: Any
) -> Path:
    """Write a record and return its path: one format for benchmarks and studies.

    Parameters
    ----------
    name : of the suite or the study
    command : words behind `python -m`
    contents : `figures` of a suite, or `seconds`, `tables` and the `result` of a study
    """
    record = {
        "name": name,
        "device": str(device),
        "command": shlex.join(["python", "-m", *command]),
        "facts": hetero.facts(),
        "limits": hetero.limits(device).as_dict(),
        **contents,
    }
    text = json.dumps(record, indent=1) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    return save_output(path, lambda path: path.write_text(text, encoding="utf-8"))
