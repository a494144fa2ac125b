"""Adaptive multilevel splitting: paths that come closer to a threshold have descendants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rode._estimators.level_runs import LevelRun, run_finite
from rode._estimators.pairs import with_one_output
from rode._solver.memory_forecast import require_free, required_bytes
from rode._solver.plan import Plan

MAX_LEVELS = 1000
"""Largest number of levels of a run: a probability of 2^-1000."""


class Splitting:
    """Independent runs for one output of a problem.

    Attributes
    ----------
    path_steps : 0, as nothing is computed beside the runs
    next_number : number of the next path
    """

    path_steps = 0

    def __init__(
        self, plan: Plan, output: int, threshold: float, choices: np.random.Generator
    ) -> None:
        self.plan = replace(plan, problem=with_one_output(plan.problem, output))
        self.threshold, self.choices, self.next_number = threshold, choices, 0

    def begin(self, paths: int) -> None:
        """Give the next runs another number of paths, if the memory suffices."""
        self.plan = plan = replace(self.plan, paths=paths, whole=range(paths))
        for device, need in required_bytes(plan).items():
            subject = f"splitting of {paths} paths with {plan.times} times"
            require_free(device, need, subject, ["use fewer paths", "use a larger h"])

    def runs(self, count: int) -> list[LevelRun]:
        """Return runs, each with paths of its own."""
        return [self._run() for _ in range(count)]

    def _run(self) -> LevelRun:
        """Compute one run.

        Path i has the random words of several numbers one after another: `numbers[b, i]` from
        coarse step `switches[b, i]` on.
        """
        run, plan, size = LevelRun(), self.plan, self.plan.paths
        switches, numbers = np.full((1, size), -1), self._fresh(size)[None]
        sizes = self._solve(run, switches, numbers)
        while len(run.levels) < MAX_LEVELS:
            peaks = sizes.max(axis=0)
            level = float(np.sort(peaks)[size // 2 - 1])
            run.close_level(min(level, self.threshold), peaks)
            if level >= self.threshold or not run.survivors[-1]:
                return run
            lost, surviving = np.flatnonzero(peaks <= level), np.flatnonzero(peaks > level)
            parents = surviving[self.choices.integers(0, surviving.size, lost.size)]
            # Step n begins at time n: it is the first with words of its own, if time n exceeds.
            steps = np.argmax(sizes[:, parents] > level, axis=0)
            switches = np.vstack([switches, np.full(size, plan.steps)])
            numbers = np.vstack([numbers, numbers[-1]])
            switches[:, lost], numbers[:, lost] = switches[:, parents], numbers[:, parents]
            switches[-1, lost], numbers[-1, lost] = steps, self._fresh(lost.size)
            sizes[:, lost] = self._solve(run, switches[:, lost], numbers[:, lost])
        run.probability = 0.0
        return run

    def _fresh(self, count: int) -> np.ndarray:
        """Return numbers of paths that have not been used."""
        begin = self.next_number
        self.next_number += count
        if self.next_number > 1 << 32:
            raise ValueError(f"paths={self.plan.paths} takes more than 2^32 paths: use fewer")
        return np.arange(begin, self.next_number).astype(np.uint32)

    def _solve(self, run: LevelRun, switches: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return |output| of paths at all coarse steps, (times, paths)."""
        count = switches.shape[1]
        branches = np.ascontiguousarray(switches), np.ascontiguousarray(numbers)
        plan = replace(self.plan, paths=count, whole=range(count), branches=branches)
        run.path_steps += count * plan.steps
        return np.abs(run_finite(plan).states[0]["paths"][:, 0])
