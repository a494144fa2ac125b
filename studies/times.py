"""Times of the studies that `all` has run, in a record beside theirs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measurements import write_record
from hetero.measurement import environment
from studies.study import Study

DONE = "done"
"""Outcome of a study that came to its end; that of another one is the name of its error."""


def package_of(name: str) -> str:
    """Return the package that a study belongs to."""
    return name.partition("-")[0]


def _read(path: Path) -> Any:
    """Return the contents of a record."""
    return json.loads(path.read_text(encoding="utf-8"))


class StudyTimes:
    """Seconds of each study, from this run and from earlier ones that wrote the same record.

    The record is written after each study, so that a run that is interrupted leaves it.

    Parameters
    ----------
    study : settings that all studies share
    command : words behind `python -m`

    Attributes
    ----------
    entries : dict
        By the name of a study its `seconds`, its `outcome` and the `commit` of the sources.
    """

    def __init__(self, study: Study, command: Sequence[str]) -> None:
        self._study, self._command = study, command
        self.path = study.path("all")
        self.entries: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            self.entries = _read(self.path)["studies"]

    def add(self, name: str, seconds: float, outcome: str = DONE) -> None:
        """Add a study that has run, and write the record."""
        commit = environment.commit()
        self.entries[name] = {"seconds": seconds, "outcome": outcome, "commit": commit}
        self._write()

    def add_from_record(self, name: str) -> None:
        """Add a study that has a record, with the seconds and the commit there."""
        record = _read(self._study.path(name))
        commit = record["facts"]["commit"]
        entry = {"seconds": record.get("seconds"), "outcome": DONE, "commit": commit}
        if self.entries.get(name) != entry:
            self.entries[name] = entry
            self._write()

    def seconds_of(self, name: str) -> float:
        """Return how long a study took when it ran last, here or for its record; 0 if unknown."""
        seconds = self.entries.get(name, {}).get("seconds")
        if seconds is None and self._study.path(name).exists():
            seconds = _read(self._study.path(name)).get("seconds")
        return seconds or 0.0

    def packages(self) -> dict[str, float]:
        """Return the seconds of all studies of each package, as far as they are known."""
        totals: dict[str, float] = {}
        for name, entry in self.entries.items():
            package = package_of(name)
            totals[package] = totals.get(package, 0.0) + (entry["seconds"] or 0.0)
        return totals

    def table(self, names: Iterable[str]) -> str:
        """Return lines with the seconds of some studies, and of all studies of their packages."""
        shown = [name for name in names if name in self.entries]
        lines = [f"{'study':<24}{'s':>9}"]
        for name in shown:
            entry = self.entries[name]
            seconds = "unknown" if entry["seconds"] is None else f"{entry['seconds']:.1f}"
            remark = "" if entry["outcome"] == DONE else f"  {entry['outcome']}"
            lines.append(f"{name:<24}{seconds:>9}{remark}")
        totals = self.packages()
        lines.append(f"{'package':<24}{'s':>9}")
        for package in dict.fromkeys(map(package_of, shown)):
            lines.append(f"{package:<24}{totals[package]:>9.1f}")
        return "\n".join(lines)

    def _write(self) -> None:
        ordered = dict(sorted(self.entries.items()))
        write_record(
            *(self.path, "all", self._study.device, self._command),
            studies=ordered,
            packages=dict(sorted(self.packages().items())),
        )
