"""Small probabilities by splitting: paths that come closer to a threshold have descendants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import validation
from hetero.equality import equal_by_value
from rode._solver.plan import Plan
from rode._solver.runner import run
from rode.problems import Problem

if TYPE_CHECKING:
    from hetero.devices import Device
    from rode.normals import Seed

MIN_RUNS, MAX_RUNS = 10, 1000
"""Numbers of independent runs, whose spread gives the error."""

MAX_LEVELS = 1000
"""Largest number of levels of a run: a probability of 2^-1000."""


@equal_by_value
@dataclass(frozen=True, eq=False)
class RareEvent:
    """Probability that the largest |output| of a path exceeds a threshold.

    Attributes
    ----------
    probability : mean of the runs; 0 if no run has reached the threshold
    low, high : ends of its interval, by Student's distribution of the runs' mean
    coefficient_of_variation : estimated standard error over probability
    confidence : probability with which the interval contains the true value, nearly
    runs : (runs,) array, estimate of each run; they are independent and have no bias
    levels : levels of each run, and behind them the threshold if the run has reached it
    survivors : numbers of paths above these levels
    path_steps : coarse steps computed, of all paths and runs
    reached : whether every run has reached the threshold
    """

    probability: float
    low: float
    high: float
    coefficient_of_variation: float
    confidence: float
    runs: np.ndarray
    levels: tuple[tuple[float, ...], ...]
    survivors: tuple[tuple[int, ...], ...]
    path_steps: int
    reached: bool


def rare_event(
    problem: Problem,
    method: str,
    threshold: float,
    *,
    output: str | None = None,
    t_span: Sequence[float],
    h: float,
    paths: int = 500,
    coefficient_of_variation: float = 0.1,
    confidence: float = 0.95,
    max_runs: int = MAX_RUNS,
    rng: Seed = None,
    device: Device | str | None = None,
) -> RareEvent:
    """Estimate the probability that the largest |output| of a path exceeds a threshold.

    Adaptive multilevel splitting: of `paths` paths, the half with the smaller largest |output| is
    replaced. Each becomes a copy of a survivor, chosen at random, up to the coarse step in which
    that first exceeds the largest value of the other half, and goes on with random numbers of its
    own. This is repeated until half of the paths exceed the threshold. Runs are repeated until the
    mean of their estimates is known well enough.

    Parameters
    ----------
    problem : rode.Problem that `rode.solve` takes with sampling="exact", with one set of parameters
    method, t_span, h : as for `rode.solve`
    threshold : level of the largest |output| over the coarse steps
    output : name of the output; may be left out if there is only one
    paths : paths of a run, which are in memory at all coarse steps
    coefficient_of_variation : estimated relative standard error at which the runs end
    confidence : of the interval
    max_runs : largest number of runs
    rng : None, int, SeedSequence or NumPy Generator
    device : the device that solves; by default a GPU if one is usable and the work is large

    Returns
    -------
    RareEvent

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, or a path has become infinite or NaN.
    MemoryError : the paths of a run do not fit

    References
    ----------
    Cerou and Guyader (2007), Adaptive multilevel splitting for rare event analysis, Stochastic
    Analysis and Applications 25, 417; Brehier et al. (2016), Unbiasedness of some generalized
    adaptive multilevel splitting algorithms, Annals of Applied Probability 26, 3559.
    """
    threshold = validation.check_finite("threshold", threshold)
    paths = validation.check_integer("paths", paths, 4, 1 << 20)
    goal = validation.check_in_range(
        "coefficient_of_variation", coefficient_of_variation, 0.0, 1.0, closed="right"
    )
    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    max_runs = validation.check_integer("max_runs", max_runs, MIN_RUNS, MAX_RUNS)
    plan = Plan.checked(
        problem,
        method,
        t_span=t_span,
        h=h,
        paths=paths,
        sampling="exact",
        rng=rng,
        reduction="paths",
        device=device,
    )
    if problem.sets > 1:
        raise ValueError(f"problem must have one set of parameters, got {problem.sets}")
    if problem.excitation is not None and problem.excitation.draws_at_start:
        raise ValueError(
            "splitting needs random numbers in each step, but paths of a rode.Spectrum are decided "
            "at their start: use a filter of white noise, rode.Filtered"
        )
    k = problem.index_of(output)
    choices = np.random.default_rng([int(word) for word in plan.key])
    runs: list[_Run] = []
    while len(runs) < max_runs:
        runs.append(_Run(plan, k, threshold, runs[-1].next_number if runs else 0, choices))
        estimates = np.array([one.probability for one in runs])
        if len(runs) >= MIN_RUNS and _variation(estimates) <= goal:
            break
    return _result_of(runs, estimates, confidence)


def _variation(estimates: np.ndarray) -> float:
    """Return the estimated relative standard error of the mean; infinity if the mean is 0."""
    mean, size = float(estimates.mean()), estimates.size
    return float(estimates.std(ddof=1)) / math.sqrt(size) / mean if mean > 0.0 else math.inf


def _result_of(runs: list[_Run], estimates: np.ndarray, confidence: float) -> RareEvent:
    """Return the result of all runs."""
    from scipy.stats import t

    mean, variation = float(estimates.mean()), _variation(estimates)
    half = (
        t.ppf(0.5 + 0.5 * confidence, estimates.size - 1) * variation * mean if mean else math.nan
    )
    return RareEvent(
        probability=mean,
        low=max(0.0, mean - half) if mean else 0.0,
        high=mean + half if mean else math.nan,
        coefficient_of_variation=variation,
        confidence=confidence,
        runs=estimates,
        levels=tuple(tuple(one.levels) for one in runs),
        survivors=tuple(tuple(one.survivors) for one in runs),
        path_steps=sum(one.path_steps for one in runs),
        reached=all(one.probability > 0.0 for one in runs),
    )


class _Run:
    """One run of the splitting: its levels, survivors and estimate.

    Path i of a run has the random words of several numbers one after another: `numbers[b, i]` from
    coarse step `switches[b, i]` on.
    """

    def __init__(
        self, plan: Plan, output: int, threshold: float, next_number: int, choices: Any
    ) -> None:
        self.plan, self.output, self.next_number = plan, output, next_number
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
            lost, kept = np.flatnonzero(~above), np.flatnonzero(above)
            parents = kept[choices.integers(0, kept.size, lost.size)]
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
        return np.abs(outcome.states[0]["paths"][:, self.output])
