"""Fits by the method of a given fit, with the same parameters fixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hetero.arrays import on_host
from stablegpu._fit.fitted import Fitted, FittedSets


def require_single(result: Any) -> None:
    """Raise TypeError unless `result` is a FitResult that carries its data."""
    if not isinstance(result, Fitted):
        raise TypeError(
            "result must be a FitResult with its data, such as an element of a FitResults, got "
            f"{type(result).__name__}"
        )
    result.require_data()


def options_of(result: Fitted, **fixed: Any) -> dict[str, Any]:
    """Return the options of fits by the result's method, with its fixed parameters and `fixed`.

    The location is that of S0, which is smooth at alpha = 1, unless it was fixed.
    """
    return {
        "method": result.method,
        "parameterization": result.parameterization if "loc" in result.fixed else "S0",
        "fixed": result.fixed | fixed,
        "device": result.device,
    }


def largest_logliks(
    result: Fitted, name: str, values: np.ndarray, fit: Callable[..., FittedSets]
) -> np.ndarray:
    """Return the largest log-likelihoods with parameter `name` fixed at each of the values.

    `fit` is `stablegpu.fit`. They are NaN where the fit failed, and -inf where the value does not
    allow the data.
    """
    shape = values.size, result.size
    weights = None if result.weights is None else np.broadcast_to(on_host(result.weights), shape)
    options = {"weights": weights, **options_of(result, **{name: values})}
    ends = result.intervals
    if ends is None:
        fits = fit(np.broadcast_to(on_host(result.data), shape), **options)
    else:
        lower, upper = (np.broadcast_to(end, shape) for end in (ends.lower, ends.upper))
        fits = fit(lower=lower, upper=upper, truncation=ends.truncation, **options)
    return np.where(fits.converged | (fits.status == "impossible"), fits.loglik, np.nan)
