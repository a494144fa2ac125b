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


MAX_NUMBERS = 1 << 25
"""Largest number of outputs of runs side by side, so that these take 256 MB; not tuned."""


class Splitting:
    """Independent runs for one output of a problem.

    Attributes
    ----------
    side_by_side : how many runs are computed at a time at most
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
        self.side_by_side = max(1, MAX_NUMBERS // (paths * plan.times))

    def runs(self, count: int) -> list[LevelRun]:
        """Return runs, each with paths of its own."""
        runs = [LevelRun() for _ in range(count)]
        for low in range(0, count, self.side_by_side):
            self._run(runs[low : low + self.side_by_side])
        return runs

    def _run(self, runs: list[LevelRun]) -> None:
        """Compute runs side by side; those that have ended are left out.

        Path i of run r has the random words of several numbers one after another:
        `numbers[b, r, i]` from coarse step `switches[b, r, i]` on.
        """
        size, steps = self.plan.paths, self.plan.steps
        switches = np.full((1, len(runs), size), -1)
        numbers = self._fresh(len(runs) * size).reshape(switches.shape)
        sizes = self._solve(switches, numbers)
        for one in runs:
            one.path_steps += size * steps
        for _ in range(MAX_LEVELS):
            peaks = sizes.max(axis=0)
            levels = np.sort(peaks, axis=1)[:, size // 2 - 1]
            for one, level, values in zip(runs, levels, peaks, strict=True):
                one.close_level(min(float(level), self.threshold), values)
            alive = [
                i for i, one in enumerate(runs)
                if levels[i] < self.threshold and one.survivors[-1]
            ]  # fmt: skip
            if not alive:
                return
            runs, levels = [runs[i] for i in alive], levels[alive]
            peaks, sizes, switches, numbers = (
                array[..., alive, :] for array in (peaks, sizes, switches, numbers)
            )
            run, lost = np.nonzero(peaks <= levels[:, None])
            parents = np.empty_like(lost)
            for i, one in enumerate(runs):
                surviving, own = np.flatnonzero(peaks[i] > levels[i]), run == i
                count = int(own.sum())
                parents[own] = surviving[self.choices.integers(0, surviving.size, count)]
                one.path_steps += count * steps
            # Step n begins at time n: it is the first with words of its own, if time n exceeds.
            begin = np.argmax(sizes[:, run, parents] > levels[run], axis=0)
            switches = np.concatenate([switches, np.full((1, *peaks.shape), steps)])
            numbers = np.concatenate([numbers, numbers[-1:]])
            switches[:, run, lost] = switches[:, run, parents]
            numbers[:, run, lost] = numbers[:, run, parents]
            switches[-1, run, lost], numbers[-1, run, lost] = begin, self._fresh(lost.size)
            sizes[:, run, lost] = self._solve(switches[:, run, lost], numbers[:, run, lost])
        for one in runs:
            one.probability = 0.0

    def _fresh(self, count: int) -> np.ndarray:
        """Return numbers of paths that have not been used."""
        begin = self.next_number
        self.next_number += count
        if self.next_number > 1 << 32:
            raise ValueError(f"paths={self.plan.paths} takes more than 2^32 paths: use fewer")
        return np.arange(begin, self.next_number).astype(np.uint32)

    def _solve(self, switches: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return |output| of paths at all coarse steps, (times, ...)."""
        shape = switches.shape[1:]
        switches, numbers = (a.reshape(len(a), -1) for a in (switches, numbers))
        count = switches.shape[1]
        branches = np.ascontiguousarray(switches), np.ascontiguousarray(numbers)
        plan = replace(self.plan, paths=count, whole=range(count), branches=branches)
        return np.abs(run_finite(plan).states[0]["paths"][:, 0]).reshape(-1, *shape)
