"""Small probabilities, by subset simulation or by splitting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hetero import memory, validation
from hetero.equality import equal_by_value
from rode._estimators.splitting import SplittingRun
from rode._estimators.subsets import CHAIN, SubsetRun, SubsetSimulation
from rode._solver.memory_forecast import required_bytes
from rode._solver.pairs import with_one_output
from rode._solver.plan import Plan
from rode.problems import Problem

if TYPE_CHECKING:
    from hetero.devices import Device
    from rode.normals import Seed

MIN_RUNS, MAX_RUNS = 10, 1000
"""Numbers of independent runs, whose spread gives the error."""


@equal_by_value
@dataclass(frozen=True, eq=False)
class RareEvent:
    """Probability that the largest |output| of a path exceeds a threshold.

    Attributes
    ----------
    probability : mean of the runs; 0 if no run has reached the threshold
    low, high : ends of its interval, by Student's distribution of the runs' mean, at most 1
        If all paths exceed the threshold, the lower end is that of a binomial probability.
    coefficient_of_variation : estimated standard error over probability
    confidence : probability with which the interval contains the true value, nearly. With fewer
        than 100 paths in a run it is less: 195 of 218 intervals of 95 % held with 20 and 50 paths.
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
    algorithm: str = "subset",
    paths: int = 500,
    coefficient_of_variation: float = 0.1,
    confidence: float = 0.95,
    max_runs: int = MAX_RUNS,
    rng: Seed = None,
    device: Device | str | None = None,
) -> RareEvent:
    """Estimate the probability that the largest |output| of a path exceeds a threshold.

    Subset simulation holds the normal numbers of `paths` paths. Levels are chosen so that a tenth
    of the paths exceed each. From these, Markov chains go on that change all numbers of a path a
    little and stay above the level, until paths exceed the threshold. A first run chooses the
    levels; those that are counted take them as they are, so that they have no bias.

    Adaptive multilevel splitting changes a path from some step on only: of `paths` paths, the half
    with the smaller largest |output| is replaced. Each becomes a copy of a survivor, chosen at
    random, up to the coarse step in which that first exceeds the largest value of the other half,
    and goes on with random numbers of its own. This is repeated until half of the paths exceed the
    threshold.

    Runs of either are repeated until the mean of their estimates is known well enough. Their
    spread contains what paths of a run have in common, as those of a chain do.

    Parameters
    ----------
    problem : rode.Problem that `rode.solve` takes with sampling="exact", with one set of parameters
    method, t_span, h : as for `rode.solve`
    threshold : level of the largest |output| over the coarse steps
    output : name of the output; may be left out if there is only one
    algorithm : {"subset", "splitting"}
        Subset simulation mostly takes less work, most of all for smooth outputs, which are nearly
        decided when they pass a level. Splitting is better where the output is the process itself
        that begins at one value, and needs memory for the output alone.
    paths : paths of a run; each has its numbers or, for splitting, its output of all coarse steps
        in memory
        Subset simulation rounds them down to a multiple of ten.
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
    Au and Beck (2001), Estimation of small failure probabilities in high dimensions by subset
    simulation, Probabilistic Engineering Mechanics 16, 263; Papaioannou et al. (2015), MCMC
    algorithms for subset simulation, Probabilistic Engineering Mechanics 41, 89; Cerou and Guyader
    (2007), Adaptive multilevel splitting for rare event analysis, Stochastic Analysis and
    Applications 25, 417; Brehier et al. (2016), Unbiasedness of some generalized adaptive
    multilevel splitting algorithms, Annals of Applied Probability 26, 3559.
    """
    threshold = validation.check_finite("threshold", threshold)
    paths = validation.check_integer("paths", paths, 4, 1 << 20)
    goal = validation.check_in_range(
        "coefficient_of_variation", coefficient_of_variation, 0.0, 1.0, closed="right"
    )
    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    max_runs = validation.check_integer("max_runs", max_runs, MIN_RUNS, MAX_RUNS)
    validation.check_choice("algorithm", algorithm, ("subset", "splitting"))
    if algorithm == "subset" and paths < 2 * CHAIN:
        raise ValueError(
            f"paths must be at least {2 * CHAIN} for subset simulation, whose levels keep a tenth, "
            f"got {paths}: use more, or algorithm='splitting'"
        )
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
    if (excitation := problem.excitation) is not None:
        if excitation.draws_at_start:
            raise ValueError(
                "rare_event needs random numbers in each step, but paths of a rode.Spectrum are "
                "decided at their start: use a filter of white noise, rode.Filtered"
            )
        given = excitation.integrals(plan.t0, plan.h, 1, 0)
        if not excitation.sources() or (given is not None and given.shape[3] > 1):
            raise ValueError(
                "rare_event needs an excitation with random numbers, beside which there may be one "
                f"record for all paths, got {excitation!r}: use rode.solve for records"
            )
    k = problem.index_of(output)
    choices = np.random.default_rng([int(word) for word in plan.key])
    if algorithm == "splitting":
        plan = replace(plan, problem=with_one_output(problem, k))
        return _result_of(_split(plan, threshold, goal, max_runs, choices), confidence)
    simulation = SubsetSimulation(plan, k, threshold, choices)
    runs = _simulate(simulation, goal, max_runs)
    return _result_of(runs, confidence, simulation.path_steps)


