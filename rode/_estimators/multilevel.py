"""Levels of multilevel Monte Carlo: their samples, and how many of them an error asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hetero.devices import resolve
from rode._estimators.control_variates import CONTROLS
from rode._estimators.pairs import paired
from rode._solver.plan import BREAK_EVEN, MAX_STEPS, Plan
from rode._solver.reductions.paths import PATHS
from rode._solver.runner import run

if TYPE_CHECKING:
    from hetero.devices import Device

PILOT_PATHS = 500
"""Paths with which the variances of the first three levels are estimated first: the relative error
is 6 % if the differences are normal, and more where few paths differ."""

MIN_PILOT_PATHS = 100
"""Smallest number of the first paths of finer levels, whose variances the others foretell."""

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

CORRECTED_RATE = 1.0
"""Order of what the correction of peaks leaves: the expansion of the largest value at whole steps
goes on with h (Janssen and van Leeuwaarden 2009, for a Brownian path with a drift)."""


class Samples:
    """Samples of a level: numbers of paths, means, and sums of products of deviations.

    The first row is that of the differences, the others those of control variates, whose means
    `expected` are known. The mean is that of the regression on them.
    """

    def __init__(self, plan: Plan, is_coarsest: bool, expected: np.ndarray | None = None) -> None:
        self.plan, self.is_coarsest = plan, is_coarsest
        self.expected = np.zeros(0) if expected is None else expected
        size = 1 + self.expected.size
        self.count, self.means, self.products = 0, np.zeros(size), np.zeros((size, size))

    @property
    def cost(self) -> float:
        """Coarse steps of a path."""
        return self.plan.steps if self.is_coarsest else 1.5 * self.plan.steps

    @property
    def mean(self) -> float:
        """Mean of the differences."""
        return float(self.means[0] - self.slopes() @ (self.means[1:] - self.expected))

    @property
    def variance(self) -> float:
        """Variance of a path's difference, without what control variates explain."""
        unexplained = self.products[0, 0] - self.slopes() @ self.products[1:, 0]
        return max(float(unexplained), 0.0) / max(self.count - self.means.size, 1)

    def slopes(self) -> np.ndarray:
        """Return the coefficients of the control variates."""
        if not self.expected.size:
            return self.expected
        size = np.sqrt(np.diag(self.products)[1:])
        size[size == 0.0] = 1.0
        inverse = np.linalg.pinv(self.products[1:, 1:] / np.outer(size, size))
        return inverse @ (self.products[1:, 0] / size) / size

    def add(self, values: np.ndarray) -> None:
        """Add differences and controls, (rows, paths) (Chan, Golub and LeVeque 1983)."""
        count, mean = values.shape[1], values.mean(axis=1)
        deviations, change = values - mean[:, None], mean - self.means
        total = self.count + count
        between = np.outer(change, change) * (self.count * count / total)
        self.products += deviations @ deviations.T + between
        self.means += change * (count / total)
        self.count = total


