"""What a fit gives: the law, how well it is known, and how the fit went."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero import Device
from stablegpu._parameters import Parameters
from stablegpu.distribution import Stable

PARAMETERS = ("alpha", "beta", "loc", "scale")

STATUSES = ("converged", "stuck", "exhausted", "impossible", "constant", "not finite", "too wide")
"""How a fit ended: at a maximum; where rounding allowed no further gain; after too many
evaluations; with data that fixed parameters do not allow; and with data that cannot be fitted: half
of them equal, NaN or infinity among them, or a range beyond that of float64."""


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
    status : str
        One of `STATUSES`.
    covariance : (4, 4) array
        Of alpha, beta, loc, scale: the inverse of the observed information. NaN for parameters at a
        boundary, 0 for fixed ones; those of the others hold them fixed. NaN for estimators that
        come without one.
    evaluations : int
        Of the likelihood with its gradient; a scan of locations counts as one.
    timings : dict
        Seconds of wall clock by stage.
    fixed : dict
        Values by name of the parameters that were not fitted.
    """

    alpha: float
    beta: float
    loc: float
    scale: float
    parameterization: str
    method: str
    size: int
    message: str = ""
    status: str = "converged"
    covariance: Any = field(default=None, repr=False, compare=False)
    evaluations: int = 0
    timings: dict = field(default_factory=dict, repr=False, compare=False)
    fixed: dict = field(default_factory=dict, repr=False)
    device: str | Device | None = field(default=None, repr=False)
    data: Any = field(default=None, repr=False, compare=False)
    weights: Any = field(default=None, repr=False, compare=False)

    @property
    def free(self) -> int:
        """Parameters that were fitted."""
        return len(PARAMETERS) - len(self.fixed)

    @property
    def distribution(self) -> Stable:
        """The fitted law, to evaluate and to draw from."""
        parameters = Parameters.checked(
            self.alpha, self.beta, self.loc, self.scale, self.parameterization
        )
        return Stable(parameters, self.device)

    @functools.cached_property
    def loglik(self) -> float:
        """Log-likelihood of the data, by the exact density; evaluated at first use."""
        logpdf = self.distribution.logpdf(self.data)
        if hasattr(logpdf, "copy_to_host"):  # a Numba array has no sum
            logpdf = logpdf.copy_to_host()
        if self.weights is not None:
            weights = self.weights
            if hasattr(weights, "copy_to_host"):
                weights = weights.copy_to_host()
            logpdf = (weights * logpdf)[weights > 0.0]
        return float(logpdf.sum())

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 (number of free parameters) - 2 loglik."""
        return 2.0 * self.free - 2.0 * self.loglik

    @property
    def stderr(self) -> dict[str, float]:
        """Standard errors by name; see `covariance`."""
        if self.covariance is None:
            return dict.fromkeys(PARAMETERS, math.nan)
        return dict(zip(PARAMETERS, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    def interval(self, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """Confidence intervals by name, from the normal law of the estimates (Wald's), cut off at
        the ends of the parameters' ranges; see `fit_intervals.wald`."""
        from stablegpu.fit_intervals import wald

        return wald(self, confidence)

    def plot(self):
        """A matplotlib figure of density, quantiles and probabilities; see `fit_plots.plot`."""
        from stablegpu.fit_plots import plot

        return plot(self)


@dataclass(frozen=True)
class FitResults:
    """Fits of many data sets; arrays with an element for each.

    Attributes
    ----------
    alpha, beta, loc, scale : float64 arrays; NaN where the data could not be fitted
    loglik : of the optimiser: to 1e-9 of a datum, 1e-4 of one at worst for |alpha - 1| < 0.1
    status : codes, places in `STATUSES`
    stderr : dict of arrays by name
    covariance : (sets, 4, 4)
    at_boundary : bool (sets, 2): whether alpha, beta ended at an end of their ranges
    """

    alpha: np.ndarray
    beta: np.ndarray
    loc: np.ndarray
    scale: np.ndarray
    loglik: np.ndarray
    covariance: np.ndarray = field(repr=False)
    status: np.ndarray
    evaluations: np.ndarray = field(repr=False)
    sizes: np.ndarray = field(repr=False)
    at_boundary: np.ndarray = field(repr=False)
    parameterization: str
    method: str
    free: int = 4
    timings: dict = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return self.alpha.size

    @property
    def converged(self) -> np.ndarray:
        """Which fits ended at a maximum (or where rounding allowed no further gain)."""
        return self.status < STATUSES.index("exhausted")

    @property
    def aic(self) -> np.ndarray:
        return 2.0 * self.free - 2.0 * self.loglik

    @property
    def stderr(self) -> dict[str, np.ndarray]:
        variances = np.diagonal(self.covariance, axis1=1, axis2=2)
        return dict(zip(PARAMETERS, np.sqrt(variances).T, strict=True))

    def interval(self, confidence: float = 0.95) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Confidence intervals by name: arrays of their ends; see `FitResult.interval`."""
        from stablegpu.fit_intervals import wald

        return wald(self, confidence)
