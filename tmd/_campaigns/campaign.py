"""A run of a campaign: what is asked, its folder, and the time that it has."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from hetero.data_files.atomic_files import lock_name, write_json, write_lines
from tmd.functions import NAMES, PROBES, load_function
from tmd.functions.function import hash_values


class Progress(NamedTuple):
    """Numbers of all pieces and of those done, why some are refused, and an estimate of the rest.

    `seconds_left` is for the rate of this run; None if nothing was finished.
    """

    total: int
    done: int
    refused: dict[str, str]
    seconds_left: float | None


class Campaign:
    """A run of a campaign. A piece of it has a list `NAME.wc` and a certificate `NAME.json`.

    Parameters
    ----------
    options : argparse.Namespace
        Those of `tmd campaign`.

    Raises
    ------
    ValueError
        The folder belongs to another campaign, or to none.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.folder: Path = options.resume
        self.function: str = options.function
        self.precision, self.bits, self.device = options.precision, options.bits, options.device
        self.show_progress, self._is_silent = not options.quiet, options.json
        self._open(options.parts)
        self.begun = time.monotonic()
        self.end = self.begun + options.budget

    def _open(self, parts: int | None) -> None:
        """Begin the folder, or check that it belongs to the same question."""
        precision = list(self.precision) if isinstance(self.precision, tuple) else self.precision
        question = {"function": self.function, "bits": self.bits, "precision": precision}
        if parts is not None:
            question["parts"] = parts
        if self.function not in NAMES:  # whose source may have changed since
            question["values"] = hash_values(load_function(self.function), PROBES)
        folder, state = self.folder, self.folder / "campaign.json"
        if not state.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with lock_name(lock := folder / "campaign.lock", wait=True):  # others may begin it now
                if not state.exists():
                    if any(path != lock for path in folder.iterdir()):
                        raise ValueError(
                            f"--resume: {folder} is no folder of a campaign, and not empty"
                        )
                    write_json(folder / "refused.json", {})
                    write_json(state, question)
        if (stored := json.loads(state.read_text())) != question:
            raise ValueError(f"--resume: {folder} belongs to another campaign: {stored}")

    @property
    def is_over(self) -> bool:
        """True if the budget is spent."""
        return time.monotonic() >= self.end

    def has(self, name: str) -> bool:
        """Return whether a piece is done."""
        return (self.folder / f"{name}.json").exists()

    def lock(self, name: str) -> AbstractContextManager[bool]:
        """Lock a piece, if no other process searches it."""
        return lock_name(self.folder / f"{name}.lock", wait=False)

    def write(self, name: str, lines: Iterable[str], certificate: Any) -> None:
        """Write the list of a piece, and then its certificate, which says that it is complete."""
        write_lines(self.folder / f"{name}.wc", lines)
        write_json(self.folder / f"{name}.json", certificate)

    def tell(self, line: str) -> None:
        """Print a line about a piece that is done."""
        if not self._is_silent:
            print(line, flush=True)
