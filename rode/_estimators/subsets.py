"""Subset simulation: Markov chains in the space of a path's normal numbers.

Au and Beck (2001); the chains move by conditional sampling (Papaioannou et al. 2015): the candidate
r z + sqrt(1 - r^2) n of normal numbers z and fresh ones n has the law of z, and is accepted if its
peak exceeds the level.

Levels that follow from the paths of a run make its estimate too large: by 30 % for a probability of
2.4e-7 of an Ornstein-Uhlenbeck process and 500 paths, by 10 % for 1000 (measured). So a first run
chooses levels and the spread of candidates, and is not counted. Others take them as they are. Their
chains leave the law beyond a level as it is, and each path beyond it is equally likely to begin
one, so that the product of the shares has no bias (Del Moral, Doucet and Jasra 2006).
"""

from __future__ import annotations

import math

import numpy as np

from hetero.devices import CPU
from rode._estimators.given_noise import GivenNoise
from rode._estimators.level_runs import LevelRun
from rode._solver.memory_forecast import require_free
from rode._solver.plan import Plan

CHAIN = 10
"""Length of a chain, so that a tenth of the paths exceed a level (Au and Beck 2001)."""

MAX_LEVELS = 300
"""Largest number of levels of a run: a probability of 1e-300."""

ACCEPTANCE = 0.44
"""Share of accepted candidates at which their spread aims (Papaioannou et al. 2015)."""

FIRST_SPREAD = 0.6
"""Spread sqrt(1 - r^2) of the first candidates (Papaioannou et al. 2015)."""

MAX_NUMBERS = 1 << 25
"""Largest number of normal numbers of runs side by side, so that these take 256 MB; not tuned."""


class SubsetSimulation:
    """Runs of one problem with the same levels.

    Attributes
    ----------
    chains : number of chains of a level; a run has `CHAIN` times as many paths
    side_by_side : how many runs are computed at a time at most
    levels, spreads : those of the first run; the last level is the threshold, and chains follow
        each of the others
    path_steps : coarse steps of the first run
    """

    def __init__(
        self, plan: Plan, output: int, threshold: float, choices: np.random.Generator
    ) -> None:
        self.noise, self.steps = GivenNoise(plan, output), plan.steps
        self.threshold, self.rng = threshold, choices

    def begin(self, paths: int) -> None:
        """Choose the levels of runs of some number of paths, if the memory suffices."""
        self.chains = paths // CHAIN
        size = self.chains * CHAIN * self.noise.numbers
        # The numbers, those of the next level, and candidates of a tenth.
        subject = f"subset simulation of {paths} paths with {self.noise.numbers} numbers"
        remedies = ["use fewer paths", "use algorithm='splitting'"]
        require_free(CPU, 8 * 3 * size, subject, remedies)
        self.side_by_side = max(1, MAX_NUMBERS // size)
        self.levels: list[float] = []
        self.spreads: list[float] = []
        self.path_steps = self._choose_levels(self.threshold)

    def _choose_levels(self, threshold: float) -> int:
        """Choose levels that a tenth of the paths exceed; return the coarse steps that it takes."""
        run, spread = LevelRun(), FIRST_SPREAD
        numbers, peaks = self._begin([run])
        while len(self.levels) < MAX_LEVELS:
            best = np.sort(peaks[0])[::-1]
            level = float(0.5 * (best[self.chains - 1] + best[self.chains]))
            if level >= threshold or not best[0] > level:
                break
            self.levels.append(level)
            run.close_level(level, peaks[0])
            numbers, peaks, spread = self._follow_chains([run], numbers, peaks, spread, True)
            self.spreads.append(spread)
        self.levels.append(threshold)
        return run.path_steps

    def runs(self, count: int) -> list[LevelRun]:
        """Return independent runs."""
        runs = [LevelRun() for _ in range(count)]
        for low in range(0, count, self.side_by_side):
            self._run(runs[low : low + self.side_by_side])
        return runs

    def _run(self, runs: list[LevelRun]) -> None:
        """Compute runs side by side; those without a path above a level end."""
        numbers, peaks = self._begin(runs)
        for k, level in enumerate(self.levels):
            for one, values in zip(runs, peaks, strict=True):
                one.close_level(level, values)
            alive = [i for i, one in enumerate(runs) if one.survivors[-1]]
            if not alive or k == len(self.spreads):
                return
            runs, peaks, numbers = [runs[i] for i in alive], peaks[alive], numbers[:, alive]
            numbers, peaks, _ = self._follow_chains(runs, numbers, peaks, self.spreads[k], False)

    def _begin(self, runs: list[LevelRun]) -> tuple[np.ndarray, np.ndarray]:
        """Return independent numbers of paths, (numbers, runs, paths), and their peaks."""
        shape = self.noise.numbers, len(runs), self.chains * CHAIN
        for one in runs:
            one.path_steps += shape[2] * self.steps
        numbers = self.rng.standard_normal(shape)
        return numbers, self.noise.peaks(numbers)

    def _follow_chains(
        self,
        runs: list[LevelRun],
        numbers: np.ndarray,
        peaks: np.ndarray,
        spread: float,
        is_tuned: bool,
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Return numbers and peaks of chains above the level of each run, and their spread.

        They begin at paths above it, chosen at random. The spread aims at a share of accepted
        candidates if it is tuned.
        """
        levels = np.array([[one.levels[-1]] for one in runs])
        seeds = np.empty((len(runs), self.chains), np.int64)
        for row, values, one in zip(seeds, peaks, runs, strict=True):
            above = self.rng.permutation(np.flatnonzero(values > one.levels[-1]))
            row[:] = np.resize(above, self.chains)
            one.path_steps += self.chains * (CHAIN - 1) * self.steps
        state = np.take_along_axis(numbers, seeds[None], axis=2)
        value = np.take_along_axis(peaks, seeds, axis=1)
        states, values = [state], [value]
        for k in range(1, CHAIN):
            candidate = spread * self.rng.standard_normal(state.shape)
            candidate += math.sqrt(1.0 - spread * spread) * state
            proposed = self.noise.peaks(candidate)
            moves = proposed > levels
            state, value = np.where(moves, candidate, state), np.where(moves, proposed, value)
            states.append(state)
            values.append(value)
            if is_tuned:
                change = (float(moves.mean()) - ACCEPTANCE) / math.sqrt(k)
                spread = min(1.0, spread * math.exp(change))
        return np.concatenate(states, axis=2), np.concatenate(values, axis=1), spread
