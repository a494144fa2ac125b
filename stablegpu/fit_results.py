"""Results of a fit: the distribution, its standard errors, and how the fit went."""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import Device
from hetero.arrays import on_host
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._fit.outcomes import CONVERGED, outcome_message
from stablegpu._fit.outcomes import STATUSES as STATUSES
from stablegpu._inference.wald import wald_intervals
from stablegpu._parameters import PARAMETERS, Parameters
from stablegpu.distribution import Stable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROWS_SHOWN = 10  # data sets in the table of a notebook


def _unknown_errors() -> dict[str, float]:
    return dict.fromkeys(PARAMETERS, math.nan)


@dataclass(frozen=True)
class FitResult:
    """A fitted stable distribution, with standard errors and how the fit went.

    Attributes
    ----------
    alpha, beta, loc, scale : float
    parameterization : {"S1", "S0"}
    method : str
    size : int
        Number of observations.
    message : str
        Remarks on the estimate, for example a parameter at a boundary; usually empty.
    status : str
        One of `STATUSES`.
    covariance : (4, 4) array
        Covariance of alpha, beta, loc, scale: the inverse of the observed information. NaN for
        parameters at a boundary, 0 for fixed ones; those of the others hold them fixed. NaN for
        estimators that come without one.
    stderr : dict
        Standard errors by name: roots of the covariance's diagonal, also where squares of the scale
        leave the range of floats.
    evaluations : int
        Evaluations of the likelihood with its gradient; a scan of locations counts as one.
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
        The fitted data: a copy of data in host memory, the array itself on a GPU.
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
    stderr: dict[str, float] = field(default_factory=_unknown_errors, repr=False, compare=False)
    evaluations: int = 0
    timings: dict[str, float] = field(default_factory=dict, repr=False, compare=False)
    fixed: dict[str, float] = field(default_factory=dict, repr=False, hash=False)
    device: str | Device | None = field(default=None, repr=False)
    ties: float = 1.0
    smallest_alpha: float = field(default=ALPHA_RANGE[0], repr=False)
    data: Any = field(default=None, repr=False, compare=False)
    weights: Any = field(default=None, repr=False, compare=False)

    @property
    def converged(self) -> bool:
        """True if the fit ended at a maximum (or where rounding allowed no further gain)."""
        return self.status in CONVERGED

    @property
    def free(self) -> int:
        """Number of parameters that were fitted."""
        return len(PARAMETERS) - len(self.fixed)

    @property
    def distribution(self) -> Stable:
        """The fitted distribution, to evaluate and to draw from."""
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
        """Akaike's information criterion, 2 (number of free parameters) - 2 loglik."""
        return 2.0 * self.free - 2.0 * self.loglik

    def interval(self, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return confidence intervals by name, from the normal distribution of the estimates.

        These are Wald's intervals, cut off at the ends of the parameters' ranges. The scale's is
        symmetric in its logarithm, that of alpha in log(2 - alpha).
        """
        estimates = {name: getattr(self, name) for name in PARAMETERS}
        return wald_intervals(estimates, self.stderr, confidence)

    @functools.cached_property
    def ks_distance(self) -> float:
        """Largest difference between the distribution functions of the data and of the fit."""
        from stablegpu._inference.summary import distance

        self.require_data()
        return distance(self)

    def summary(self, confidence: float = 0.95) -> str:
        """Return a table of the estimates with their intervals, and of how well they fit."""
        from stablegpu._inference.summary import summarize

        return summarize(self, confidence)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw density, quantiles and probabilities of the data and of the fitted distribution.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Draw the density alone, on these axes.

        Returns
        -------
        matplotlib.figure.Figure
            A new one, or that of `ax`. It is not shown; `figure.savefig(path)` writes it.
        """
        from stablegpu._inference.plots import plot

        self.require_data()
        return plot(self.data, self.weights, self.distribution, ax)

    def require_data(self) -> None:
        """Raise TypeError if the result does not carry its data, as one of many fits."""
        if self.data is None:
            raise TypeError(
                "result must be a FitResult with its data: fit that data set alone (results of "
                "several sets carry none)"
            )

    def _repr_html_(self) -> str:
        from stablegpu._inference.summary import describe_in_html

        return describe_in_html(self)


@dataclass(frozen=True, eq=False)
class FitResults:
    """Fits of many data sets; arrays with an element for each. `fits[k]` is one of them.

    Attributes
    ----------
    alpha, beta, loc, scale : float64 arrays; NaN where the data could not be fitted
    loglik : log-likelihood as the ascent computes it: to 1e-9 of an observation's, for
        |alpha - 1| < 0.1 to 1e-4 at worst
    status : array of texts, each one of `STATUSES`
    message : array of texts; see `FitResult`
    converged : bool array
    covariance : (sets, 4, 4)
    errors : (sets, 4): standard errors; `stderr` has them by name
    size : number of observations of each set
    at_boundary : bool (sets, 3): whether alpha, beta, scale ended at an end of their ranges
    ties : largest number of equal observations; smallest_alpha : see `FitResult`
    fixed : dict by name of the parameters that were not fitted: an array with a value for each set
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
    size: np.ndarray = field(repr=False)
    at_boundary: np.ndarray = field(repr=False)
    ties: np.ndarray = field(repr=False)
    smallest_alpha: np.ndarray = field(repr=False)
    parameterization: str
    method: str
    fixed: Mapping[str, np.ndarray] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        fixed = f", fixed: {', '.join(self.fixed)}" if self.fixed else ""
        return (
            f"<FitResults of {len(self)} data sets, method={self.method!r}, "
            f"parameterization={self.parameterization!r}{fixed}; {self.converged.sum()} converged>"
        )

    def _repr_html_(self) -> str:
        """Return a table of the fits for notebooks."""
        from hetero.display.notebook import html_table

        rows = [
            (k, *(float(getattr(self, name)[k]) for name in PARAMETERS), self.status[k])
            for k in range(min(len(self), _ROWS_SHOWN))
        ]
        if len(self) > _ROWS_SHOWN:
            rows.append(("...",))
        title = (
            f"Fits of stable distributions to {len(self)} data sets, "
            f"{self.converged.sum()} converged"
        )
        return html_table(title, rows, ("set", *PARAMETERS, "status"))

    def __len__(self) -> int:
        return self.alpha.size

    def __iter__(self) -> Iterator[FitResult]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: int) -> FitResult:
        """Return one of the fits, with the ascent's log-likelihood and without the data.

        `plot`, intervals by profile or simulation and tests of goodness of fit need the data, and
        so a fit of that set alone.
        """
        k = range(len(self))[operator.index(index)]
        status = str(self.status[k])
        result = FitResult(
            float(self.alpha[k]),
            float(self.beta[k]),
            float(self.loc[k]),
            float(self.scale[k]),
            parameterization=self.parameterization,
            method=self.method,
            size=int(self.size[k]),
            message=self._message_of(k),
            status=status,
            covariance=self.covariance[k],
            stderr=dict(zip(PARAMETERS, self.errors[k].tolist(), strict=True)),
            evaluations=int(self.evaluations[k]),
            timings=self.timings,
            fixed={name: float(getattr(self, name)[k]) for name in self.fixed},
            ties=float(self.ties[k]),
            smallest_alpha=float(self.smallest_alpha[k]),
        )
        result.__dict__["loglik"] = float(self.loglik[k])
        return result

    def _message_of(self, k: int) -> str:
        return outcome_message(
            self.at_boundary[k],
            str(self.status[k]),
            self.fixed.keys(),
            self.ties[k],
            self.smallest_alpha[k],
        )

    def plot(self, name: str = "alpha", ax: Axes | None = None) -> Figure:
        """Draw the estimates of one parameter with their 95 % intervals, set by set.

        Parameters
        ----------
        name : {"alpha", "beta", "loc", "scale"}
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        matplotlib.figure.Figure, a new one or that of `ax`
        """
        from hetero.validation import check_choice
        from stablegpu._inference.plots import plot_estimates

        return plot_estimates(self, check_choice("name", name, PARAMETERS), ax)

    @functools.cached_property
    def message(self) -> np.ndarray:
        """Remarks on each fit; usually empty texts."""
        return np.array([self._message_of(k) for k in range(len(self))], dtype=str)

    @property
    def free(self) -> int:
        """Number of parameters that were fitted."""
        return len(PARAMETERS) - len(self.fixed)

    @property
    def converged(self) -> np.ndarray:
        """Mask of the fits that ended at a maximum (or where rounding allowed no further gain)."""
        return np.isin(self.status, CONVERGED)

    @property
    def aic(self) -> np.ndarray:
        """Akaike's information criterion, 2 (number of free parameters) - 2 loglik."""
        return 2.0 * self.free - 2.0 * self.loglik

    @property
    def stderr(self) -> dict[str, np.ndarray]:
        """Standard errors by name; see `FitResult`."""
        return dict(zip(PARAMETERS, self.errors.T, strict=True))

    @property
    def sizes(self) -> np.ndarray:
        """Old name of `size`."""
        warnings.warn("FitResults.sizes is now size", DeprecationWarning, stacklevel=2)
        return self.size

    def interval(self, confidence: float = 0.95) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return confidence intervals by name: arrays of their ends; see `FitResult.interval`."""
        estimates = {name: getattr(self, name) for name in PARAMETERS}
        return wald_intervals(estimates, self.stderr, confidence)
