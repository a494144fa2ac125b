"""Runs of subset simulation and of splitting: their levels, survivors and estimates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rode._solver.plan import Plan
from rode._solver.runner import Outcome, describe_failures, run


@dataclass
class LevelRun:
    """One run: its levels, the numbers of paths above them, its estimate and its coarse steps."""

    levels: list[float] = field(default_factory=list)
    survivors: list[int] = field(default_factory=list)
    probability: float = 1.0
    path_steps: int = 0

    def close_level(self, level: float, peaks: np.ndarray) -> None:
        """Count the paths above a level."""
        self.levels.append(level)
        self.survivors.append(int((peaks > level).sum()))
        self.probability *= self.survivors[-1] / peaks.size


def run_finite(plan: Plan) -> Outcome:
    """Run a plan; raise ValueError if a path is infinite or NaN."""
    outcome = run(plan)
    if failures := describe_failures([outcome], plan.paths):
        raise ValueError(f"the run has failed: {failures}; use a smaller h")
    return outcome
