"""Paths of an excitation from normal numbers that the caller holds, for the solver to take."""

from __future__ import annotations

import dataclasses

import numpy as np

from rode._estimators.level_runs import run_finite
from rode._solver.excited import describe
from rode._solver.plan import Plan
from rode._solver.reductions.paths import PATHS
from rode._solver.reductions.peaks import PEAKS
from rode._solver.reductions.reduction import Reduction
from rode.excitations.excitation import Excitation
from rode.excitations.ou import OU

MAX_NUMBERS = 1 << 24
"""Largest number of integrals in memory, so that these take 128 MB; not tuned."""


class GivenPaths(Excitation):
    """Excitation whose values and integrals are those of an array, see `Excitation.integrals`."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.envelope = values, None

    @property
    def components(self) -> int:
        """Number of components."""
        return int(self.values.shape[1])

    def integrals(self, t0: float, h: float, steps: int, degree: int) -> np.ndarray:
        """Return the array."""
        return self.values

    def numbers_of_path(self, steps: int, forms: int) -> int:
        """Return how many numbers the array has for a path."""
        return steps * self.components * (forms + 2)


class GivenNoise:
    """Solution of a plan's problem as a function of independent standard normal numbers.

    The law of the paths is that of `rode.solve` with sampling="exact": the numbers stand for those
    that its loops draw, and make the same integrals over the coarse steps.

    Attributes
    ----------
    numbers : how many normal numbers a path takes
    """

    def __init__(self, plan: Plan, output: int) -> None:
        self.plan, self.output = plan, output
        problem, process, forms = plan.problem, plan.problem.process, plan.scheme.form_count
        excitation = problem.excitation or OU(process.tau, process.c)
        shape, arrays = describe(excitation, problem.dimension, plan.t0, plan.h, plan.steps, forms)
        if problem.excitation is None and problem.start_process is not None:
            arrays = arrays._replace(starting=np.array([[problem.start_process, 0.0]]))
        # Integrals that no form uses are left out. A changing envelope takes one more.
        rows = plan.scheme.forms(plan.h, plan.fine_steps)
        needed = int(np.max(np.flatnonzero(rows[:, 2:].any(axis=0)), initial=-1)) + 1
        self.bends = bool(np.any(np.diff(arrays.envelopes, axis=0)))
        self.states, self.targets = shape.states, len(shape.targets)
        keep = self.states + self.targets * (needed + self.bends)
        drawing = arrays.drawing[:keep]
        used = drawing[:, self.states :].any(axis=0)
        self.carry, self.spread = drawing[:, : self.states], drawing[:, self.states :][:, used]
        self.arrays = arrays
        self.length = forms + 2
        # Outputs of filters are added to their components.
        self.gather = np.eye(shape.components)[:, list(shape.targets)]
        self.numbers = self.states + plan.steps * self.spread.shape[1]

    def peaks(self, numbers: np.ndarray) -> np.ndarray:
        """Return the largest |output| of each path, for `numbers` (numbers of a path, ...)."""
        return self._reduced(numbers, PEAKS, self.plan.steps)[0]

    def outputs(self, numbers: np.ndarray) -> np.ndarray:
        """Return the output at all coarse steps, (times, ...), for (numbers of a path, ...)."""
        return self._reduced(numbers, PATHS, 1)

    def _reduced(self, numbers: np.ndarray, reduction: Reduction, save_every: int) -> np.ndarray:
        """Return what a reduction keeps of the output, for (numbers of a path, ...)."""
        flat = numbers.reshape(self.numbers, -1)
        size = max(1, MAX_NUMBERS // (self.plan.steps * self.length * len(self.gather)))
        parts = []
        for low in range(0, flat.shape[1], size):
            part = flat[:, low : low + size]
            paths = part.shape[1]
            plan = dataclasses.replace(
                self.plan,
                problem=dataclasses.replace(
                    self.plan.problem, excitation=GivenPaths(self._integrals(part))
                ),
                paths=paths,
                whole=range(paths),
                save_every=save_every,
                reductions=(reduction,),
            )
            states = run_finite(plan).states[0][reduction.name]
            parts.append(np.asarray(states[..., self.output, :], dtype=float).reshape(-1, paths))
        return np.hstack(parts).reshape(-1, *numbers.shape[1:])

    def _integrals(self, numbers: np.ndarray) -> np.ndarray:
        """Return u at both ends of each coarse step and J_0, J_1, .. as `GivenPaths` has them.

        It does for all paths what `excited_formulas.make_excited_step` does for one.
        """
        plan, arrays, states = self.plan, self.arrays, self.states
        paths = numbers.shape[1]
        values = np.zeros((plan.steps, len(self.gather), self.length, paths))
        noise = numbers[states:].reshape(plan.steps, self.spread.shape[1], paths)
        s = arrays.starting[:, :1] + arrays.starting[:, 1:] @ numbers[:states]
        for n in range(plan.steps):
            after = self.carry @ s + self.spread @ noise[n]
            values[n] = self.integrals_of_step(n, s, after)
            s = after[:states]
        # What is not random, as a recorded motion, is added.
        return values + arrays.given if arrays.given.shape[2] > 1 else values

    def integrals_of_step(self, n: int, s: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return u at both ends of a step and J_0, J_1, .., (components, K + 2, columns).

        They are linear in the states s of the filters at its start, (states, columns), and in the
        states and integrals `after` it.
        """
        envelopes, outputs, h = self.arrays.envelopes, self.arrays.outputs, self.plan.h
        begin, end = envelopes[n][:, None], envelopes[n + 1][:, None]
        sums = after[self.states :].reshape(-1, self.targets, s.shape[1])
        values = np.zeros((len(self.gather), self.length, s.shape[1]))
        values[:, 0] = self.gather @ (begin * (outputs @ s))
        values[:, 1] = self.gather @ (end * (outputs @ after[: self.states]))
        for d in range(len(sums) - self.bends):
            changed = begin * sums[d]
            if self.bends:
                changed = changed + (end - begin) / h * (h * sums[d] - (d + 1) * sums[d + 1])
            values[:, 2 + d] = self.gather @ changed
        return values
