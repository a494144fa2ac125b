"""The result of a fit: the distribution, its standard errors, and how the fit went."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from hetero.equality import equal_by_value
from hetero.validation import require_iterable
from stablegpu._fit.fitted import Fitted
from stablegpu._fit.outcomes import STATUSES as STATUSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from stablegpu._inference.comparison import Comparison
    from stablegpu.risk import RiskEstimate


@equal_by_value
@dataclass(frozen=True, eq=False)
class FitResult(Fitted):
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

    @classmethod
    def of(cls, fitted: Fitted) -> FitResult:
        """Return the result that holds the values of a fit."""
        result = cls(**{f.name: getattr(fitted, f.name) for f in fields(fitted)})
        if "loglik" in vars(fitted):
            result.__dict__["loglik"] = fitted.loglik
        return result

    def conf_int(self, *, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return `interval(confidence)`, by the name that statsmodels has for it."""
        return self.interval(confidence)

    def value_at_risk(
        self,
        level: float,
        *,
        of: str = "returns",
        confidence: float = 0.95,
        method: str | None = None,
    ) -> RiskEstimate:
        """Estimate the value at risk, with its standard error and a confidence interval.

        Parameters
        ----------
        level : float in (0, 1)
            Probability with which the loss is not exceeded, for example 0.99.
        of : {"returns", "losses"}
            What the data are; see `Stable.value_at_risk`.
        confidence : float in (0, 1)
        method : {"profile", "delta"}, optional
            "profile": from the likelihood, which is at least a limit for all values of the risk in
            the interval; it needs the data and a fit with "ml". "delta": a symmetric interval, from
            the covariance of the parameters; it ends too low next to alpha = 2. By default
            "profile" where the fit allows it.

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
        method: str | None = None,
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

    def compare(self) -> Comparison:
        """Compare the fit with fits of the normal and of Student's t distribution.

        All are fitted by maximum likelihood to the same data, with their weights, intervals and
        truncation, and compared by log-likelihood, AIC, BIC and Vuong's (1989) test for
        distributions that are not nested, with BIC's correction. (The normal distribution is a
        stable one; against it the test is conservative.)

        Returns
        -------
        Comparison
            Printed, a table and a sentence that says which distribution fits best.
        """
        from stablegpu._inference.comparison import compare

        return compare(self)

    def summary(self, confidence: float = 0.95) -> str:
        """Return a table of the estimates with their intervals, and of how well they fit."""
        from stablegpu._inference.summary import summarize

        return summarize(self, confidence)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        risks: Sequence[RiskEstimate] = (),
        comparison: Comparison | None = None,
    ) -> Figure:
        """Draw density, quantiles and probabilities of the data and of the fitted distribution.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Draw the density alone, on these axes.
        risks : sequence of RiskEstimate, optional
            Estimates that are marked beside the density.
        comparison : Comparison, optional
            What `compare` returned: the densities of the other distributions are drawn, too.

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
        others = {} if comparison is None else comparison.densities
        return plot(self.data, self.weights, self.distribution, ax, risks, others)

    def _repr_html_(self) -> str:
        from stablegpu._inference.summary import describe_in_html

        return describe_in_html(self)
