"""Estimation of the parameters of a stable law from data."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero import Device, errors, region
from hetero.arrays import Workspace, as_real, device_of
from hetero.devices import resolve
from hetero.jit import twin
from stablegpu import _mcculloch
from stablegpu._parameters import PARAMETERIZATIONS, Parameters
from stablegpu.distribution import Stable

METHODS = ("mcculloch",)

BREAK_EVEN = 200_000
"""Data in host memory are moved to a GPU for their quantiles only from this size on."""


@dataclass(frozen=True)
class FitResult:
    """A fitted law.

    Attributes
    ----------
    alpha, beta, loc, scale : float
    parameterization : {"S1", "S0"}
    method : str
    size : int
        Number of observations.
    message : str
        What the user should know of how the estimate came about; empty if nothing.
    """

    alpha: float
    beta: float
    loc: float
    scale: float
    parameterization: str
    method: str
    size: int
    message: str = ""
    device: str | Device | None = field(default=None, repr=False)
    data: Any = field(default=None, repr=False, compare=False)

    @property
    def distribution(self) -> Stable:
        """The fitted law, to evaluate and to draw from."""
        parameters = Parameters.checked(
            self.alpha, self.beta, self.loc, self.scale, self.parameterization
        )
        return Stable(parameters, self.device)

    @functools.cached_property
    def loglik(self) -> float:
        """Log-likelihood of the data; evaluated at first use (one density for every datum)."""
        logpdf = self.distribution.logpdf(self.data)
        if hasattr(logpdf, "copy_to_host"):  # a Numba array has no sum
            logpdf = logpdf.copy_to_host()
        return float(logpdf.sum())


def fit(data, *, method: str = "mcculloch", parameterization: str = "S1", device=None) -> FitResult:
    """Estimate alpha, beta, loc and scale from independent observations.

    Parameters
    ----------
    data : array_like of float, any shape, at least 5 finite values
        Arrays on a GPU stay there.
    method : {"mcculloch"}
        "mcculloch": five quantiles (McCulloch 1986), consistent and fast; alpha in [0.1, 2].
    parameterization : {"S1", "S0"}
        Of the location in the result.

    Raises
    ------
    TypeError : data are no real numbers
    ValueError : too few data, NaN or infinite data, or half of them equal (no scale)

    Examples
    --------
    >>> from stablegpu import stable
    >>> result = fit(stable(1.7, 0.3).rvs(10_000, random_state=1))
    >>> round(result.alpha, 1)
    1.7
    """
    errors.one_of("method", method, METHODS)
    errors.one_of("parameterization", parameterization, PARAMETERIZATIONS)
    if device_of(data) is None:
        data = as_real("data", data)
    size = math.prod(data.shape)
    if size < 5:
        raise ValueError(f"data must hold at least 5 values, got {size}")
    place = resolve(device, data, work=size, break_even=BREAK_EVEN)
    with place.active(), region("stable fit"):
        low, *quantiles, high = _quantiles(Workspace(place, data), data, size)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("data must be finite: remove NaN and infinite values first")
    if not math.isfinite(quantiles[4] - quantiles[0]):
        raise ValueError("data must span less than the range of float64: rescale them first")
    if quantiles[3] <= quantiles[1]:
        raise ValueError(
            "data must vary: at least half of the values are equal, so the quartiles give no scale"
        )
    alpha, beta, loc, scale = _mcculloch.estimate(quantiles)
    found = Parameters.checked(alpha, beta, loc, scale, "S0").converted(parameterization)
    ends = [
        n for n, v, e in (("alpha", alpha, (0.1, 2.0)), ("|beta|", abs(beta), (1.0,))) if v in e
    ]
    message = f"at the boundary of the estimator's range: {', '.join(ends)}" if ends else ""
    return FitResult(
        found.alpha,
        found.beta,
        found.loc,
        found.scale,
        parameterization,
        method,
        size,
        message,
        device,
        data,
    )


def _quantiles(work: Workspace, data, size: int) -> list[float]:
    """Minimum, the five quantiles of McCulloch, maximum.

    Between order statistics at probabilities (i - 1/2)/n, linearly: his correction for continuity.
    """
    position = np.clip(size * np.array(_mcculloch.PROBABILITIES) - 0.5, 0.0, size - 1.0)
    below = position.astype(np.int64)
    ranks = np.concatenate(([0], below, np.minimum(below + 1, size - 1), [size - 1]))
    select = twin("stablegpu._order", work.device).select
    values = select(work.input("data", data), ranks, work.stream)
    lower, upper = values[1:6], values[6:11]
    with np.errstate(invalid="ignore"):  # infinite data: refused by the caller
        middle = lower + (position - below) * (upper - lower)
    return [float(values[0]), *map(float, middle), float(values[-1])]
