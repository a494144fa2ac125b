"""Results of fits: one fitted distribution, or arrays with an element for each data set."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from hetero.equality import equal_by_value
from hetero.validation import check_choice, require_iterable
from stablegpu._fit.fitted import Fitted, FittedSets, fit_at
from stablegpu._fit.records import STATUSES as STATUSES
from stablegpu._parameters import PARAMETERS
from stablegpu.distributions.risk import RiskEstimate, RiskEstimates

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from stablegpu._inference.comparison import Comparison

_ROWS_SHOWN = 10  # data sets in the table of a notebook

Risk = TypeVar("Risk", RiskEstimate, RiskEstimates)


class WithRisks(Generic[Risk]):
    """Estimates of the risk of one fit, or of each of several."""

    def value_at_risk(
        self,
        level: float,
        *,
        of: str = "returns",
        confidence: float = 0.95,
        method: str | None = None,
    ) -> Risk:
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
        RiskEstimate for one fit, RiskEstimates for several
            The ends of all intervals are searched for at once, some tens of milliseconds for each
            fit. Estimates of data that could not be fitted are NaN.
        """
        from stablegpu._inference.risk_intervals import estimate_risks

        result: Risk = estimate_risks(self, "value_at_risk", level, of, confidence, method)
        return result

    def expected_shortfall(
        self,
        level: float,
        *,
        of: str = "returns",
        confidence: float = 0.95,
        method: str | None = None,
    ) -> Risk:
        """Estimate the mean of the losses beyond the value at risk; see `value_at_risk`.

        It is infinite for alpha <= 1, and so may be the upper end of its interval.
        """
        from stablegpu._inference.risk_intervals import estimate_risks

        result: Risk = estimate_risks(self, "expected_shortfall", level, of, confidence, method)
        return result


@equal_by_value
@dataclass(frozen=True, eq=False)
class FitResult(Fitted, WithRisks[RiskEstimate]):
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
        stable one; against it the test is conservative.) The degrees of freedom of Student's t are
        at least `smallest_alpha`: below, equal data have no largest likelihood.

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

        require_iterable("risks", risks, "estimates")
        if not all(isinstance(one, RiskEstimate) for one in risks):
            raise TypeError("risks must hold estimates that `value_at_risk` of a fit returns")
        self.require_data()
        others = {} if comparison is None else comparison.densities
        return plot(self.data, self.weights, self.distribution, ax, risks, others)

    def _repr_html_(self) -> str:
        from stablegpu._inference.summary import describe_in_html

        return describe_in_html(self)


@equal_by_value
@dataclass(frozen=True, eq=False)
class FitResults(FittedSets, WithRisks[RiskEstimates]):
    """Fits of many data sets; arrays with an element for each.

    `fits[k]` is one of them, `fits["label"]` that of a column of a frame, and `fits[2:5]` or
    `fits[fits.converged]` are `FitResults` again.

    Attributes
    ----------
    alpha, beta, loc, scale : float64 arrays; NaN where the data could not be fitted
    loglik : log-likelihood as the ascent computes it: to 1e-9 of an observation's, for
        |alpha - 1| < 0.1 mostly to 1e-7, to 1e-4 at worst
    status : array of texts, each one of `STATUSES`
    message : array of texts; see `FitResult`
    converged : bool array
    covariance : (sets, 4, 4)
    errors : (sets, 4): standard errors; `stderr` has them by name
    size : number of observations of each set
    at_boundary : bool (sets, 3): whether alpha, beta, scale ended at an end of their ranges
    ties : largest number of equal observations; smallest_alpha : see `FitResult`
    nobs : number of observations; with weights their sum
    fixed : dict by name of the parameters that were not fitted: an array with a value for each set
    labels : names of the data sets, those of the columns of a frame or of a mapping; for windows
        what the index has at their last observation, such as its date. None if there are none.
    data, weights : the fitted data of all sets, one behind the other, or the series of windows: a
        copy of data in host memory, the array itself on a GPU. None for more than 2^21 observations
    starts : index of the first observation of each set in `data`
    """

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
            (
                self._name_of(k),
                *(float(getattr(self, name)[k]) for name in PARAMETERS),
                self.status[k],
            )
            for k in range(min(len(self), _ROWS_SHOWN))
        ]
        if len(self) > _ROWS_SHOWN:
            rows.append(("...",))
        title = (
            f"Fits of stable distributions to {len(self)} data sets, "
            f"{self.converged.sum()} converged"
        )
        return html_table(title, rows, ("set", *PARAMETERS, "status"))

    def __iter__(self) -> Iterator[FitResult]:
        return (self[k] for k in range(len(self)))

    @overload
    def __getitem__(self, index: int | str) -> FitResult: ...

    @overload
    def __getitem__(self, index: slice | Sequence[int] | np.ndarray) -> FitResults: ...

    def __getitem__(self, index: Any) -> FitResult | FitResults:
        """Return one of the fits by its number or label, or several by a slice, mask or numbers.

        One fit has the ascent's log-likelihood.

        Raises
        ------
        IndexError, KeyError : there is no such fit
        """
        if isinstance(index, slice | list) or np.ndim(index) == 1:
            return self.select(index)
        if isinstance(index, str):
            if self.labels is None or index not in self.labels:
                names = "none" if self.labels is None else ", ".join(map(repr, self.labels[:20]))
                raise KeyError(f"there is no fit {index!r}; the labels are {names}")
            return self[list(self.labels).index(index)]
        k = range(len(self))[operator.index(index)]
        return fit_at(self, k, FitResult)

    def _name_of(self, k: int) -> object:
        """Return the label of a fit, or its number."""
        return k if self.labels is None else self.labels[k]

    def as_columns(self) -> dict[str, np.ndarray]:
        """Return what `to_frame` has, as arrays by name: a row for each fit, without the labels."""
        return as_columns(self)

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas DataFrame with a row for each fit; its index has the labels."""
        import pandas

        return pandas.DataFrame(self.as_columns(), index=self.labels)

    def summary(self) -> str:
        """Return a table of the estimates with their standard errors, a line for each fit."""
        from stablegpu._inference.summary import summarize_many

        return summarize_many(self)

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
        from stablegpu._inference.plots import plot_estimates

        return plot_estimates(self, check_choice("name", name, PARAMETERS), ax)


def as_columns(results: FitResult | FitResults) -> dict[str, np.ndarray]:
    """Return what files and frames hold of fits: arrays by name, with an element for each fit."""
    values: dict[str, Any] = {"nobs": results.nobs, **results.params}
    values |= {f"{name}_stderr": errors for name, errors in results.stderr.items()}
    for name in ("loglik", "aic", "bic", "converged", "status", "message"):
        values[name] = getattr(results, name)
    return {name: np.atleast_1d(value) for name, value in values.items()}
