"""McCulloch's estimator: from five sample quantiles to the four parameters.

J. H. McCulloch (1986), Simple consistent estimators of stable distribution parameters. His two
ratios of quantiles, nu_alpha and nu_beta, are free of location and scale and determine alpha and
beta; his tables are replaced by splines through computed quantiles (tools/make_mcculloch_table.py)
that reach down to alpha = 0.1. The estimate itself is in `_fit_start_math.py`.
"""

from __future__ import annotations

import functools
from importlib.resources import files

import numpy as np

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)


@functools.cache
def surfaces() -> np.ndarray:
    """nu_alpha's logarithm times alpha, nu_beta, log of the quartile range times alpha, and the
    median over it, of the standard S0 law: smooth functions of alpha and beta >= 0, at the places
    of `_fit_start_math.py`, flat."""
    from scipy.interpolate import RectBivariateSpline

    from stablegpu._fit_start_math import ALPHAS, ANGLES, HIGHEST, LOWEST

    with files("stablegpu").joinpath("mcculloch.npz").open("rb") as file, np.load(file) as table:
        alpha, beta, quantiles = table["alpha"], table["beta"], table["quantiles"]
    q05, q25, q50, q75, q95 = np.moveaxis(quantiles, -1, 0)
    quartiles = q75 - q25
    known = (
        alpha[:, None] * np.log((q95 - q05) / quartiles),
        (q95 + q05 - 2 * q50) / (q95 - q05),
        alpha[:, None] * np.log(quartiles),
        q50 / quartiles,
    )
    places = np.linspace(LOWEST, HIGHEST, ALPHAS), np.sin(np.linspace(0.0, 0.5 * np.pi, ANGLES))
    return np.concatenate([RectBivariateSpline(alpha, beta, s)(*places).ravel() for s in known])


def estimate(quantiles) -> tuple[float, float, float, float]:
    """alpha, beta, S0 location and scale from the sample's quantiles at PROBABILITIES.

    Ratios that no stable law has are met as nearly as alpha in [0.1, 2], |beta| <= 1 allow.
    alpha = 2 comes with beta = 0, on which that law does not depend.
    """
    from stablegpu._fit_start_math import estimate

    return estimate(*(float(q) for q in quantiles), surfaces())
