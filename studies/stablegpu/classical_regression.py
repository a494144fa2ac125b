"""Koutrouvelis' regression with the numbers of points that he tabulates, for comparison.

I. A. Koutrouvelis, J. Am. Stat. Assoc. 75 (1980), 918-928, and Commun. Stat. Simul. Comput. 10
(1981), 17-28: with data in units of the last estimate, log(-log |phi|^2) is a line in log t at the
points pi k/25, k <= K, and the angle of phi is a sum of t and t^alpha at pi l/50, l <= L. Both are
fitted by ordinary least squares, as in 1980 (the later paper weights them), and the data are
standardized anew by each estimate. K and L depend on alpha and the number of observations.
`stablegpu.fit` chooses its points by |phi| instead and weights them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from stablegpu import stable

SIZES = (200.0, 800.0, 1600.0)
"""Numbers of observations of the tables."""

K_TABLE = {
    0.3: (134, 124, 118),
    0.5: (86, 68, 56),
    0.7: (30, 24, 20),
    0.9: (28, 22, 18),
    1.1: (24, 18, 15),
    1.3: (22, 16, 14),
    1.5: (11, 11, 11),
    1.9: (9, 9, 9),
}
"""Points for alpha and the scale, by alpha and `SIZES` (Koutrouvelis 1980, 1981)."""

L_TABLE = {
    0.3: (70, 68, 66),
    0.5: (40, 38, 36),
    0.7: (24, 16, 16),
    0.9: (14, 14, 14),
    1.1: (16, 18, 17),
    1.5: (12, 14, 15),
    1.9: (9, 10, 11),
}
"""Points for beta and the location, likewise."""

PASSES = 5
"""Number of regressions, each with data standardized by the last estimate (not tuned)."""

RIDGE = 1e-4
"""Share of the mean variance that is added to that of each error, to bound weights (not tuned)."""

ALPHA_BOUNDS = (0.1, 2.0)
"""Bounds of estimates of alpha."""

NEAR_ONE = 1e-3
"""Distance of alpha from 1 that is kept in the second regression, whose t^alpha and t coincide."""


class Estimate(NamedTuple):
    """Parameters of a distribution; `loc` is that of the parameterization S0."""

    alpha: float
    beta: float
    loc: float
    scale: float


def choose_points(table: Mapping[float, tuple[int, ...]], alpha: float, count: int) -> int:
    """Return a number of points from a table, by linear interpolation in both directions."""
    alphas = np.array(list(table))
    columns = [
        np.interp(alpha, alphas, [row[i] for row in table.values()]) for i in range(len(SIZES))
    ]
    return round(float(np.interp(count, SIZES, columns)))


def regress(
    x: np.ndarray, start: Estimate, passes: int = PASSES, *, weighted: bool = False
) -> Estimate:
    """Return the estimate after some passes of both regressions.

    Parameters
    ----------
    x : float64 array of observations
    start : first estimate, which a method of quantiles gives
    weighted : whether errors are weighted by their inverse covariance (1981), or equally (1980)
    """
    estimate = start
    for _ in range(passes):
        estimate = _improve(x, estimate, weighted)
    return estimate


def _improve(x: np.ndarray, last: Estimate, weighted: bool) -> Estimate:
    """Return the next estimate."""
    z = (x - last.loc) / last.scale
    t = np.pi / 25 * np.arange(1, choose_points(K_TABLE, last.alpha, x.size) + 1)
    size = np.clip(np.abs(characteristic_function(z, t)), 1e-12, 1.0 - 1e-12)
    lines = np.stack([np.log(t), np.ones_like(t)], axis=1)
    whiten = None
    if weighted:  # the errors of log(-2 log |phi|) are those of log |phi| over log |phi|
        covariance, _ = covariances(t, last.alpha, last.beta)
        logs = t**last.alpha
        whiten = _whitening(covariance / np.outer(logs, logs))
    slope, height = _fit(lines, np.log(-2.0 * np.log(size)), whiten)
    alpha = float(np.clip(slope, *ALPHA_BOUNDS))
    factor = float(np.exp((height - np.log(2.0)) / alpha))
    u = np.pi / 50 * np.arange(1, choose_points(L_TABLE, alpha, x.size) + 1)
    angle = np.unwrap(np.angle(characteristic_function(z, u)))
    other = alpha if abs(alpha - 1.0) > NEAR_ONE else 1.0 + np.copysign(NEAR_ONE, alpha - 1.0)
    # In S0 the angle of a standard distribution is beta tan(pi alpha/2) (t^alpha - t).
    skewed = np.tan(0.5 * np.pi * other) * ((factor * u) ** other - factor * u)
    whiten = _whitening(covariances(factor * u, alpha, last.beta)[1]) if weighted else None
    if alpha == 2.0:
        beta, (shift,) = 0.0, _fit(u[:, None], angle, whiten)
    else:
        shift, beta = _fit(np.stack([u, skewed], axis=1), angle, whiten)
        if abs(beta) > 1.0:
            beta = float(np.copysign(1.0, beta))
            (shift,) = _fit(u[:, None], angle - beta * skewed, whiten)
    return Estimate(alpha, beta, last.loc + shift * last.scale, last.scale * factor)


def _fit(columns: np.ndarray, values: np.ndarray, whiten: np.ndarray | None) -> list[float]:
    """Return the coefficients of least squares, of whitened errors where a matrix is given."""
    if whiten is not None:
        columns, values = whiten @ columns, whiten @ values
    coefficients: list[float] = np.linalg.lstsq(columns, values, rcond=None)[0].tolist()
    return coefficients


def _whitening(covariance: np.ndarray) -> np.ndarray:
    """Return a matrix that makes errors of this covariance uncorrelated and equally large.

    Errors at neighbouring points are nearly the same: a share of `RIDGE` of the mean variance is
    added to each.
    """
    ridge = RIDGE * np.trace(covariance) / len(covariance)
    root = np.linalg.cholesky(covariance + ridge * np.eye(len(covariance)))
    inverse: np.ndarray = np.linalg.inv(root)
    return inverse


def covariances(t: np.ndarray, alpha: float, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """Return covariances of log |phi| and of the angle of phi at points t, times the sample's size.

    phi is the empirical characteristic function of a standard distribution in S0. To first order
    its errors over phi are the means of e^(itX)/phi(t) - 1, whose real part is that of log |phi|
    and whose imaginary part is that of the angle; products of two have the means phi(t + u)/(phi(t)
    phi(u)) - 1, and phi(t - u)/(phi(t) conj(phi(u))) - 1 if one is conjugated.
    """
    cf = stable(alpha, beta, parameterization="S0").cf
    values = cf(t)
    product = cf(t[:, None] + t) / np.outer(values, values) - 1.0
    conjugated = cf(t[:, None] - t) / np.outer(values, values.conj()) - 1.0
    return 0.5 * (conjugated + product).real, 0.5 * (conjugated - product).real


def characteristic_function(z: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return the empirical characteristic function of observations at points t."""
    values: np.ndarray = np.exp(1j * np.outer(t, z)).mean(axis=1)
    return values
