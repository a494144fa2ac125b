"""Wald's confidence intervals: multiples of the standard errors around the estimates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hetero import validation
from stablegpu._fit.limits import ALPHA_RANGE, BETA_RANGE

RANGES = {"alpha": ALPHA_RANGE, "beta": BETA_RANGE}
"""Ranges at whose ends intervals are cut off, by parameter."""


def wald_intervals(
    estimates: Mapping[str, Any], errors: Mapping[str, Any], confidence: float
) -> dict[str, tuple[Any, Any]]:
    """Return (low, high) by name: the estimates plus and minus multiples of their standard errors.

    They are cut off at the ends of the parameters' ranges, and NaN without standard errors. A fixed
    parameter has the error 0, and both ends are its value.

    The scale's interval is symmetric in its logarithm, that of alpha in log(2 - alpha). One that is
    symmetric in alpha lies above the truth too often next to 2: 4.9 % of 2000 samples of 1000 with
    alpha = 1.8, beta = 0.5 instead of 2.5 %.
    """
    from scipy.special import ndtri

    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    quantile = float(ndtri(0.5 + 0.5 * confidence))
    intervals = {}
    for name, error in errors.items():
        value, error = np.asarray(estimates[name]), quantile * np.asarray(error)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if name == "scale":
                ends = value * np.exp(-error / value), value * np.exp(error / value)
            elif name == "alpha":
                complement = 2.0 - value
                ends = (
                    2.0 - complement * np.exp(error / complement),
                    2.0 - complement * np.exp(-error / complement),
                )
            else:
                ends = value - error, value + error
        least, most = RANGES.get(name, (None, None))
        low, high = (np.clip(np.where(error == 0.0, value, end), least, most)[()] for end in ends)
        intervals[name] = low, high
    return intervals
