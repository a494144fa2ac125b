"""McCulloch's estimator: from five sample quantiles to the four parameters.

J. H. McCulloch (1986), Simple consistent estimators of stable distribution parameters. His two
ratios of quantiles, nu_alpha and nu_beta, are free of location and scale and determine alpha and
beta; his tables are replaced by splines through computed quantiles (tools/make_mcculloch_table.py)
that reach down to alpha = 0.1. The estimate itself is in `_fit/estimators/mcculloch/formulas.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files

import numpy as np

from hetero.compile_cache.tables import cached_table
from stablegpu._fit.observations.large_samples.sample import Sample

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)


@functools.cache
def surfaces() -> np.ndarray:
    """Return `compute_surfaces()`, from disk if possible: importing SciPy's splines takes 0.3 s."""
    return cached_table("stablegpu", f"mcculloch-{version('scipy')}", compute_surfaces)


def compute_surfaces() -> np.ndarray:
    """Tabulate four functions of alpha and beta >= 0 at the points of `formulas.py`, flat.

    Logarithms, times alpha, of nu_alpha, (q95 - q50)/(q50 - q05) and the quartile range, and the
    median over that range, of the standard distribution in S0: these are smooth.
    """
    from scipy.interpolate import RectBivariateSpline

    from stablegpu._fit.estimators.mcculloch.formulas import ALPHAS, ANGLES, HIGHEST, LOWEST

    with (
        files("stablegpu").joinpath("data", "mcculloch.npz").open("rb") as file,
        np.load(file) as table,
    ):
        alpha, beta, tabulated = table["alpha"], table["beta"], table["quantiles"]
    grid_points = np.linspace(LOWEST, HIGHEST, ALPHAS), np.linspace(0.0, 0.5 * np.pi, ANGLES)

    def spline(values: np.ndarray) -> np.ndarray:
        return RectBivariateSpline(alpha, np.arcsin(beta), values)(*grid_points)

    # alpha times the logarithm of a distance between quantiles is nearly linear: for small alpha
    # the tails are sums of powers 1/alpha. Ratios of distances are steps there.
    q05, q25, q50, q75, q95 = np.moveaxis(tabulated, -1, 0)
    pairs = (q95 - q50, q50 - q05, q75 - q50, q50 - q25)
    above, below, upper, lower = (
        spline(alpha[:, None] * np.log(d)) / grid_points[0][:, None] for d in pairs
    )
    quartiles = np.logaddexp(upper, lower)
    functions = (
        grid_points[0][:, None] * (np.logaddexp(above, below) - quartiles),
        grid_points[0][:, None] * (above - below),
        grid_points[0][:, None] * quartiles,
        spline(q50 / (q75 - q25)),
    )
    return np.concatenate([s.ravel() for s in functions])


def estimate(quantiles: Sequence[float]) -> tuple[float, float, float, float]:
    """Return alpha, beta, S0 location and scale from the sample's quantiles at PROBABILITIES.

    Ratios that no stable distribution has are met as nearly as alpha in [0.1, 2], |beta| <= 1
    allow. alpha = 2 comes with beta = 0, on which that distribution does not depend.
    """
    from stablegpu._fit.estimators.mcculloch import formulas

    return formulas.estimate(*(float(q) for q in quantiles), surfaces())


def start(quantiles: Sequence[float]) -> tuple[float, float, float, float]:
    """Return McCulloch's estimate from minimum, quantiles and maximum.

    NaN, inf or -inf in place of alpha says why there is none (`formulas.estimate_within`).
    """
    from stablegpu._fit.estimators.mcculloch.formulas import estimate_within

    low, *five, high = quantiles
    return estimate_within(low, *five, high, surfaces())


def quantiles(sample: Sample) -> tuple[list[float], float]:
    """Return minimum, McCulloch's five quantiles, maximum; and the largest number of equal data.

    Between order statistics at probabilities (i - 1/2)/n, linearly: his correction for continuity.
    Equal data are counted if two order statistics around a quantile are among them, as is the case
    if they are more than a quarter.
    """
    size = sample.size
    position = np.clip(size * np.array(PROBABILITIES) - 0.5, 0.0, size - 1.0)
    below = position.astype(np.int64)
    ranks = np.concatenate(([0], below, np.minimum(below + 1, size - 1), [size - 1]))
    values = sample.select(ranks)
    lower, upper = values[1:6], values[6:11]
    with np.errstate(invalid="ignore"):  # infinite data: refused by the caller
        middle = lower + (position - below) * (upper - lower)
    equal = np.unique(lower[lower == upper])
    ties = float(sample.count(equal).max()) if equal.size else 1.0
    return [float(values[0]), *map(float, middle), float(values[-1])], ties
