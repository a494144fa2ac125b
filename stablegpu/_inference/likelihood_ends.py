"""Ends of intervals on a contour of the likelihood: the least and the largest value of a measure.

An end of a profile-likelihood interval is the extreme value of the measure r among the parameters
whose log-likelihood is at least a limit (Venzon and Moolgavkar 1988). It is searched for by steps
that solve this problem for a linear r and a quadratic log-likelihood: with gradients g of the
log-likelihood and a of r, and J the observed information,

    d = J^-1 (g + s a),   s^2 = (2 (l - limit) + g J^-1 g) / (a J^-1 a).

J is corrected by BFGS for the gradients of l + s r, so that the curvature of r counts. All ends of
all data sets take a step at once. The coordinates are log(2 - alpha + OFFSET), beta, the location
of S0 in scales, and the logarithm of the scale; those at a bound stay there while a step would
cross it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._inference.likelihoods import Likelihoods
from stablegpu._inference.quasi_newton import correct_information

Measure = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Function of alphas and betas (S0) that returns values and (points, 2) derivatives."""

_LARGEST_STEP = np.array([0.7, 0.5, 1.0, 0.3])
OFFSET = 0.05
"""Added to 2 - alpha: the logarithm alone would hide, next to alpha = 2, how fast tails grow."""

_MARGIN = 1e-6  # distance from bounds, where derivatives are one-sided
LEAST_ALPHA_OF_MEANS = 1.001  # least alpha for a measure that is infinite for alpha <= 1
_DIFFERENCE = 0.02  # of coordinates in standard errors, for the first information
_MOST_STEPS = 40
_TOLERANCE = 1e-3  # of the log-likelihood, and of r over the half length


class Ends(NamedTuple):
    """Least and largest values of a measure on the contour of each set; NaN where not found."""

    low: np.ndarray
    high: np.ndarray


