"""Expected values to a tolerance, by multilevel Monte Carlo."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hetero import validation
from hetero.devices import resolve
from hetero.equality import equal_by_value
from rode._solver.pairs import paired, with_one_output
from rode._solver.plan import BREAK_EVEN, MAX_STEPS, Plan
from rode._solver.reductions.functional import Functional
from rode._solver.reductions.paths import PATHS
from rode._solver.reductions.peaks import PEAKS
from rode._solver.reductions.reduction import Reduction
from rode._solver.runner import run
from rode._solver.schemes import METHODS
from rode._solver.stability import largest_step
from rode.excitations.excitation import Envelope, values_of
from rode.peaks import peak_correction
from rode.problems import Problem

if TYPE_CHECKING:
    from hetero.devices import Device
    from rode.normals import Seed

PILOT_PATHS = 500
"""Paths with which the variance of a new level is estimated first: its relative error is 6 % if the
differences are normal, and more where few paths differ."""

COARSEST_STEPS = 8
"""Coarse steps of the span at the coarsest level, if the caller does not say; not tuned."""

MAX_PATHS = 1 << 18
"""Largest number of paths of a run, so that its arrays take some hundreds of MB at most."""

MAX_NUMBERS = 1 << 24
"""Largest number of numbers that an excitation may keep for the paths of a run; not tuned."""

MAX_SKIPPED = 12
"""Largest number of halvings of the coarsest step until differences are small; not tuned."""

MAX_LEVELS = 20
"""Largest number of levels above the coarsest step."""

BIAS_SHARE = 0.25
"""Share of the squared tolerance that the bias may take. A bias falls by a factor of two or more
with each level, so that it is mostly far below its share when it is accepted."""

MIN_RATE = 0.5
"""Smallest order at which differences of levels are assumed to fall: that of the largest value of
an output as rough as the process."""


@equal_by_value
@dataclass(frozen=True, eq=False)
class Level:
    """Level of an expectation: a difference of two steps, or the coarsest step alone.

    Attributes
    ----------
    h : coarse step of the finer solution, s; that of the coarser one is 2 h
    paths : number of paths
    mean : mean of the differences, or at the coarsest level of the functional
    variance : variance of a path's difference
    path_steps : coarse steps computed, of all paths and both solutions
    """

    h: float
    paths: int
    mean: float
    variance: float
    path_steps: int


@equal_by_value
@dataclass(frozen=True, eq=False, repr=False)
class Expectation:
    """Expected value of a functional of the solution, for ever shorter steps.

    Attributes
    ----------
    estimate : sum of the means of all levels
    standard_error : statistical error of the estimate
    bias : estimated size of what the finest level lacks of the limit
    error : root of the sum of their squares, to be compared with the tolerance
    low, high : ends of the interval: the estimate, less or more the bias and the normal quantile
        times the standard error
    confidence : probability with which the interval contains the true value, nearly
    tolerance : largest error that was asked for
    reached : whether the error is below the tolerance
    levels : from the coarsest step to the finest
    path_steps : coarse steps computed, of all paths and levels, those of pilot runs included
    corrected : whether peaks have the correction of `rode.peak_correction`
    """

    estimate: float
    standard_error: float
    bias: float
    error: float
    low: float
    high: float
    confidence: float
    tolerance: float
    reached: bool
    levels: tuple[Level, ...]
    path_steps: int
    corrected: bool

    def __repr__(self) -> str:
        says = "reached" if self.reached else "not reached"
        lines = [
            f"Expectation({self.estimate:.8g}, error {self.error:.2g}: standard error "
            f"{self.standard_error:.2g} and bias {self.bias:.2g}; tolerance {self.tolerance:.2g} "
            f"{says}; {self.path_steps:.3g} path steps)",
            f"{'h':>12}{'paths':>12}{'mean':>14}{'variance':>12}{'path steps':>12}",
        ]
        lines += [
            f"{one.h:>12.5g}{one.paths:>12}{one.mean:>14.6g}{one.variance:>12.4g}"
            f"{one.path_steps:>12.3g}"
            for one in self.levels
        ]
        return "\n".join(lines)


def expectation(
    problem: Problem,
    method: str,
    functional: str | Functional,
    *,
    t_span: Sequence[float],
    tolerance: float,
    relative: bool = False,
    output: str | None = None,
    h: float | None = None,
    confidence: float = 0.95,
    max_path_steps: float = 1e11,
    rng: Seed = None,
    device: Device | str | None = None,
) -> Expectation:
    """Estimate the expected value of a functional of an output to a tolerance.

    Multilevel Monte Carlo: many paths are solved by large steps, and few by steps h and 2 h, whose
    difference has a small variance because both solutions see the same path. The mean of each
    level has as many paths as its variance and cost ask for, and there are as many levels as the
    estimated bias does.

    Parameters
    ----------
    problem : rode.Problem that `rode.solve` takes with sampling="exact", with one set of parameters
    method, t_span : as for `rode.solve`
    functional : "end", the output at the end of t_span; "peaks", the largest |output|; or a
        `rode.Functional`, such as `rode.energy()`
        Peaks have the correction of `rode.peak_correction` where it is known.
    tolerance : largest root mean square error, in units of the functional
    relative : whether the tolerance is a fraction of the expected value
    output : name of the output; may be left out if there is only one
    h : largest coarse step, s; None: an eighth of t_span, or less as stability needs
        Larger steps whose solutions differ too much from finer ones to be of use are left out.
    confidence : of the interval
    max_path_steps : coarse steps of all paths at which to stop without the tolerance
    rng : None, int, SeedSequence or NumPy Generator
    device : the device that solves; by default a GPU for levels whose work is large

    Returns
    -------
    Expectation

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, the functional is infinite or NaN for a path, so that it has no
        mean, or the same for all of the first paths, so that its error is unknown, or an envelope
        is not linear within the largest coarse steps.

    References
    ----------
    Giles (2008), Multilevel Monte Carlo path simulation, Operations Research 56, 607; Giles (2015),
    Multilevel Monte Carlo methods, Acta Numerica 24, 259.
    """
    tolerance = validation.check_positive("tolerance", tolerance)
    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    budget = validation.check_positive("max_path_steps", max_path_steps)
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a rode.Problem, got {type(problem).__name__}")
    if problem.sets > 1:
        raise ValueError(f"problem must have one set of parameters, got {problem.sets}")
    index = problem.index_of(output)
    reduction = _reduction_of(functional)
    plan = _coarsest_plan(problem, method, t_span, h, rng)
    plan = replace(plan, problem=with_one_output(problem, index), reductions=(reduction,))
    shift = _shift_of(problem, index) if reduction is PEAKS else 0.0
    return _Run(plan, shift, device).result(tolerance, relative, confidence, budget)


def _reduction_of(functional: str | Functional) -> Reduction:
    """Return the reduction that computes a functional."""
    if isinstance(functional, Functional):
        return functional
    if not isinstance(functional, str):
        raise TypeError(
            "functional must be 'end', 'peaks' or a rode.Functional, got "
            f"{validation.describe(functional)}"
        )
    return {"end": PATHS, "peaks": PEAKS}[
        validation.check_choice("functional", functional, ("end", "peaks"))
    ]


def _coarsest_plan(
    problem: Problem, method: str, t_span: Sequence[float], h: float | None, rng: Seed
) -> Plan:
    """Return the plan of the coarsest step, checked."""
    if h is None:
        # A span that is no pair of times gets a step that is not used: the check says why.
        ends = tuple(t_span) if np.iterable(t_span) and not isinstance(t_span, str) else ()
        is_pair = len(ends) == 2 and all(isinstance(one, numbers.Real) for one in ends)
        span = float(ends[1] - ends[0]) if is_pair else 1.0
        steps = COARSEST_STEPS
        if problem.linear and (method in METHODS) and math.isfinite(span):
            reach = largest_step(problem, METHODS[method])
            while span / steps > reach:
                steps *= 2
        h = span / steps if span > 0.0 else 1.0
    plan = Plan.checked(
        problem, method, t_span=t_span, h=h, paths=1, sampling="exact", rng=rng, device="cpu"
    )
    if problem.excitation is not None:
        for envelope in problem.excitation.stepwise_envelopes:
            _require_linear_envelope(envelope, plan)
    return plan


def _require_linear_envelope(envelope: Envelope, plan: Plan) -> None:
    """Raise ValueError unless an envelope is linear in each of the largest coarse steps.

    Within a step of any level it is replaced by a line, so that levels would otherwise have
    different laws, and the sum of their differences no limit.
    """
    ends = plan.t0 + plan.h * np.arange(plan.steps + 1)
    times = plan.t0 + plan.h / 16 * np.arange(16 * plan.steps + 1)
    values = values_of(envelope, times)
    bend = np.abs(values - np.interp(times, ends, values[::16]))
    if bend.max() > 1e-9 * np.abs(values).max():
        raise ValueError(
            f"envelope must be linear within the largest coarse steps of h={plan.h:g}, but bends "
            f"near t={times[np.argmax(bend)]:g}: pass h= of which all its times are multiples, and "
            "an envelope that is a function as points (times, values)"
        )


def _shift_of(problem: Problem, index: int) -> float:
    """Return s of the correction s sqrt(h) of peaks; 0 where none is known."""
    if problem.excitation is not None:
        return 0.0
    try:
        return float(peak_correction(problem, 1.0)[index, 0])
    except ValueError:  # the output's slope in O varies
        return 0.0


class _Samples:
    """Samples of a level: numbers of paths, and sums of the differences and of their squares."""

    def __init__(self, plan: Plan, is_coarsest: bool) -> None:
        self.plan, self.is_coarsest = plan, is_coarsest
        self.count, self.mean, self.squares = 0, 0.0, 0.0

    @property
    def cost(self) -> float:
        """Coarse steps of a path."""
        return self.plan.steps if self.is_coarsest else 1.5 * self.plan.steps

    @property
    def variance(self) -> float:
        """Variance of a path's difference."""
        return self.squares / max(self.count - 1, 1)

    def add(self, values: np.ndarray) -> None:
        """Add differences (Chan, Golub and LeVeque 1983)."""
        total, change = self.count + values.size, float(values.mean()) - self.mean
        self.squares += float(((values - values.mean()) ** 2).sum())
        self.squares += change**2 * self.count * values.size / total
        self.mean += change * values.size / total
        self.count = total


