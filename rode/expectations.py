"""Expected values to a tolerance, by multilevel Monte Carlo."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hetero import validation
from hetero.equality import equal_by_value
from rode._estimators.control_variates import means_of_controls
from rode._estimators.multilevel import Multilevel
from rode._estimators.pairs import with_one_output
from rode._solver.plan import Plan, check_span, make_plan
from rode._solver.reductions.functional import Functional
from rode._solver.reductions.paths import PATHS
from rode._solver.reductions.peaks import PEAKS
from rode._solver.reductions.reduction import Reduction
from rode._solver.schemes import find_scheme
from rode._solver.schemes.stability import largest_step
from rode.excitations.excitation import Envelope, values_of
from rode.problems.peak_correction import peak_correction
from rode.problems.problem import Problem

if TYPE_CHECKING:
    from hetero.devices import Device
    from rode.normals import Seed

COARSEST_STEPS = 8
"""Coarse steps of the span at the coarsest level, if the caller does not say; not tuned."""


@equal_by_value
@dataclass(frozen=True, eq=False)
class Level:
    """Level of an expectation: a difference of two steps, or the coarsest step alone.

    Attributes
    ----------
    h : coarse step of the finer solution, s; that of the coarser one is 2 h
    paths : number of paths
    mean : mean of the differences, or at the coarsest level of the functional
    variance : variance of a path's difference; at the coarsest level without what the powers of a
        Gaussian output explain
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
    needed_path_steps : estimate of those that the tolerance takes, or `path_steps` if it is reached
        More levels may add to it.
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
    needed_path_steps: int
    corrected: bool

    def __repr__(self) -> str:
        says = "reached" if self.reached else "not reached"
        lines = [
            f"Expectation({self.estimate:.8g}, error {self.error:.2g}: standard error "
            f"{self.standard_error:.2g} and bias {self.bias:.2g}; tolerance {self.tolerance:.2g} "
            f"{says}; {self.path_steps:.3g} path steps of {self.needed_path_steps:.3g})",
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
    estimated bias does. For peaks of a linear problem the coarsest level has control variates: the
    sums of the squares and of the fourth powers of the output, whose means are known.

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
    max_path_steps : largest number of coarse steps of all paths
        If the tolerance takes more, sampling ends at once, mostly after the first paths. `reached`
        is False then, and a UserWarning says how many steps the tolerance takes.
    rng : None, int, SeedSequence or NumPy Generator
    device : the device that solves; by default a GPU for levels whose work is large

    Returns
    -------
    Expectation

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, the functional is infinite or NaN for a path, so that it has no
        mean, or the same for all of the first paths, so that its error is unknown, an envelope is
        not linear within the largest coarse steps, or max_path_steps is too small for the first
        paths of all levels.

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

    def means(plan: Plan) -> np.ndarray:
        if reduction is not PEAKS:
            return np.zeros(0)
        return means_of_controls(replace(plan, problem=problem), index)

    run = Multilevel(plan, shift, device, budget, means)
    goal = run.reach(tolerance, relative)
    result = _result_of(run, goal, confidence)
    if not result.reached:
        needed = result.needed_path_steps
        warnings.warn(
            f"the error is {result.error:.2g}, larger than the tolerance of {goal:.2g}: "
            + (
                f"that takes {needed:.2g} path steps or more, and max_path_steps={budget:g}; pass "
                "more of them or a larger tolerance"
                if needed > budget
                else f"steps shorter than h={result.levels[-1].h:g} cannot be used"
            ),
            UserWarning,
            stacklevel=2,
        )
    return result


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
        t0, t1 = check_span(t_span)
        steps = COARSEST_STEPS
        if problem.linear:
            reach = largest_step(problem, find_scheme(method))
            while (t1 - t0) / steps > reach:
                steps *= 2
        h = (t1 - t0) / steps
    plan = make_plan(
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
    try:
        return float(peak_correction(problem, 1.0, output=problem.outputs[index])[0, 0])
    except ValueError:  # the output's slope in O varies, or its noise has an envelope
        return 0.0


def _result_of(run: Multilevel, goal: float, confidence: float) -> Expectation:
    """Return the result of all levels."""
    from scipy.stats import norm

    estimate, bias = run.estimate, run.bias
    deviation = math.sqrt(sum(one.variance / one.count for one in run.levels))
    half = float(norm.ppf(0.5 + 0.5 * confidence)) * deviation + bias
    levels = [
        Level(one.plan.h, one.count, mean, one.variance, round(one.count * one.cost))
        for one, mean in zip(run.levels, run.means, strict=True)
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
        path_steps=round(run.path_steps),
        needed_path_steps=round(run.path_steps if error <= goal else run.needed),
        corrected=run.shift > 0.0,
    )
