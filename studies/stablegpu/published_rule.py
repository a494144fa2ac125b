"""Density and distribution function by the rule of Julian-Moreno et al. (2016), for comparison.

Sections 3.1.1 to 3.1.4: the interval [-theta0, pi/2] is cut into 8, 16 or 32 equal subintervals (1,
2 or 4 for each of 8 rows of threads), all have the same Gauss-Kronrod rule, nothing is searched. If
the subintervals that contribute are few, all of them are spent on these again; for alpha < 0.3 the
first subinterval is always integrated again. Equations 3 to 16 are evaluated as printed but for the
factor 1/pi that equation 13 lacks. x is a point of the standard distribution in S0.

The document gives neither the order of the rule nor its thresholds. Here a row has 32 pairs of
nodes, a rule of 63 points, with which a group has 256 threads; thresholds are not tuned.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stablegpu._density.quadrature.kronrod import FORCED_BELOW, half_rule

ROWS = 8
"""Rows of threads in a group; each has as many subintervals as a thread has points."""

POINTS_OF_A_THREAD = (1, 2, 4)
"""Choices of section 3.1.2, of which the document recommends 2."""

GAUSS_POINTS = 31
"""Points of Gauss's rule, which Kronrod's extends to 63."""

CONTRIBUTES = 1e-15
"""Share of the integral from which on a subinterval contributes (not tuned)."""

FEW = 0.25
"""Share of the subintervals below which those that contribute are integrated again (not tuned)."""

MOST_PASSES = 12
"""Evaluations of all subintervals for a point, at most."""


class Result(NamedTuple):
    """Values at points, float64 arrays.

    Attributes
    ----------
    pdf, cdf : density and distribution function
    error : difference of Gauss's and Kronrod's density, relative
    passes : evaluations of all subintervals that the point took
    """

    pdf: np.ndarray
    cdf: np.ndarray
    error: np.ndarray
    passes: np.ndarray


def evaluate(x: np.ndarray, alpha: float, beta: float, points_of_a_thread: int = 2) -> Result:
    """Evaluate the density and the distribution function at points of a standard distribution.

    Parameters
    ----------
    x : float64 array, points in S0
    points_of_a_thread : subintervals that each thread integrates: 1, 2 or 4
    """
    x = np.asarray(x, float)
    if alpha == 1.0 and beta == 0.0:
        pdf, cdf = 1.0 / (np.pi * (1.0 + x * x)), 0.5 + np.arctan(x) / np.pi
        return Result(pdf, cdf, np.zeros(x.size), np.zeros(x.size, int))
    zeta = 0.0 if alpha == 1.0 else -beta * np.tan(0.5 * np.pi * alpha)
    mirrored = np.full(x.shape, beta < 0.0) if alpha == 1.0 else x < zeta
    pdf, cdf, error = np.zeros((3, x.size))
    result = Result(pdf, cdf, error, np.zeros(x.size, int))
    with np.errstate(all="ignore"):
        for chosen, sign in ((~mirrored, 1.0), (mirrored, -1.0)):
            if chosen.any():
                side = _evaluate_side(sign * x[chosen], alpha, sign * beta, points_of_a_thread)
                for values, part in zip(result, side, strict=True):
                    values[chosen] = part
    result.cdf[mirrored] = 1.0 - result.cdf[mirrored]
    return result


def _evaluate_side(x: np.ndarray, alpha: float, beta: float, count: int) -> Result:
    """Evaluate points with x >= zeta, or with beta > 0 if alpha = 1."""
    if alpha == 1.0:
        begin = -0.5 * np.pi
        sums, passes = _integrate(-0.5 * np.pi * x / beta, begin, alpha, beta, count)
        # Equation 12 has V e^-g with a factor e^(-pi x/(2 beta)) before it: together they are g.
        density, distribution = 0.5 / abs(beta), 1.0 / np.pi
        error = np.abs(sums[:, 2] - sums[:, 0]) / sums[:, 0]
        return Result(density * sums[:, 0], distribution * sums[:, 1], error, passes)
    tangent = np.tan(0.5 * np.pi * alpha)
    zeta, theta0 = -beta * tangent, np.arctan(beta * tangent) / alpha
    y = x - zeta
    begin = -theta0
    sums, passes = _integrate(alpha / (alpha - 1.0) * np.log(y), begin, alpha, beta, count)
    pdf = alpha / (np.pi * y * abs(alpha - 1.0)) * sums[:, 0]
    first = 1.0 if alpha > 1.0 else (0.5 * np.pi - theta0) / np.pi
    cdf = first + np.sign(1.0 - alpha) / np.pi * sums[:, 1]
    error = np.abs(sums[:, 2] - sums[:, 0]) / sums[:, 0]
    at_zeta = y == 0.0
    pdf[at_zeta] = _density_at_zeta(alpha, theta0, zeta)
    cdf[at_zeta], error[at_zeta] = (0.5 * np.pi - theta0) / np.pi, 0.0
    return Result(pdf, cdf, error, passes)


def _density_at_zeta(alpha: float, theta0: float, zeta: float) -> float:
    """Return the density at x = zeta (equation 3)."""
    root = (1.0 + zeta * zeta) ** (0.5 / alpha)
    return float(math.gamma(1.0 + 1.0 / alpha) * np.cos(theta0) / (np.pi * root))


def _log_v(theta: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """Return log V at angles (equations 7 and 16)."""
    if alpha == 1.0:
        height = 0.5 * np.pi + beta * theta
        return np.log(2.0 / np.pi * height / np.cos(theta)) + height * np.tan(theta) / beta
    theta0 = np.arctan(beta * np.tan(0.5 * np.pi * alpha)) / alpha
    kappa = alpha / (alpha - 1.0)
    ratio = np.cos(theta) / np.sin(alpha * (theta0 + theta))
    last = np.cos(alpha * theta0 + (alpha - 1.0) * theta) / np.cos(theta)
    return np.log(np.cos(alpha * theta0)) / (alpha - 1.0) + kappa * np.log(ratio) + np.log(last)


def _integrate(
    log_factor: np.ndarray, begin: float, alpha: float, beta: float, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return Kronrod's integrals of g e^-g and e^-g, Gauss's of the former, and the passes.

    `log_factor` is log g - log V at each point.
    """
    points, panels = log_factor.size, ROWS * count
    low, high = np.full(points, begin), np.full(points, 0.5 * np.pi)
    total, passes = np.zeros((points, 3)), np.zeros(points, int)
    active = np.arange(points)
    for attempt in range(MOST_PASSES):
        length = (high - low) / panels
        sums = _sum_panels(log_factor[active], low, length, alpha, beta, panels)
        passes[active] += 1
        first, last = _contributing(sums[:, :, 0])
        again = last + 1 - first <= FEW * panels
        if attempt == 0 and alpha < FORCED_BELOW:
            first, last, again = np.zeros_like(first), np.zeros_like(last), np.ones_like(again)
        again &= attempt + 1 < MOST_PASSES
        index = np.arange(panels)
        kept = ~again[:, None] | (index < first[:, None]) | (index > last[:, None])
        total[active] += np.where(kept[:, :, None], sums, 0.0).sum(axis=1)
        if not again.any():
            break
        low, high = low + first * length, low + (last + 1) * length
        low, high, active = low[again], high[again], active[again]
    return total, passes