class Multilevel:
    """Levels and their samples.

    Attributes
    ----------
    shift : s of the correction s sqrt(h) of peaks
    device : the device that solves; None: a GPU for levels whose work is large
    budget : largest number of coarse steps of all paths
    means_of_controls : the means of `CONTROLS` for a plan, an empty array if they are not known
    levels : samples from the coarsest step to the finest
    next_path, path_steps : number of the next path, and how many coarse steps were computed
    needed : estimated coarse steps that the error asks for, of the levels that there are
    """

    def __init__(
        self,
        plan: Plan,
        shift: float,
        device: Device | str | None,
        budget: float,
        means_of_controls: Callable[[Plan], np.ndarray],
    ) -> None:
        self.shift, self.device, self.budget = shift, device, budget
        self.means_of_controls = means_of_controls
        self.next_path, self.path_steps, self.needed = 0, 0.0, 0.0
        self.levels: list[Samples] = []
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
        if (expected := self.means_of_controls(plan)).size:
            plan = replace(plan, reductions=(*plan.reductions, *CONTROLS))
        self.levels = [Samples(plan, True, expected), Samples(finer, False)]
        self.levels[1].add((fine - coarse)[None])
        self.sample(0, PILOT_PATHS)
        self.extend(PILOT_PATHS)
        if not any(one.variance for one in self.levels) and not any(self.means[1:]):
            paths = sum(one.count for one in self.levels)
            raise ValueError(
                f"the functional is {self.levels[0].mean:g} for all of {paths} paths: it is "
                "constant, or other values are too rare to estimate their share; probabilities of "
                "rare large values are those of rode.rare_event"
            )

    def extend(self, count: int) -> None:
        """Add a level and take its pilot paths."""
        self.levels.append(Samples(_finer(self.levels[-1].plan), False))
        self.sample(len(self.levels) - 1, count)

    def sample(self, k: int, count: int) -> None:
        """Add samples of a level."""
        level = self.levels[k]
        plan = level.plan if level.is_coarsest else paired(level.plan)
        while count > 0:
            size = min(count, self.largest(plan))
            values = self.values(plan, size)
            if values is None:
                raise ValueError(
                    f"a path is infinite or NaN by h={level.plan.h:g}: pass a smaller h"
                )
            values = values.astype(float)
            level.add(values if level.is_coarsest else values[:1] - values[1:])
            count -= size

    def largest(self, plan: Plan) -> int:
        """Return the largest number of paths of a run."""
        if (excitation := plan.problem.excitation) is None:
            return MAX_PATHS
        numbers = excitation.numbers_of_path(plan.steps, plan.scheme.form_count)
        return min(MAX_PATHS, max(PILOT_PATHS, MAX_NUMBERS // max(numbers, 1)))

    def values(self, plan: Plan, count: int) -> np.ndarray | None:
        """Return functionals of new paths, or None if a path is not finite.

        The array, (rows, paths), has those of both steps of a pair, or the functional and controls.
        """
        if self.next_path + count > 1 << 32:
            raise ValueError("the tolerance takes more than 2^32 paths: use a larger one")
        first, work = self.next_path, count * plan.steps
        cost = work * (1.5 if len(plan.problem.outputs) > 1 else 1.0)
        if self.path_steps + cost > self.budget:
            raise ValueError(
                f"max_path_steps={self.budget:g} does not suffice for the first {count} paths by "
                f"h={plan.h:g}: pass at least {self.path_steps + cost:.3g} of them, or a larger h"
            )
        self.next_path += count
        self.path_steps += cost
        plan = replace(
            plan,
            paths=count,
            first_path=first,
            whole=range(first, first + count),
            save_every=plan.steps,
            device=resolve(self.device, work=work, break_even=BREAK_EVEN),
        )
        outcome = run(plan)
        arrays = [
            state[one.name][-1] if one is PATHS else state[one.name]
            for one, state in zip(plan.reductions, outcome.states, strict=True)
        ]
        values = np.concatenate(arrays)
        if any(outcome.failures):
            return None
        if unknown := int(np.count_nonzero(~np.isfinite(values).all(axis=0))):
            raise ValueError(
                f"the functional is infinite or NaN for {unknown} of {count} paths, which are "
                "finite: it has no mean"
            )
        return values

    def reach(self, tolerance: float, relative: bool) -> float:
        """Sample until the error is below the tolerance, or what is left exceeds the budget.

        Return the largest error that was asked for.
        """
        while True:
            goal = tolerance * (abs(self.estimate) if relative else 1.0)
            missing = self.missing((1.0 - BIAS_SHARE) * goal * goal)
            work = sum(n * one.cost for n, one in zip(missing, self.levels, strict=True))
            self.needed = self.path_steps + work
            if self.needed > self.budget:
                return goal
            for k, count in enumerate(missing):
                self.sample(k, count)
            if any(n > 0.01 * one.count for n, one in zip(missing, self.levels, strict=True)):
                continue
            finest = self.levels[-1]
            too_fine = len(self.levels) > MAX_LEVELS or 2 * finest.plan.steps >= MAX_STEPS
            # Variances fall and costs rise, so that each level needs less than half of the paths.
            count = min(PILOT_PATHS, max(MIN_PILOT_PATHS, finest.count // 2))
            if self.bias <= math.sqrt(BIAS_SHARE) * goal or too_fine:
                return goal
            self.needed = self.path_steps + 3 * count * finest.plan.steps
            if self.needed > self.budget:
                return goal
            self.extend(count)

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
        if self.shift > 0.0:
            rate = min(CORRECTED_RATE, order)
        else:
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