def _split(
    plan: Plan, threshold: float, goal: float, max_runs: int, rng: np.random.Generator
) -> list[SplittingRun]:
    """Return runs of the splitting, until their mean is known well enough."""
    for device, need in required_bytes(plan).items():
        if need >= memory.SMALL and need > (free := memory.free_bytes(device, need)):
            subject = f"splitting of {plan.paths} paths with {plan.times} times"
            remedies = ["use fewer paths", "use a larger h"]
            raise memory.shortage(subject, device, need, free, remedies)
    runs: list[SplittingRun] = []
    while len(runs) < max_runs:
        first = runs[-1].next_number if runs else 0
        runs.append(SplittingRun(plan, threshold, first, rng))
        if len(runs) >= MIN_RUNS and _variation(_estimates_of(runs)) <= goal:
            break
    return runs


def _simulate(simulation: SubsetSimulation, goal: float, max_runs: int) -> list[SubsetRun]:
    """Return runs of subset simulation, until their mean is known well enough.

    Their number is doubled at most, because the spread of few runs is not well known.
    """
    runs: list[SubsetRun] = []
    while len(runs) < max_runs:
        more = MIN_RUNS
        if runs and (variation := _variation(_estimates_of(runs))) < math.inf:
            more = min(len(runs), math.ceil(len(runs) * ((variation / goal) ** 2 - 1.0)))
        runs += simulation.runs(min(max(more, 1), max_runs - len(runs)))
        if _variation(_estimates_of(runs)) <= goal:
            break
    return runs


def _estimates_of(runs: Sequence[SplittingRun] | Sequence[SubsetRun]) -> np.ndarray:
    """Return the estimates of runs."""
    return np.array([one.probability for one in runs])


def _variation(estimates: np.ndarray) -> float:
    """Return the estimated relative standard error of the mean; infinity if the mean is 0."""
    mean, size = float(estimates.mean()), estimates.size
    return float(estimates.std(ddof=1)) / math.sqrt(size) / mean if mean > 0.0 else math.inf


def _result_of(
    runs: Sequence[SplittingRun] | Sequence[SubsetRun], confidence: float, path_steps: int = 0
) -> RareEvent:
    """Return the result of all runs, with the coarse steps of what is not counted."""
    from scipy.stats import t

    estimates = _estimates_of(runs)
    mean, variation = float(estimates.mean()), _variation(estimates)
    half = float(t.ppf(0.5 + 0.5 * confidence, estimates.size - 1)) * variation * mean
    low, high = (max(0.0, mean - half), min(1.0, mean + half)) if mean else (0.0, math.nan)
    if mean == 1.0:  # the runs have no spread, but have not seen all paths
        low = (0.5 - 0.5 * confidence) ** (1.0 / sum(one.survivors[-1] for one in runs))
    return RareEvent(
        probability=mean,
        low=low,
        high=high,
        coefficient_of_variation=variation,
        confidence=confidence,
        runs=estimates,
        levels=tuple(tuple(one.levels) for one in runs),
        survivors=tuple(tuple(one.survivors) for one in runs),
        path_steps=path_steps + sum(one.path_steps for one in runs),
        reached=all(one.probability > 0.0 for one in runs),
    )