class _Run:
    """Levels and their samples."""

    def __init__(self, plan: Plan, shift: float, device: Device | str | None) -> None:
        self.shift, self.device = shift, device
        self.next_path, self.path_steps = 0, 0.0
        self.levels: list[_Samples] = []
        self.begin(plan)

    def begin(self, plan: Plan) -> None:
        """Choose the coarsest step and take the pilot paths of three levels.

        A coarsest step is of use if it and the difference of the next one take less work, together,
        than the next one alone: its solutions may be too wrong for that, or infinite.
        """
        self.values(plan, 1)  # errors of compilation name the user's functions
        for _ in range(MAX_SKIPPED):
            finer = _finer(plan)
            values = self.values(paired(finer), PILOT_PATHS)
            if values is not None:
                fine, coarse = values.astype(float)
                work = math.sqrt(coarse.var()) + math.sqrt(3.0 * (fine - coarse).var())
                if work <= math.sqrt(2.0 * fine.var()):
                    break
            plan = finer
        else:
            raise ValueError(
                f"solutions by h={plan.h:g} and half of it differ as much as those of different "
                "paths: the functional does not converge, or needs a much smaller h"
            )
        self.levels = [_Samples(plan, True), _Samples(finer, False)]
        self.levels[1].add(fine - coarse)
        self.sample(0, PILOT_PATHS)
        self.extend()
        if not any(one.variance for one in self.levels) and not any(self.means[1:]):
            seen = sum(one.count for one in self.levels)
            raise ValueError(
                f"the functional is {self.levels[0].mean:g} for all of {seen} paths: it is "
                "constant, or other values are too rare to estimate their share; probabilities of "
                "rare large values are those of rode.rare_event"
            )

    def extend(self) -> None:
        """Add a level and take its pilot paths."""
        self.levels.append(_Samples(_finer(self.levels[-1].plan), False))
        self.sample(len(self.levels) - 1, PILOT_PATHS)

    def sample(self, k: int, count: int) -> None:
        """Add samples of a level."""
        level = self.levels[k]
        plan = level.plan if level.is_coarsest else paired(level.plan)
        while count > 0:
            taken = min(count, self.largest(plan))
            values = self.values(plan, taken)
            if values is None:
                raise ValueError(
                    f"a path is infinite or NaN by h={level.plan.h:g}: pass a smaller h"
                )
            level.add(values[0] if level.is_coarsest else values[0] - values[1])
            count -= taken

    def largest(self, plan: Plan) -> int:
        """Return the largest number of paths of a run."""
        if (excitation := plan.problem.excitation) is None:
            return MAX_PATHS
        numbers = excitation.numbers_of_path(plan.steps, plan.scheme.form_count)
        return min(MAX_PATHS, max(PILOT_PATHS, MAX_NUMBERS // max(numbers, 1)))

    def values(self, plan: Plan, count: int) -> np.ndarray | None:
        """Return functionals of new paths, (1 or 2, paths), or None if a path is not finite."""
        if self.next_path + count > 1 << 32:
            raise ValueError("the tolerance takes more than 2^32 paths: use a larger one")
        first, work = self.next_path, count * plan.steps
        self.next_path += count
        self.path_steps += work * (1.5 if len(plan.problem.outputs) > 1 else 1)
        plan = replace(
            plan,
            paths=count,
            first_path=first,
            whole=range(first, first + count),
            save_every=plan.steps,
            device=resolve(self.device, work=work, break_even=BREAK_EVEN),
        )
        outcome = run(plan)
        values = outcome.states[0][plan.reductions[0].name]
        values = values[-1] if plan.reductions[0] is PATHS else values
        if outcome.failures:
            return None
        if unknown := int(np.count_nonzero(~np.isfinite(values).all(axis=0))):
            raise ValueError(
                f"the functional is infinite or NaN for {unknown} of {count} paths, which are "
                "finite: it has no mean"
            )
        return values

    def result(
        self, tolerance: float, relative: bool, confidence: float, budget: float
    ) -> Expectation:
        """Sample until the estimated error is below the tolerance, and return the result."""
        while True:
            goal = tolerance * (abs(self.estimate) if relative else 1.0)
            more = self.missing((1.0 - BIAS_SHARE) * goal * goal)
            work = sum(n * one.cost for n, one in zip(more, self.levels, strict=True))
            if self.path_steps + work > budget:
                break
            for k, count in enumerate(more):
                self.sample(k, count)
            if any(n > 0.01 * one.count for n, one in zip(more, self.levels, strict=True)):
                continue
            if self.bias <= math.sqrt(BIAS_SHARE) * goal:
                break
            finest = self.levels[-1].plan
            too_fine = len(self.levels) > MAX_LEVELS or 2 * finest.steps >= MAX_STEPS
            if too_fine or self.path_steps + 3 * PILOT_PATHS * finest.steps > budget:
                break
            self.extend()
        return self.summary(goal, confidence)

    @property
    def means(self) -> list[float]:
        """Means of the levels, with the correction of peaks."""
        roots = [self.shift * math.sqrt(one.plan.h) for one in self.levels]
        before = [0.0, *roots[:-1]]
        return [one.mean + c - b for one, c, b in zip(self.levels, roots, before, strict=True)]

    @property
    def estimate(self) -> float:
        """Sum of the means."""
        return math.fsum(self.means)

    @property
    def bias(self) -> float:
        """Estimated |bias|: the rest of a geometric series of the differences.

        Its ratio is that of the last differences, within the orders that schemes have.
        """
        # Where no path of a level differs, one more might have.
        least = math.sqrt(self.levels[0].variance)
        sizes = [
            abs(mean) or least / one.count
            for mean, one in zip(self.means[1:], self.levels[1:], strict=True)
        ]
        order = float(self.levels[0].plan.scheme.order)
        rate = _rate_of(sizes, min(MIN_RATE, order), order)
        return max(sizes[-1], sizes[-2] / 2.0**rate) / (2.0**rate - 1.0)

    def missing(self, variance: float) -> list[int]:
        """Return how many samples each level lacks for a variance of the estimate.

        Variances of few paths, most of which may not differ, are not believed if they are far below
        those of the level before.
        """
        variances = [one.variance for one in self.levels]
        order = self.levels[0].plan.scheme.order
        rate = _rate_of(variances[1:], MIN_RATE, 2.0 * order)
        # Coarsest solutions that are equal may be so in these few paths only.
        variances[0] = variances[0] or variances[1]
        for k in range(1, len(variances)):
            least = variances[0] / self.levels[k].count if variances[k] == 0.0 else 0.0
            if k > 1:
                least = max(least, 0.5 * variances[k - 1] / 2.0**rate)
            variances[k] = max(variances[k], least)
        costs = [one.cost for one in self.levels]
        total = sum(math.sqrt(v * c) for v, c in zip(variances, costs, strict=True))
        least = max(variance, 1e-300)
        return [
            max(0, math.ceil(min(total * math.sqrt(v / c) / least, 2.0**62)) - one.count)
            for one, v, c in zip(self.levels, variances, costs, strict=True)
        ]

    def summary(self, goal: float, confidence: float) -> Expectation:
        """Return the result."""
        from scipy.stats import norm

        estimate, bias = self.estimate, self.bias
        deviation = math.sqrt(sum(one.variance / one.count for one in self.levels))
        half = float(norm.ppf(0.5 + 0.5 * confidence)) * deviation + bias
        levels = [
            Level(one.plan.h, one.count, mean, one.variance, round(one.count * one.cost))
            for one, mean in zip(self.levels, self.means, strict=True)
        ]
        error = math.hypot(deviation, bias)
        return Expectation(
            estimate=estimate,
            standard_error=deviation,
            bias=bias,
            error=error,
            low=estimate - half,
            high=estimate + half,
            confidence=confidence,
            tolerance=goal,
            reached=error <= goal,
            levels=tuple(levels),
            path_steps=round(self.path_steps),
            corrected=self.shift > 0.0,
        )


def _finer(plan: Plan) -> Plan:
    """Return the plan with half of the coarse step."""
    return replace(plan, h=0.5 * plan.h, steps=2 * plan.steps)


def _rate_of(sizes: Sequence[float], low: float, high: float) -> float:
    """Return the mean rate, within bounds, at which logarithms to base 2 of sizes fall."""
    logarithms = [math.log2(one) for one in sizes if one > 0.0]
    if len(logarithms) < 2 or len(logarithms) < len(sizes):
        return low
    slope = -float(np.polyfit(np.arange(len(logarithms)), logarithms, 1)[0])
    return min(max(slope, low), high)