class _Problem:
    """Coordinates, the likelihood and the measure of several sets."""

    def __init__(
        self, likelihoods: Likelihoods, theta: np.ndarray, free: np.ndarray, measure: Measure,
        sign: float,
    ) -> None:  # fmt: skip
        self._likelihoods, self._measure, self._sign = likelihoods, measure, sign
        self._base, self._free = theta.copy(), free

    def bounds(self, lowest_alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest coordinates."""
        low = np.array([math.log(OFFSET + _MARGIN), -1.0 + _MARGIN, -np.inf, -np.inf])
        high = np.array([math.log(2.0 - lowest_alpha + OFFSET), 1.0 - _MARGIN, np.inf, np.inf])
        return low, high

    def start(self) -> np.ndarray:
        """Return the coordinates of the estimates."""
        result = np.zeros_like(self._base)
        result[:, 0] = np.log(np.maximum(2.0 - self._base[:, 0], _MARGIN) + OFFSET)
        result[:, 1] = self._base[:, 1].clip(-1.0 + _MARGIN, 1.0 - _MARGIN)
        return result

    def parameters(self, which: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """Return alpha, beta, S0's location and log scale at coordinates of the sets `which`."""
        base, free = self._base[which], self._free[which]
        theta = xi.copy()
        theta[:, 0] = (2.0 + OFFSET - np.exp(xi[:, 0])).clip(*ALPHA_RANGE)
        theta[:, 2] = base[:, 2] + np.exp(base[:, 3]) * xi[:, 2]
        theta[:, 3] = base[:, 3] + xi[:, 3]
        return np.where(free, theta, base)

    def rates(self, which: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return the derivatives of the parameters by the coordinates."""
        rates = np.ones_like(theta)
        rates[:, 0] = theta[:, 0] - 2.0 - OFFSET
        rates[:, 2] = np.exp(self._base[which, 3])
        return np.where(self._free[which], rates, 0.0)

    def loglik(self, which: np.ndarray, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log-likelihoods and their gradients by the coordinates."""
        theta = self.parameters(which, xi)
        values, gradient = self._likelihoods.evaluate(which, theta)
        return values, gradient * self.rates(which, theta)

    def measure(self, which: np.ndarray, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the measure and its gradients by the coordinates."""
        theta, sign = self.parameters(which, xi), self._sign
        scale = np.exp(theta[:, 3])
        unit, slopes = self._measure(theta[:, 0], sign * theta[:, 1])
        gradient = np.stack(
            [
                scale * slopes[:, 0],
                sign * scale * slopes[:, 1],
                np.full(len(xi), sign),
                scale * unit,
            ],
            axis=1,
        )
        return sign * theta[:, 2] + scale * unit, gradient * self.rates(which, theta)


def find_ends(
    likelihoods: Likelihoods,
    theta: np.ndarray,
    errors: np.ndarray,
    free: np.ndarray,
    measure: Measure,
    sign: float,
    limits: np.ndarray,
    is_mean: bool,
) -> Ends:
    """Return the ends of the intervals of sign loc + scale m(alpha, sign beta).

    Parameters
    ----------
    theta : (sets, 4) estimates: alpha, beta, S0's location, logarithm of the scale
    errors : (sets, 4) standard errors of these, NaN where unknown
    free : (sets, 4) whether each was fitted
    limits : (sets, 2) drops of the log-likelihood at the lower and the upper end
    is_mean : whether the measure is infinite for alpha <= 1: then ends may be infinite
    """
    problem = _Problem(likelihoods, theta, free, measure, sign)
    sets = np.arange(len(theta))
    bounds = problem.bounds(LEAST_ALPHA_OF_MEANS if is_mean else ALPHA_RANGE[0])
    centre = problem.start().clip(*bounds)
    best, _ = problem.loglik(sets, centre)
    information = _information(problem, sets, centre, errors, bounds)
    which, side = np.repeat(sets, 2), np.tile([-1.0, 1.0], len(sets))
    xi, matrix = centre[which], information[which]
    drops = limits.reshape(-1)
    target = best[which] - drops
    result, before = np.full(len(which), np.nan), np.full(len(which), np.nan)
    half = np.empty(len(which))
    middle, _ = problem.measure(sets, centre)
    active = np.arange(len(which))
    values, gradient = problem.loglik(which, xi)
    step, pull, last_slope = np.zeros_like(xi), np.zeros(len(which)), np.zeros_like(xi)
    last_gradient = gradient.copy()
    for number in range(_MOST_STEPS):
        risk, slope = problem.measure(which[active], xi[active])
        slope = slope * side[active][:, None]
        half[active] = np.abs(risk - middle[which[active]])
        off = np.abs(values[active] - target[active]) < _TOLERANCE
        still = np.abs(risk - before[active]) <= _TOLERANCE * half[active]
        done = off & still
        result[active[done]] = risk[done]
        if is_mean:
            heaviest = done & (xi[active, 0] >= bounds[1][0] - _MARGIN)
            result[active[heaviest]] = np.inf
        before[active] = risk
        active, slope = active[~done], slope[~done]
        if not active.size:
            break
        if number:
            fall = last_gradient[active] - gradient[active]
            fall += pull[active][:, None] * (last_slope[active] - slope)
            matrix[active] = correct_information(matrix[active], step[active], fall, 0.2)
        above = values[active] - target[active]
        moved, pull[active] = _bounded_step(
            matrix[active], gradient[active], slope, above, xi[active], bounds
        )
        new = xi[active] + moved
        new_values, new_gradient = problem.loglik(which[active], new)
        # Where the log-likelihood falls far below the limit, the step was too long.
        for _ in range(6):
            bad = ~(new_values > target[active] - 1.0 - drops[active])
            if not bad.any():
                break
            moved[bad] *= 0.5
            new[bad] = xi[active[bad]] + moved[bad]
            new_values[bad], new_gradient[bad] = problem.loglik(which[active[bad]], new[bad])
        last_gradient[active], last_slope[active], step[active] = gradient[active], slope, moved
        xi[active], values[active], gradient[active] = new, new_values, new_gradient
    return Ends(*result.reshape(-1, 2).T)


def _information(
    problem: _Problem,
    sets: np.ndarray,
    centre: np.ndarray,
    errors: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return the observed information in the coordinates, by differences of gradients."""
    rates = np.abs(problem.rates(sets, problem.parameters(sets, centre)))
    with np.errstate(divide="ignore", invalid="ignore"):
        widths = _DIFFERENCE * errors / rates
    widths = np.where(np.isfinite(widths) & (widths > 0.0), widths, _DIFFERENCE).clip(1e-5, 0.1)
    matrix = np.zeros((len(sets), 4, 4))
    for k in range(4):
        step = widths[:, k : k + 1] * (np.arange(4) == k)
        above, below = (centre + step).clip(*bounds), (centre - step).clip(*bounds)
        fall = problem.loglik(sets, below)[1] - problem.loglik(sets, above)[1]
        matrix[:, k] = fall / (above - below)[:, k : k + 1]
    matrix = np.nan_to_num(0.5 * (matrix + matrix.transpose(0, 2, 1)))
    # Directions without information, such as those of fixed parameters, get a little.
    eigenvalues, vectors = np.linalg.eigh(matrix)
    eigenvalues = np.maximum(eigenvalues, 1e-3 * np.abs(eigenvalues).max(axis=1, keepdims=True))
    eigenvalues = np.maximum(eigenvalues, 1e-3)
    result: np.ndarray = (vectors * eigenvalues[:, None, :]) @ vectors.transpose(0, 2, 1)
    return result


def _bounded_step(
    matrix: np.ndarray,
    gradient: np.ndarray,
    slope: np.ndarray,
    above: np.ndarray,
    xi: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps within bounds, and s."""
    fixed = np.zeros(xi.shape, bool)
    for _ in range(3):
        moving = ~fixed
        pairs = moving[:, :, None] & moving[:, None, :]
        reduced = np.where(pairs, matrix, np.eye(4))
        step, pull = _step(reduced, gradient * moving, slope * moving, above)
        low, high = (np.abs(xi - bound) < 2.0 * _MARGIN for bound in bounds)
        crossing = moving & ((low & (step < 0.0)) | (high & (step > 0.0)))
        if not crossing.any():
            break
        fixed |= crossing
    return (xi + step).clip(*bounds) - xi, pull


def _step(
    matrix: np.ndarray, gradient: np.ndarray, slope: np.ndarray, above: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps of the module's formula, shortened to the largest allowed, and s."""
    both = np.linalg.solve(matrix, np.stack([gradient, slope], axis=2))
    to_centre, outwards = both[..., 0], both[..., 1]
    of_gradient = (gradient * to_centre).sum(axis=1)
    of_slope = (slope * outwards).sum(axis=1)
    square = (2.0 * above + of_gradient) / np.maximum(of_slope, 1e-300)
    pull = np.sqrt(np.maximum(square, 0.0))
    step = to_centre + pull[:, None] * outwards
    excess = (np.abs(step) / _LARGEST_STEP).max(axis=1)
    return step / np.maximum(excess, 1.0)[:, None], pull
