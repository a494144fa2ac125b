"""McCulloch's estimator: from five sample quantiles to the four parameters.

J. H. McCulloch (1986), Simple consistent estimators of stable distribution parameters. His two
ratios of quantiles, nu_alpha and nu_beta, are free of location and scale and determine alpha and
beta; his tables are replaced by splines through computed quantiles (tools/make_mcculloch_table.py)
that reach down to alpha = 0.1.
"""

from __future__ import annotations

import functools
import math
from importlib.resources import files

import numpy as np

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)


@functools.cache
def _splines():
    """nu_alpha's logarithm times alpha, nu_beta, log of the quartile range, and the median over
    it: smooth functions of (alpha, beta), beta >= 0, of the standard S0 law."""
    from scipy.interpolate import RectBivariateSpline

    with files("stablegpu").joinpath("mcculloch.npz").open("rb") as file, np.load(file) as table:
        alpha, beta, quantiles = table["alpha"], table["beta"], table["quantiles"]
    q05, q25, q50, q75, q95 = np.moveaxis(quantiles, -1, 0)
    quartiles = q75 - q25
    surfaces = (
        alpha[:, None] * np.log((q95 - q05) / quartiles),
        (q95 + q05 - 2 * q50) / (q95 - q05),
        alpha[:, None] * np.log(quartiles),
        q50 / quartiles,
    )
    bounds = (alpha[0], alpha[-1])
    return bounds, tuple(RectBivariateSpline(alpha, beta, surface) for surface in surfaces)


def estimate(quantiles) -> tuple[float, float, float, float]:
    """alpha, beta, S0 location and scale from the sample's quantiles at PROBABILITIES.

    Ratios that no stable law has are met as nearly as alpha in [0.1, 2], |beta| <= 1 allow.
    alpha = 2 comes with beta = 0, on which that law does not depend.
    """
    from scipy.optimize import brentq

    q05, q25, q50, q75, q95 = (float(q) for q in quantiles)
    nu_alpha = (q95 - q05) / (q75 - q25)
    nu_beta = (q95 + q05 - 2 * q50) / (q95 - q05)
    (lowest, highest), (log_nu_alpha, of_nu_beta, log_quartiles, median) = _splines()
    sign = math.copysign(1.0, nu_beta)

    def alpha_of(beta: float) -> float:
        def excess(alpha: float) -> float:
            return log_nu_alpha(alpha, beta)[0, 0] / alpha - math.log(nu_alpha)

        if excess(highest) >= 0.0:
            return highest
        return lowest if excess(lowest) <= 0.0 else brentq(excess, lowest, highest, xtol=1e-10)

    def skew_excess(beta: float) -> float:
        return of_nu_beta(alpha_of(beta), beta)[0, 0] - abs(nu_beta)

    if skew_excess(1.0) <= 0.0:
        beta = 1.0
    elif skew_excess(0.0) >= 0.0:
        beta = 0.0
    else:
        beta = brentq(skew_excess, 0.0, 1.0, xtol=1e-10)
    alpha = alpha_of(beta)
    if alpha == highest:
        beta = 0.0
    scale = (q75 - q25) / math.exp(log_quartiles(alpha, beta)[0, 0] / alpha)
    loc = q50 - sign * median(alpha, beta)[0, 0] * (q75 - q25)
    return float(alpha), sign * beta, loc, scale
