"""Small probabilities, by subset simulation or by splitting."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from hetero import validation
from hetero.equality import equal_by_value
from rode._estimators.importance import ImportanceSampling
from rode._estimators.level_runs import LevelRun
from rode._estimators.splitting import Splitting
from rode._estimators.subsets import CHAIN, SubsetSimulation
from rode._solver.plan import make_plan
from rode.problems.problem import Problem

if TYPE_CHECKING:
    from hetero.devices import Device
    from rode.normals import Seed

MIN_RUNS, MAX_RUNS = 10, 1000
"""Numbers of independent runs, whose spread gives the error."""

MAX_PATHS = 1 << 20
"""Largest number of paths of a run."""

MAX_SPREAD = 0.5
"""Largest coefficient of variation of a run. Estimates are products of shares, about as skew as a
lognormal law: of means of 10 to 30 lognormal numbers that pass this bound, 95 % intervals hold in
92 to 95 % (computed); `docs/packages/rode.md` has what is measured."""

AIM = 0.35
"""Spread at which a larger number of paths aims, so that its pilot runs mostly stay below
`MAX_SPREAD`."""

MAX_PILOTS, MAX_GROWTH = 4, 8.0
"""Largest number of pilots, and largest factor of paths between two of them; not tuned."""

Simulation: TypeAlias = SubsetSimulation | Splitting | ImportanceSampling

ALGORITHMS: dict[str, type[Simulation]] = {
    "subset": SubsetSimulation,
    "splitting": Splitting,
    "importance": ImportanceSampling,
}


@equal_by_value
@dataclass(frozen=True, eq=False)
class RareEvent:
    """Probability that the largest |output| of a path exceeds a threshold.

    Attributes
    ----------
    probability : mean of the runs; 0 if no run has reached the threshold
    low, high : ends of its interval, by Student's distribution of the runs' mean, at most 1
        They are equally far from the probability on a logarithmic scale. If all paths exceed the
        threshold, the lower end is that of a binomial probability.
    coefficient_of_variation : estimated standard error over probability
    confidence : probability with which the interval contains the true value, nearly
    runs : (runs,) array, estimate of each run; they are independent and have no bias
    paths : paths of a run, at least as many as were asked for
    levels : levels of each run, and behind them the threshold if the run has reached it
    survivors : numbers of paths above these levels
    path_steps : coarse steps computed, of all paths and runs, those of pilot runs included
    reached : whether every run has reached the threshold
    """

    probability: float
    low: float
    high: float
    coefficient_of_variation: float
    confidence: float
    runs: np.ndarray
    paths: int
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

    Importance sampling, for outputs that are linear in the noise, draws a coarse step with a
    probability in proportion to that of an output beyond the threshold there, and then a path that
    has one. A hundred paths suffice for an error of 10 %, however small the probability is.

    Ten pilot runs, which are not counted, say how many runs the error asks for. If their estimates
    spread by more than half of their mean, they are so skew that no interval would hold, and a run
    takes more paths. The runs' spread contains what their paths have in common, as those of a chain
    do.

    Parameters
    ----------
    problem : rode.Problem that `rode.solve` takes with sampling="exact", with one set of parameters
    method, t_span, h : as for `rode.solve`
    threshold : level of the largest |output| over the coarse steps
    output : name of the output; may be left out if there is only one
    algorithm : {"subset", "splitting", "importance"}
        Importance sampling takes by far the least work, for linear problems, all of whose
        excitations are Gaussian. It needs memory for the coarse steps times the normal numbers of a
        path.
        Subset simulation mostly takes less work, most of all for smooth outputs, which are nearly
        decided when they pass a level. Splitting is better where the output is the process itself
        that begins at one value, and needs memory for the output alone.
    paths : paths of a run; more if its estimate spreads too much
        Each has its numbers or, for splitting, its output of all coarse steps in memory. Subset
        simulation rounds them down to a multiple of ten.
    coefficient_of_variation : relative standard error for which the number of runs is chosen
        As that follows from ten runs, the one of the result differs by a quarter or so.
    confidence : of the interval
    max_runs : largest number of runs, from 10 to 1000
        A UserWarning says if the error takes more.
    rng : None, int, SeedSequence or NumPy Generator
    device : the device that solves; by default a GPU if one is usable and the work is large

    Returns
    -------
    RareEvent

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, a path has become infinite or NaN, estimates of runs spread too
        much even with many times as many paths, or the output is not linear for importance
        sampling.
    MemoryError : the paths of a run do not fit

    References
    ----------
    Au and Beck (2001), Estimation of small failure probabilities in high dimensions by subset
    simulation, Probabilistic Engineering Mechanics 16, 263; Au and Beck (2001), First excursion
    probabilities for linear systems by very efficient importance sampling, Probabilistic
    Engineering Mechanics 16, 193; Papaioannou et al. (2015), MCMC
    algorithms for subset simulation, Probabilistic Engineering Mechanics 41, 89; Cerou and Guyader
    (2007), Adaptive multilevel splitting for rare event analysis, Stochastic Analysis and
    Applications 25, 417; Brehier et al. (2016), Unbiasedness of some generalized adaptive
    multilevel splitting algorithms, Annals of Applied Probability 26, 3559.
    """
    threshold = validation.check_finite("threshold", threshold)
    paths = validation.check_integer("paths", paths, 4, MAX_PATHS)
    goal = validation.check_in_range(
        "coefficient_of_variation", coefficient_of_variation, 0.0, 1.0, closed="right"
    )
    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    max_runs = validation.check_integer("max_runs", max_runs, MIN_RUNS, MAX_RUNS)
    kind = ALGORITHMS[validation.check_choice("algorithm", algorithm, tuple(ALGORITHMS))]
    if algorithm == "subset" and paths < 2 * CHAIN:
        raise ValueError(
            f"paths must be at least {2 * CHAIN} for subset simulation, whose levels keep a tenth, "
            f"got {paths}: use more, or algorithm='splitting'"
        )
    plan = make_plan(
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
        forcing = excitation.integrals(plan.t0, plan.h, 1, 0)
        if not excitation.sources() or (forcing is not None and forcing.shape[3] > 1):
            raise ValueError(
                "rare_event needs an excitation with random numbers, beside which there may be one "
                f"record for all paths, got {excitation!r}: use rode.solve for records"
            )
    choices = np.random.default_rng([int(word) for word in plan.key])
    simulation = kind(plan, problem.index_of(output), threshold, choices)
    runs, size, uncounted = _simulate(simulation, paths, goal, max_runs)
    return _result_of(runs, size, confidence, uncounted)


def _simulate(
    simulation: Simulation, paths: int, goal: float, max_runs: int
) -> tuple[list[LevelRun], int, int]:
    """Return runs, their paths, and the coarse steps of what is not counted.

    Numbers of paths and of runs follow from pilot runs alone. Runs that ended when their own spread
    is small would end early where large estimates are missing yet, and be too small on average.
    """
    size, uncounted, spread = paths, 0, math.inf
    for _ in range(MAX_PILOTS):
        try:
            simulation.begin(size)
        except MemoryError:
            if size == paths:
                raise
            break
        pilot, asked = simulation.runs(MIN_RUNS), size
        uncounted += simulation.path_steps
        spread = math.sqrt(MIN_RUNS) * _variation(_estimates_of(pilot))
        if spread <= MAX_SPREAD:
            steps = uncounted + sum(one.path_steps for one in pilot)
            count = max(MIN_RUNS, math.ceil((spread / goal) ** 2))
            if count > max_runs:
                warnings.warn(
                    f"max_runs={max_runs} runs are too few for coefficient_of_variation={goal:g}, "
                    f"which takes about {count}: use more of them, or more paths",
                    UserWarning,
                    stacklevel=3,
                )
            return simulation.runs(min(count, max_runs)), size, steps
        growth = min(math.log1p(spread * spread) / math.log1p(AIM * AIM), MAX_GROWTH)
        if (size := min(CHAIN * math.ceil(size * growth / CHAIN), MAX_PATHS)) == asked:
            break
        uncounted += sum(one.path_steps for one in pilot)
    if spread < math.inf:
        raise ValueError(
            f"estimates of runs of {asked} paths spread by {spread:.0%}, which is too much for an "
            "interval: use more paths, or the other algorithm"
        )
    return pilot, asked, uncounted  # no run has reached the threshold


def _estimates_of(runs: list[LevelRun]) -> np.ndarray:
    """Return the estimates of runs."""
    return np.array([one.probability for one in runs])


def _variation(estimates: np.ndarray) -> float:
    """Return the estimated relative standard error of the mean; infinity if the mean is 0."""
    mean, size = float(estimates.mean()), estimates.size
    return float(estimates.std(ddof=1)) / math.sqrt(size) / mean if mean > 0.0 else math.inf


def _result_of(runs: list[LevelRun], paths: int, confidence: float, steps: int) -> RareEvent:
    """Return the result of all runs, with the coarse steps of what is not counted."""
    from scipy.stats import t

    estimates = _estimates_of(runs)
    mean, variation = min(float(estimates.mean()), 1.0), _variation(estimates)
    low, high = 0.0, math.nan
    if mean > 0.0:
        # Estimates are skew: their logarithms have the more normal mean.
        factor = math.exp(float(t.ppf(0.5 + 0.5 * confidence, estimates.size - 1)) * variation)
        low, high = mean / factor, min(1.0, mean * factor)
    if mean == 1.0:  # the runs have no spread, but have not seen all paths
        low = (0.5 - 0.5 * confidence) ** (1.0 / sum(one.survivors[-1] for one in runs))
    return RareEvent(
        probability=mean,
        low=low,
        high=high,
        coefficient_of_variation=variation,
        confidence=confidence,
        runs=estimates,
        paths=paths,
        levels=tuple(tuple(one.levels) for one in runs),
        survivors=tuple(tuple(one.survivors) for one in runs),
        path_steps=steps + sum(one.path_steps for one in runs),
        reached=all(one.probability > 0.0 for one in runs),
    )
