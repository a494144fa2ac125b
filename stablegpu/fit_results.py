"""Results of a fit: the distribution, its standard errors, and how the fit went."""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero import Device
from hetero.arrays import on_host
from stablegpu._parameters import Parameters
from stablegpu.distribution import Stable

PARAMETERS = ("alpha", "beta", "loc", "scale")

STATUSES = ("converged", "stuck", "exhausted", "impossible", "constant", "not finite", "too wide")
"""How a fit ended: at a maximum; where rounding allowed no further gain; after too many
evaluations; with data that fixed parameters do not allow; and with data that cannot be fitted: half
of them equal, NaN or infinity among them, or a range beyond that of float64."""

REMEDIES = {
    "constant": "data must vary: at least half of the values are equal, so the quartiles give no "
    "scale",
    "not finite": "data must be finite: remove NaN and infinite values first",
    "too wide": "data must span less than the range of float64: rescale them first",
}
"""What is to be done with data that cannot be fitted, by status."""


def needs_data(result) -> None:
    """Raise TypeError unless `result` is a FitResult that carries its data."""
    if getattr(result, "data", None) is None:
        raise TypeError(
            "result must be a FitResult with its data: fit that data set alone "
            f"(got {type(result).__name__})"
        )


def _unknown() -> dict[str, float]:
    return dict.fromkeys(PARAMETERS, math.nan)


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
    stderr : dict
        Standard errors by name: roots of the covariance's diagonal, also where squares of the scale
        leave the range of floats.
    evaluations : int
        Of the likelihood with its gradient; a scan of locations counts as one.
    timings : dict
        Seconds of wall clock by stage.
    fixed : dict
        Values by name of the parameters that were not fitted.
    ties : float
        The largest number of equal observations (sum of their weights); 1 if none are equal. Of
        more than 8192 observations equal ones are counted if they are more than a twentieth (with
        "mcculloch" a quarter).
    smallest_alpha : float
        The least alpha that maximum likelihood considered: 0.1, or 2k/(n - k) where k = ties of n
        observations are equal and that is more; 4/3 of 1/(n - 1) where none are. Below k/(n - k)
        the likelihood has no bound.
    data, weights : arrays
        What was fitted: a copy of data in host memory, the array itself on a GPU.
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
    stderr: dict = field(default_factory=_unknown, repr=False, compare=False)
    evaluations: int = 0
    timings: dict = field(default_factory=dict, repr=False, compare=False)
    fixed: dict = field(default_factory=dict, repr=False, hash=False)
    device: str | Device | None = field(default=None, repr=False)
    ties: float = 1.0
    smallest_alpha: float = field(default=0.1, repr=False)
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
        if self.weights is not None:
            logpdf, weights = on_host(logpdf), on_host(self.weights)
            logpdf = (weights * logpdf)[weights > 0.0]
        elif not hasattr(logpdf, "sum"):  # a Numba array
            logpdf = on_host(logpdf)
        return float(logpdf.sum())

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 (number of free parameters) - 2 loglik."""
        return 2.0 * self.free - 2.0 * self.loglik

    def interval(self, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """Confidence intervals by name, from the normal law of the estimates (Wald's), cut off at
        the ends of the parameters' ranges; see `fit_intervals.wald`."""
        from stablegpu.inference import wald

        return wald(self, confidence)

    def plot(self):
        """A matplotlib figure of density, quantiles and probabilities; see `fit_plots.plot`."""
        from stablegpu._fit.plots import plot

        return plot(self)


def message(at_boundary, status="converged", fixed=(), ties=1.0, smallest_alpha=0.1) -> str:
    """Return the message that describes the outcome of a fit."""
    labels = ("alpha", "|beta|", "scale")
    ends = zip(("alpha", "beta", "scale"), labels, at_boundary, strict=True)
    ends = [labels for name, labels, is_at in ends if is_at and name not in fixed]
    said = [f"at the boundary of the estimator's range: {', '.join(ends)}"] if ends else []
    if smallest_alpha > 0.1 and status not in REMEDIES:
        why = f"{ties:g} observations are equal" if ties > 1.0 else "there are few observations"
        said.append(
            f"{why}, so the likelihood has no bound for small alpha: alpha below "
            f"{smallest_alpha:.3g} was left out"
        )
    if status == "exhausted":
        said.append("the ascent did not converge within its evaluations")
    if status == "impossible":
        why = "under the fixed parameters" if fixed else "in the range of float64: rescale them"
        said.append(f"the data have no likelihood {why}")
    if status in REMEDIES:
        said.append(REMEDIES[status])
    return "; ".join(said)


@dataclass(frozen=True, eq=False)
class FitResults:
    """Fits of many data sets; arrays with an element for each. `fits[k]` is one of them.

    Attributes
    ----------
    alpha, beta, loc, scale : float64 arrays; NaN where the data could not be fitted
    loglik : of the optimiser: to 1e-9 of a datum, 1e-4 of one at worst for |alpha - 1| < 0.1
    status : codes, indices into `STATUSES`
    covariance : (sets, 4, 4)
    errors : (sets, 4): standard errors; `stderr` has them by name
    at_boundary : bool (sets, 3): whether alpha, beta, scale ended at an end of their ranges
    ties : largest number of equal observations; smallest_alpha : see `FitResult`
    fixed : names of the parameters that were not fitted
    """

    alpha: np.ndarray
    beta: np.ndarray
    loc: np.ndarray
    scale: np.ndarray
    loglik: np.ndarray
    covariance: np.ndarray = field(repr=False)
    errors: np.ndarray = field(repr=False)
    status: np.ndarray
    evaluations: np.ndarray = field(repr=False)
    sizes: np.ndarray = field(repr=False)
    at_boundary: np.ndarray = field(repr=False)
    ties: np.ndarray = field(repr=False)
    smallest_alpha: np.ndarray = field(repr=False)
    parameterization: str
    method: str
    fixed: tuple[str, ...] = ()
    timings: dict = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return self.alpha.size

    def __getitem__(self, index: int) -> FitResult:
        """One of the fits, with the optimiser's log-likelihood, and without the data: what looks at
        them (`plot`, intervals by profile or simulation, goodness) needs a fit of that set alone.
        """
        k = range(len(self))[operator.index(index)]
        status = STATUSES[self.status[k]]
        one = FitResult(
            *(float(getattr(self, name)[k]) for name in PARAMETERS),
            self.parameterization,
            self.method,
            int(self.sizes[k]),
            message(self.at_boundary[k], status, self.fixed, self.ties[k], self.smallest_alpha[k]),
            status,
            self.covariance[k],
            dict(zip(PARAMETERS, self.errors[k].tolist(), strict=True)),
            int(self.evaluations[k]),
            self.timings,
            {name: float(getattr(self, name)[k]) for name in self.fixed},
            ties=float(self.ties[k]),
            smallest_alpha=float(self.smallest_alpha[k]),
        )
        one.__dict__["loglik"] = float(self.loglik[k])
        return one

    @property
    def free(self) -> int:
        """Parameters that were fitted."""
        return len(PARAMETERS) - len(self.fixed)

    @property
    def converged(self) -> np.ndarray:
        """Which fits ended at a maximum (or where rounding allowed no further gain)."""
        return self.status < STATUSES.index("exhausted")

    @property
    def aic(self) -> np.ndarray:
        """Akaike information criterion, 2 k - 2 log L."""
        return 2.0 * self.free - 2.0 * self.loglik

    @property
    def stderr(self) -> dict[str, np.ndarray]:
        """Standard errors by name; see `FitResult`."""
        return dict(zip(PARAMETERS, self.errors.T, strict=True))

    def interval(self, confidence: float = 0.95) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Confidence intervals by name: arrays of their ends; see `FitResult.interval`."""
        from stablegpu.inference import wald

        return wald(self, confidence)