def _contributing(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last subinterval that contribute to each point's density."""
    matters = values > CONTRIBUTES * values.sum(axis=1, keepdims=True)
    first = matters.argmax(axis=1)
    last = values.shape[1] - 1 - matters[:, ::-1].argmax(axis=1)
    return first, last


def _sum_panels(
    log_factor: np.ndarray,
    low: np.ndarray,
    length: np.ndarray,
    alpha: float,
    beta: float,
    panels: int,
) -> np.ndarray:
    """Return the three sums over each subinterval: (points, panels, 3)."""
    nodes, kronrod, gauss = half_rule(GAUSS_POINTS)
    abscissas = 0.5 * np.concatenate([nodes, -nodes])  # in units of the length (equation 18)
    offsets = np.arange(panels)[:, None] + 0.5 + abscissas
    theta = low[:, None, None] + length[:, None, None] * offsets
    g = np.exp(log_factor[:, None, None] + _log_v(theta, alpha, beta))
    below = np.exp(-g)
    density = np.where(below > 0.0, g * below, 0.0)
    # Rounding may put a node next to an end outside the interval, where V is not real.
    density, below = (np.where(np.isfinite(f), f, 0.0) for f in (density, below))
    weights = 0.5 * np.array([np.tile(kronrod, 2), np.tile(gauss, 2)])
    scale = length[:, None]
    return np.stack(
        [
            scale * (density @ weights[0]),
            scale * (below @ weights[0]),
            scale * (density @ weights[1]),
        ],
        axis=2,
    )
