"""The sums of a case's statistics beside its checkpoint, so that a restart continues them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hetero.atomic_files import replace_atomically
from lbm.callbacks import Statistics
from lbm.errors import CheckpointError
from lbm.simulation import Simulation


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
                steps, samples, sums = (saved[name] for name in ("steps", "samples", "sums"))
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise CheckpointError(f"{path} cannot be read: {error}") from None
        if steps != simulation.steps:
            raise CheckpointError(
                f"{path} has the statistics of step {steps}, but the checkpoint is of step "
                f"{simulation.steps}: remove that file to begin the statistics again"
            )
        if samples:
            statistics.resume(int(samples), sums[(..., *simulation.region.slices)])
