"""Facts and sums beside the checkpoint of a case, which its restarts need.

The scales and times of samples of a run are kept in its folder, and restarts must agree with them.
The sums of its statistics stand beside the checkpoint, and restarts continue them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from hetero.data_files.atomic_files import replace_atomically, write_json
from lbm._commands.cases.case import Case
from lbm._commands.cases.folder import RUN_FACTS
from lbm._commands.cases.output_settings import TABLES
from lbm.callbacks import Statistics
from lbm.errors import CheckpointError
from lbm.simulation import Simulation

_HEAT_SCALES = "scales (heat_capacity, difference, length, area) of output.heat"
ROWS = "units", *(f"output.{name}.every" for name in TABLES), "output.heat.scalar", _HEAT_SCALES
"""Facts that rows of tables have in common."""


def describe_run(case: Case) -> dict[str, Any]:
    """Return the scales of a case and the times of its samples, as values of JSON."""
    units, outputs, heat = case.scales.units, case.outputs, case.outputs.heat
    return {
        "units": units and {"dx": units.dx, "dt": units.dt, "density": units.density},
        "output.statistics": outputs.statistics and [*outputs.statistics],
        **{f"output.{name}.every": table.every for name, table in outputs.tables.items()},
        "output.heat.scalar": heat and heat.scalar,
        _HEAT_SCALES: heat and [heat.scale, *heat.conduction],
    }


def write_facts(case: Case) -> None:
    """Write the file into the folder of the outputs."""
    write_json(case.outputs.folder / RUN_FACTS, describe_run(case), indent=1)


def require_same_facts(folder: Path, case: Case, keys: Iterable[str]) -> None:
    """Raise CheckpointError if rows or sums in a folder are of a run with other facts.

    Folders without the file pass: they have no rows of ours, or their checkpoint is a user's.
    """
    path, facts = folder / RUN_FACTS, describe_run(case)
    if not path.is_file():
        return
    try:
        written = json.loads(path.read_text())
        # Earlier versions wrote 0 for a table that a case does not have.
        earlier = {key: written.get(key) or None for key in keys}
        different = [key for key in keys if not _are_close(earlier[key], facts.get(key))]
    except (ValueError, AttributeError, TypeError, OSError, RecursionError) as error:
        raise CheckpointError(f"{path} cannot be read: {error!r}") from None
    for key in different:
        raise CheckpointError(
            f"{folder} has the files of a run with {key} = {_written(earlier[key])}, but this "
            f"case has {_written(facts.get(key))}: continue with the case file of that run, or "
            "write to another folder (--out), and begin its statistics anew (remove "
            "statistics.state)"
        )


def _are_close(a: Any, b: Any) -> bool:
    """Return whether two values are equal, numbers up to rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_are_close(a[key], b[key]) for key in a)
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-12 * abs(a)
    return bool(a == b)


def _written(value: Any) -> str:
    """Return a value in words for messages."""
    if not isinstance(value, dict):
        return str(value)
    return ", ".join(f"{name} {number:.6g}" for name, number in value.items())


def write_sums(path: Path, statistics: Statistics, simulation: Simulation) -> None:
    """Write the state of statistics; all ranks must call it."""
    sums = simulation.gather(statistics.sums()) if statistics.samples else np.zeros(0)
    with simulation.domain.ranks.agreeing():
        if sums is not None and simulation.rank == 0:
            with replace_atomically(path) as part, part.open("wb") as file:
                np.savez(file, steps=simulation.steps, samples=statistics.samples, sums=sums)


def read_sums(path: Path, statistics: Statistics, simulation: Simulation) -> None:
    """Let statistics continue from a file; without a file they begin with this run.

    Raises
    ------
    CheckpointError
        If the file belongs to another step, or cannot be read.
    """
    with simulation.domain.ranks.agreeing():
        if not path.is_file():
            return
        try:
            with np.load(path, allow_pickle=False) as saved:
                steps, samples = int(saved["steps"]), int(saved["samples"])
                sums = saved["sums"]
            expected = 2, 4, *simulation.domain.partition.shape
            if samples and sums.shape != expected:
                raise ValueError(f"its sums have the shape {sums.shape}, not {expected}")
        except (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
            raise CheckpointError(f"{path} cannot be read: {error}") from None
        if steps != simulation.steps:
            raise CheckpointError(
                f"{path} has the statistics of step {steps}, but the checkpoint is of step "
                f"{simulation.steps}: remove that file to begin the statistics again"
            )
        if samples:
            statistics.resume(samples, sums[(..., *simulation.region.slices)])
