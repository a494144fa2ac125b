"""Adaptive multilevel splitting: paths that come closer to a threshold have descendants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hetero import memory
from rode._solver.memory_forecast import required_bytes
from rode._solver.plan import Plan
from rode._solver.runner import run

MAX_LEVELS = 1000
"""Largest number of levels of a run: a probability of 2^-1000."""


class SplittingRun:
    """One run of the splitting: its levels, survivors and estimate.

    The problem has one output. Path i of a run has the random words of several numbers one after
    another: `numbers[b, i]` from coarse step `switches[b, i]` on.
    """

    def __init__(self, plan: Plan, threshold: float, next_number: int, choices: Any) -> None:
        self.plan, self.next_number = plan, next_number
        self.levels: list[float] = []
        self.survivors: list[int] = []
        self.path_steps, self.probability = 0, 1.0
        size = plan.paths
        switches = np.full((1, size), -1)
        numbers = self.fresh(size)[None]
        sizes = self.solve(switches, numbers)
        while len(self.levels) < MAX_LEVELS:
            peaks = sizes.max(axis=0)
            level = float(np.sort(peaks)[size // 2 - 1])
            above = peaks > min(level, threshold)
            self.levels.append(min(level, threshold))
            self.survivors.append(int(above.sum()))
            self.probability *= self.survivors[-1] / size
            if level >= threshold or not above.any():
                return
            lost, surviving = np.flatnonzero(~above), np.flatnonzero(above)
            parents = surviving[choices.integers(0, surviving.size, lost.size)]
            # Step n begins at time n: it is the first with words of its own, if time n exceeds.
            steps = np.argmax(sizes[:, parents] > level, axis=0)
            switches = np.vstack([switches, np.full(size, plan.steps)])
            numbers = np.vstack([numbers, numbers[-1]])
            switches[:, lost], numbers[:, lost] = switches[:, parents], numbers[:, parents]
            switches[-1, lost], numbers[-1, lost] = steps, self.fresh(lost.size)
            sizes[:, lost] = self.solve(switches[:, lost], numbers[:, lost])
        self.probability = 0.0

    def fresh(self, count: int) -> np.ndarray:
        """Return numbers of paths that have not been used."""
        begin = self.next_number
        self.next_number += count
        if self.next_number > 1 << 32:
            raise ValueError(f"paths={self.plan.paths} takes more than 2^32 paths: use fewer")
        return np.arange(begin, self.next_number).astype(np.uint32)

    def solve(self, switches: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return |output| of paths at all coarse steps, (times, paths)."""
        count = switches.shape[1]
        branches = np.ascontiguousarray(switches), np.ascontiguousarray(numbers)
        plan = replace(self.plan, paths=count, whole=range(count), branches=branches)
        outcome = run(plan)
        if outcome.failures:
            raise ValueError(f"the run has failed: {outcome.failures}; use a smaller h")
        self.path_steps += count * plan.steps
        return np.abs(outcome.states[0]["paths"][:, 0])


class Splitting:
    """Independent runs of a problem; call it with a number of paths before its runs.

    Attributes
    ----------
    path_steps : 0, as nothing is computed beside the runs
    next_number : number of the next path
    """

    path_steps = 0

    def __init__(self, plan: Plan, threshold: float, choices: np.random.Generator) -> None:
        self.plan, self.threshold, self.choices = plan, threshold, choices
        self.next_number = 0

    def __call__(self, paths: int) -> Splitting:
        """Return these runs with another number of paths, if the memory suffices."""
        self.plan = plan = replace(self.plan, paths=paths, whole=range(paths))
        for device, need in required_bytes(plan).items():
            if need >= memory.SMALL and need > (free := memory.free_bytes(device, need)):
                subject = f"splitting of {paths} paths with {plan.times} times"
                remedies = ["use fewer paths", "use a larger h"]
                raise memory.shortage(subject, device, need, free, remedies)
        return self

    def runs(self, count: int) -> list[SplittingRun]:
        """Return runs, each with paths of its own."""
        runs = []
        for _ in range(count):
            runs.append(SplittingRun(self.plan, self.threshold, self.next_number, self.choices))
            self.next_number = runs[-1].next_number
        return runs
