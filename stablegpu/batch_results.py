"""The results of many fits: arrays with an element for each data set, and their labels."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from hetero.equality import equal_by_value
from stablegpu._fit.fitted import FittedSets
from stablegpu._parameters import PARAMETERS
from stablegpu.fit_results import FitResult
from stablegpu.risk import RiskEstimates

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROWS_SHOWN = 10  # data sets in the table of a notebook


@equal_by_value
@dataclass(frozen=True, eq=False)
class FitResults(FittedSets):
    """Fits of many data sets; arrays with an element for each.

    `fits[k]` is one of them, `fits["label"]` that of a column of a frame, and `fits[2:5]` or
    `fits[fits.converged]` are `FitResults` again.

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
    nobs : number of observations; with weights their sum
    fixed : dict by name of the parameters that were not fitted: an array with a value for each set
    labels : names of the data sets, those of the columns of a frame or of a mapping; for windows
        what the index has at their last observation, such as its date. None if there are none.
    data, weights : the fitted data of all sets, one behind the other, or the series of windows: a
        copy of data in host memory, the array itself on a GPU. None for more than 2^21 observations
    starts : index of the first observation of each set in `data`
    """

    @classmethod
    def of(cls, fits: FittedSets) -> FitResults:
        """Return the results that hold the values of fits."""
        return cls(**{f.name: getattr(fits, f.name) for f in fields(fits)})

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
        return FitResult.of(self.one(k))

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
        from hetero.validation import check_choice
        from stablegpu._inference.plots import plot_estimates

        return plot_estimates(self, check_choice("name", name, PARAMETERS), ax)

    def conf_int(self, *, confidence: float = 0.95) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return `interval(confidence)`, by the name that statsmodels has for it."""
        return self.interval(confidence)

    def value_at_risk(
        self,
        level: float,
        *,
        of: str = "returns",
        confidence: float = 0.95,
        method: str | None = None,
    ) -> RiskEstimates:
        """Estimate the value at risk of every set; see `FitResult.value_at_risk`.

        The ends of all intervals are searched for at once, some tens of milliseconds for each set.
        Estimates of data that could not be fitted are NaN.
        """
        from stablegpu._inference.risk_intervals import estimate_risks

        return estimate_risks(self, "value_at_risk", level, of, confidence, method)

    def expected_shortfall(
        self,
        level: float,
        *,
        of: str = "returns",
        confidence: float = 0.95,
        method: str | None = None,
    ) -> RiskEstimates:
        """Estimate the mean of the losses beyond the value at risk; see `value_at_risk`."""
        from stablegpu._inference.risk_intervals import estimate_risks

        return estimate_risks(self, "expected_shortfall", level, of, confidence, method)


def as_columns(results: FitResult | FitResults) -> dict[str, np.ndarray]:
    """Return what files and frames hold of fits: arrays by name, with an element for each fit."""
    values: dict[str, Any] = {"nobs": results.nobs, **results.params}
    values |= {f"{name}_stderr": errors for name, errors in results.stderr.items()}
    for name in ("loglik", "aic", "bic", "converged", "status", "message"):
        values[name] = getattr(results, name)
    return {name: np.atleast_1d(value) for name, value in values.items()}
