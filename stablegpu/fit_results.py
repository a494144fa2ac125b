"""The result of a fit: the distribution, its standard errors, and how the fit went."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hetero import Device
from hetero.arrays import on_host
from hetero.equality import equal_by_value
from hetero.validation import require_iterable
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._fit.outcomes import CONVERGED
from stablegpu._fit.outcomes import STATUSES as STATUSES
from stablegpu._fit.streams.pieces import Observations, check_size
from stablegpu._fit.streams.read_ahead import read_ahead
from stablegpu._inference.wald import wald_intervals
from stablegpu._parameters import PARAMETERS, Parameters
from stablegpu.distribution import Stable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from stablegpu.risk import RiskEstimate


def _unknown_errors() -> dict[str, float]:
    return dict.fromkeys(PARAMETERS, math.nan)


@equal_by_value
@dataclass(frozen=True, eq=False)
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
        The fitted data: a copy of data in host memory, the array itself on a GPU; of `fit_stream`
        what reads them again.
    nobs : float
        Number of observations; with weights their sum.
    label : object
        Name of the data set, if it was a series or a column of a frame.
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
    covariance: Any = field(default=None, repr=False)
    stderr: dict[str, float] = field(default_factory=_unknown_errors, repr=False)
    evaluations: int = 0
    timings: dict[str, float] = field(default_factory=dict, repr=False, compare=False)
    fixed: dict[str, float] = field(default_factory=dict, repr=False)
    device: str | Device | None = field(default=None, repr=False)
    ties: float = 1.0
    smallest_alpha: float = field(default=ALPHA_RANGE[0], repr=False)
    data: Any = field(default=None, repr=False)
    weights: Any = field(default=None, repr=False)
    nobs: float = field(default=math.nan, repr=False)
    label: Any = field(default=None, repr=False)

    @property
    def params(self) -> dict[str, float]:
        """The estimates by name."""
        return {name: getattr(self, name) for name in PARAMETERS}

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
        if isinstance(self.data, Observations):
            distribution, cpu = self.distribution, Device("cpu")  # buffers are not for a GPU
            with contextlib.closing(read_ahead(self.data, cpu)) as pieces:
                sums = [(piece.size, float(distribution.logpdf(piece).sum())) for piece in pieces]
            check_size(sum(size for size, _ in sums), self.size)
            return math.fsum(total for _, total in sums)
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

    @property
    def bic(self) -> float:
        """Schwarz's information criterion, (number of free parameters) log(nobs) - 2 loglik."""
        return self.free * math.log(self.nobs) - 2.0 * self.loglik

    def interval(self, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return confidence intervals by name, from the normal distribution of the estimates.

        These are Wald's intervals, cut off at the ends of the parameters' ranges. The scale's is
        symmetric in its logarithm, that of alpha in log(2 - alpha).
        """
        return wald_intervals(self.params, self.stderr, confidence)

    def conf_int(self, *, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return `interval(confidence)`, by the name that statsmodels has for it."""
        return self.interval(confidence)

    def value_at_risk(
        self,
        level: float,
        *,
        of: str = "returns",
        confidence: float = 0.95,
        method: str = "delta",
    ) -> RiskEstimate:
        """Estimate the value at risk, with its standard error and a confidence interval.

        Parameters
        ----------
        level : float in (0, 1)
            Probability with which the loss is not exceeded, for example 0.99.
        of : {"returns", "losses"}
            What the data are; see `Stable.value_at_risk`.
        confidence : float in (0, 1)
        method : {"delta", "profile"}
            "delta": a symmetric interval, from the covariance of the parameters. "profile": from
            the likelihood, maximized under each value of the risk; it needs the data and takes
            seconds, and is the better one for small samples and far tails.

        Returns
        -------
        RiskEstimate
        """
        from stablegpu._inference.risk_intervals import estimate_risk

        return estimate_risk(self, "value_at_risk", level, of, confidence, method)

    def expected_shortfall(
        self,
        level: float,
        *,
        of: str = "returns",
        confidence: float = 0.95,
        method: str = "delta",
    ) -> RiskEstimate:
        """Estimate the mean of the losses beyond the value at risk; see `value_at_risk`.

        It is infinite for alpha <= 1, and so may be the upper end of its interval.
        """
        from stablegpu._inference.risk_intervals import estimate_risk

        return estimate_risk(self, "expected_shortfall", level, of, confidence, method)

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

    def plot(self, ax: Axes | None = None, *, risks: Sequence[RiskEstimate] = ()) -> Figure:
        """Draw density, quantiles and probabilities of the data and of the fitted distribution.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Draw the density alone, on these axes.
        risks : sequence of RiskEstimate, optional
            Estimates that are marked beside the density.

        Returns
        -------
        matplotlib.figure.Figure
            A new one of pyplot, which notebooks and `pyplot.show()` show, or that of `ax`.
        """
        from stablegpu._inference.plots import plot
        from stablegpu.risk import RiskEstimate

        require_iterable("risks", risks, "estimates")
        if not all(isinstance(one, RiskEstimate) for one in risks):
            raise TypeError("risks must hold estimates that `value_at_risk` of a fit returns")
        self.require_data()
        return plot(self.data, self.weights, self.distribution, ax, risks)

    @property
    def has_data(self) -> bool:
        """True if the fitted data are in memory: not those of `fit_stream`."""
        return self.data is not None and not isinstance(self.data, Observations)

    def require_data(self) -> None:
        """Raise TypeError if the result does not carry its data in memory."""
        if self.data is None:
            raise TypeError(
                "result must be a FitResult with its data, which fits of many sets with more than "
                "2^21 observations do not keep: fit that data set alone"
            )
        if isinstance(self.data, Observations):
            raise TypeError(
                "result must be a FitResult with its data in memory, and those of `fit_stream` are "
                "read from their source: fit a sample of them"
            )

    def _repr_html_(self) -> str:
        from stablegpu._inference.summary import describe_in_html

        return describe_in_html(self)
