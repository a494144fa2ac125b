"""Exact likelihood of an Ornstein-Uhlenbeck process for samples at any times."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

NO_CORRELATION, NO_RETURN = 0.05, 1e3
"""Relaxation times, in shortest steps and in lengths of the data, beyond which the data do not tell
one from another: neighbours have a correlation of exp(-20), or the process does not return."""

GRID = 40
"""Number of relaxation times at which the likelihood is compared before its maximum is searched."""

_DIFFERENCE = 1e-3  # step of second differences, in logarithms of tau and c: errors of 1e-6


@dataclass(frozen=True, eq=False)
class ProcessLikelihood:
    """Exact likelihood of steps from `before` to `after`, and of samples that begin a series.

    Samples are less a number `shift` near them, against the loss of digits.
    """

    before: np.ndarray
    after: np.ndarray
    gaps: np.ndarray
    first: np.ndarray
    mean: float | None
    shift: float

    @property
    def size(self) -> int:
        """Number of terms."""
        return self.after.size + self.first.size

    @functools.cached_property
    def range_of_tau(self) -> tuple[float, float]:
        """Ends of the search for tau, beyond those at which data are refused."""
        low, high = 0.5 * NO_CORRELATION * self.gaps.min(), NO_RETURN * self.gaps.sum()
        return float(low), float(high)

    @functools.cached_property
    def sums(self) -> tuple[np.ndarray, ...]:
        """Different gaps, and for each the sums of 1, b, b^2, d, d b and d^2 over its steps.

        b is the sample before a step, d the difference. Gaps that differ by less than 1e-10 of
        themselves, as those of equal steps do by rounding, are one.
        """
        logs, index = np.unique(np.round(np.log(self.gaps), 10), return_inverse=True)
        b, d = self.before, self.after - self.before
        terms = np.ones(b.size), b, b * b, d, d * b, d * d
        return np.exp(logs), *(np.bincount(index, term) for term in terms)

    def squares(self, tau: float, m: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of squares of what steps of each gap add to a process of mean m, and
        the variance of such a step over the stationary one."""
        gaps, n, b, bb, d, db, dd = self.sums
        loss = -np.expm1(-gaps / tau)
        added = dd + 2.0 * loss * (db - m * d) + loss**2 * (bb - 2.0 * m * b + m * m * n)
        return np.maximum(added, 0.0), loss * (2.0 - loss)

    def moments_at(self, tau: float, fixed: dict[str, float]) -> tuple[float, float]:
        """Return the most likely mean and stationary variance for one tau."""
        gaps, n, b, _, d, _, _ = self.sums
        mean = fixed.get("mean", self.mean)
        if mean is None:
            loss = -np.expm1(-gaps / tau)
            weight = float(np.sum(n * loss / (2.0 - loss))) + self.first.size
            total = float(np.sum((d + loss * b) / (2.0 - loss))) + float(self.first.sum())
            m = total / weight
        else:
            m = mean - self.shift
        if "c" in fixed:
            return m + self.shift, 0.5 * fixed["c"] * tau
        squares, q = self.squares(tau, m)
        total = float(np.sum(squares / q)) + float(np.sum((self.first - m) ** 2))
        return m + self.shift, total / self.size

    def value(self, tau: float, v: float, mean: float) -> float:
        """Return the logarithm of the likelihood."""
        m = mean - self.shift
        squares, q = self.squares(tau, m)
        total = float(np.sum(squares / q)) + float(np.sum((self.first - m) ** 2))
        logs = float(np.sum(self.sums[1] * np.log(q))) + self.size * math.log(2.0 * math.pi * v)
        return -0.5 * (logs + total / v)

    def residuals(self, tau: float, v: float, mean: float) -> np.ndarray:
        """Return what steps add, in standard deviations."""
        loss = -np.expm1(-self.gaps / tau)
        added = self.after - self.before + loss * (self.before - (mean - self.shift))
        return added / np.sqrt(v * loss * (2.0 - loss))

    def best(self, fixed: dict[str, float]) -> tuple[float, float]:
        """Return the largest likelihood with some parameters fixed, and its tau."""
        from scipy.optimize import minimize_scalar

        def loss(x: float) -> float:
            tau = math.exp(x)
            mean, v = self.moments_at(tau, fixed)
            return -self.value(tau, v, mean) if v > 0.0 else math.inf

        if "tau" in fixed:
            return -loss(math.log(fixed["tau"])), fixed["tau"]
        low, high = self.range_of_tau
        grid = np.linspace(math.log(low), math.log(high), GRID)
        losses = [loss(x) for x in grid]
        k = min(max(int(np.argmin(losses)), 1), GRID - 2)
        optimum = minimize_scalar(
            loss, bounds=(grid[k - 1], grid[k + 1]), method="bounded", options={"xatol": 1e-9}
        )
        return -float(optimum.fun), math.exp(optimum.x)


def covariance_of(likelihood: ProcessLikelihood, tau: float, c: float, mean: float) -> np.ndarray:
    """Return the inverse of the observed information of log tau, log c and the mean."""
    count = 3 if likelihood.mean is None else 2
    steps = np.array([_DIFFERENCE, _DIFFERENCE, math.sqrt(0.5 * c * tau)])[:count]

    def value(change: np.ndarray) -> float:
        t, k = tau * math.exp(change[0]), c * math.exp(change[1])
        return likelihood.value(t, 0.5 * k * t, mean + (change[2] if count == 3 else 0.0))

    information = np.empty((count, count))
    for i in range(count):
        for j in range(count):
            a, b = np.eye(count)[i] * steps[i], np.eye(count)[j] * steps[j]
            corners = value(a + b) - value(a - b) - value(b - a) + value(-a - b)
            information[i, j] = -corners / (4.0 * steps[i] * steps[j])
    scale = np.sqrt(np.abs(np.diag(information)))
    scaled = information / np.outer(scale, scale) if np.all(scale > 0.0) else np.zeros((1, 1))
    if not np.linalg.eigvalsh(scaled)[0] > 1e-10:  # flat to within rounding, or not a maximum
        return np.diag(np.full(count, math.inf))
    return np.linalg.inv(scaled) / np.outer(scale, scale)
