"""Means of a series that is correlated in time, with their statistical errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FEWEST_BLOCKS = 8
"""Blocks of which the scatter of a mean is computed at least: with 8 the error is known to 25 %."""

TREND = 3.0
"""Standard errors by which a straight line may rise before it counts as a trend."""

STEADY = 0.01
"""Share of the mean that a trend may have: what is less does not matter to anyone."""


@dataclass(frozen=True)
class Estimate:
    """A mean over time.

    Attributes
    ----------
    value : the mean
    error : its standard error, from the scatter of blocks that are longer than what is correlated
    settled : whether no trend is left that is larger than the error and 1 % of the scale
    """

    value: float
    error: float
    settled: bool

    def __str__(self) -> str:
        note = "" if self.settled else " (not settled)"
        return f"{self.value:.4g} +- {self.error:.2g}{note}"

    def scaled(self, factor: float) -> Estimate:
        """Return the estimate of a multiple."""
        return Estimate(self.value * factor, self.error * abs(factor), self.settled)


def estimate_mean(series: np.ndarray, scale: float = 0.0) -> Estimate:
    """Return the mean of a series, which was sampled at equal distances in time.

    The error is the largest that blocks of 1, 2, 4, ... samples give (Flyvbjerg and Petersen 1989).
    `scale` is a size beside which a trend may be small, by default the mean itself.
    """
    values, count = np.asarray(series, float), len(series)
    if count < 2 * FEWEST_BLOCKS:
        return Estimate(float(values.mean()) if count else np.nan, np.inf, False)
    time = np.linspace(-0.5, 0.5, count)
    trend = 12.0 * float(np.mean(time * values))
    error = _error_of(values)
    scatter = _error_of(values - trend * time)
    allowed = max(TREND * np.sqrt(12.0) * scatter, STEADY * max(abs(values.mean()), scale))
    return Estimate(float(values.mean()), float(error), bool(abs(trend) <= allowed))


def estimate_forces(coefficients: np.ndarray) -> tuple[Estimate, Estimate, Estimate]:
    """Return the means of forces [sample, (x, y, z)]; `scale` is the largest of them."""
    size = float(np.abs(coefficients.mean(axis=0)).max()) if len(coefficients) else 0.0
    x, y, z = (estimate_mean(c, size) for c in coefficients.T)
    return x, y, z


def average_pairs(rows: np.ndarray) -> np.ndarray:
    """Return the means of samples 0 and 1, 2 and 3, ...

    At small viscosities forces alternate from step to step. Samples that are an odd number of steps
    apart then alternate, too, and their means do not.
    """
    count = len(rows) // 2
    return rows[: 2 * count].reshape(count, 2, *rows.shape[1:]).mean(axis=1)


def _error_of(values: np.ndarray) -> float:
    """Return the standard error of a mean."""
    error, size = 0.0, 1
    while len(values) // size >= FEWEST_BLOCKS:
        blocks = len(values) // size
        means = values[-blocks * size :].reshape(blocks, size).mean(axis=1)
        error = max(error, float(means.std(ddof=1)) / np.sqrt(blocks))
        size *= 2
    return error
