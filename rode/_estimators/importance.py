"""Importance sampling for linear problems: paths that exceed the threshold at a chosen time.

The output of a linear problem at coarse step n is m_n + M_n z with normal numbers z. An event, that
it lies above the threshold at a step, or below its negative, is drawn with a probability in
proportion to its own, and then z given this event. The sum of the probabilities of all events over
the number of those that occur has the mean P(any of them) (Au and Beck 2001, Probabilistic
Engineering Mechanics 16, 193).
"""

from __future__ import annotations

import numpy as np

from hetero.devices import CPU
from rode._estimators.given_noise import GivenNoise
from rode._estimators.level_runs import LevelRun
from rode._solver.memory_forecast import require_free
from rode._solver.plan import Plan

CHECKED = 10
"""Numbers of paths, drawn and not, that the solver computes for a comparison; not tuned."""

TOLERANCE = 1e-8
"""Largest distance of an output from a linear function, over its size; not tuned."""

REMEDIES = ("use a larger h", "use algorithm='splitting'")


class ImportanceSampling:
    """Independent runs for one output of a linear problem.

    Attributes
    ----------
    means, matrix : m and M, (times,) and (times, numbers)
    directions : rows of M over their lengths
    probabilities : (2, times), of events above the threshold and below its negative
    path_steps : coarse steps of the paths from which m and M follow
    """

    def __init__(
        self, plan: Plan, output: int, threshold: float, choices: np.random.Generator
    ) -> None:
        from scipy.special import ndtr

        self.noise, self.steps = GivenNoise(plan, output), plan.steps
        self.threshold, self.rng = threshold, choices
        size = self.noise.numbers
        subject = f"importance sampling with {size} numbers of a path and {plan.steps} steps"
        require_free(CPU, 8 * 3 * size * (plan.steps + 1), subject, REMEDIES)
        values = self.noise.outputs(np.eye(size, size + 1))
        self.means, self.matrix = values[:, -1], values[:, :-1] - values[:, -1:]
        self.path_steps = (size + 1 + 2 * CHECKED) * plan.steps
        spread = np.linalg.norm(self.matrix, axis=1)
        self.directions = self.matrix / np.where(spread > 0.0, spread, 1.0)[:, None]
        gaps = threshold - np.stack([self.means, -self.means])
        with np.errstate(divide="ignore", invalid="ignore"):
            certain = np.where(gaps < 0.0, 1.0, 0.0)
            self.probabilities = np.where(spread > 0.0, ndtr(-gaps / spread), certain)
        self.total = float(self.probabilities.sum())
        self._require_linear()

    def begin(self, paths: int) -> None:
        """Give the next runs another number of paths, if the memory suffices."""
        need = 8 * paths * (3 * self.noise.numbers + 2 * self.means.size)
        subject = f"importance sampling of {paths} paths with {self.noise.numbers} numbers"
        require_free(CPU, need, subject, ("use fewer paths", *REMEDIES))
        self.paths = paths

    def runs(self, count: int) -> list[LevelRun]:
        """Return independent runs."""
        return [self._run() for _ in range(count)]

    def _run(self) -> LevelRun:
        """Return one run; its estimate is the mean over its paths."""
        run = LevelRun([self.threshold], [self.paths], path_steps=self.paths * self.steps)
        if self.total == 0.0:
            run.survivors, run.probability = [0], 0.0
            return run
        y = self._linear(self._draw(self.paths))
        occur = (y > self.threshold).sum(axis=0) + (y < -self.threshold).sum(axis=0)
        # The event that was drawn may miss the threshold by a rounding.
        run.probability = float(np.mean(self.total / np.maximum(occur, 1)))
        return run

    def _draw(self, count: int) -> np.ndarray:
        """Return numbers of paths given an event, (numbers, count)."""
        from scipy.special import ndtri

        flat = self.probabilities.ravel()
        events = self.rng.choice(flat.size, count, p=flat / self.total)
        below, time = np.divmod(events, self.means.size)
        along = -ndtri((1.0 - self.rng.random(count)) * flat[events])
        numbers = self.rng.standard_normal((self.noise.numbers, count))
        direction = self.directions[time].T
        change = np.where(below, -along, along) - np.einsum("ij,ij->j", direction, numbers)
        return numbers + change * direction

    def _linear(self, numbers: np.ndarray) -> np.ndarray:
        """Return m + M z, (times, paths)."""
        return self.means[:, None] + self.matrix @ numbers

    def _require_linear(self) -> None:
        """Raise ValueError unless the solver's outputs of some paths are m + M z."""
        numbers = self.rng.standard_normal((self.noise.numbers, CHECKED))
        if self.total > 0.0:
            numbers = np.hstack([numbers, self._draw(CHECKED)])
        exact, linear = self.noise.outputs(numbers), self._linear(numbers)
        if not np.abs(exact - linear).max() <= TOLERANCE * np.abs(exact).max():
            raise ValueError(
                "algorithm='importance' needs an output that is a linear function of the noise: "
                "use 'subset' or 'splitting'"
            )
