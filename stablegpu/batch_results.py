"""The results of many fits: arrays with an element for each data set, and their labels."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from hetero.equality import equal_by_value
from stablegpu._fit.outcomes import CONVERGED, outcome_message
from stablegpu._inference.wald import wald_intervals
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
class FitResults:
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
    nobs: np.ndarray = field(repr=False)
    parameterization: str
    method: str
    fixed: Mapping[str, np.ndarray] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict, repr=False, compare=False)
    labels: Sequence[Any] | None = field(default=None, repr=False)
    data: Any = field(default=None, repr=False, compare=False)
    weights: Any = field(default=None, repr=False, compare=False)
    starts: np.ndarray | None = field(default=None, repr=False, compare=False)

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

    def __len__(self) -> int:
        return self.alpha.size

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
            return self._select(index)
        if isinstance(index, str):
            if self.labels is None or index not in self.labels:
                names = "none" if self.labels is None else ", ".join(map(repr, self.labels[:20]))
                raise KeyError(f"there is no fit {index!r}; the labels are {names}")
            return self[list(self.labels).index(index)]
        k = range(len(self))[operator.index(index)]
        result = fit_result(
            self, k, None, self._part_of(self.data, k), self._part_of(self.weights, k)
        )
        result.__dict__["loglik"] = float(self.loglik[k])
        return result

    def _part_of(self, values: Any, k: int) -> Any:
        """Return the data of a fit, or its weights; None if there are none."""
        if values is None or self.starts is None:
            return None
        return values.reshape(-1)[int(self.starts[k]) : int(self.starts[k] + self.size[k])]

    def _select(self, which: Any) -> FitResults:
        """Return the fits of a slice, a mask or numbers."""
        numbers = np.arange(len(self))[which]
        changed: dict[str, Any] = {
            f.name: value[numbers]
            for f in fields(self)
            if f.name not in ("data", "weights")
            and isinstance(value := getattr(self, f.name), np.ndarray)
        }
        changed["fixed"] = {name: values[numbers] for name, values in self.fixed.items()}
        if self.labels is not None:
            changed["labels"] = tuple(self.labels[k] for k in numbers)
        return replace(self, **changed)

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
    def bic(self) -> np.ndarray:
        """Schwarz's information criterion, (number of free parameters) log(nobs) - 2 loglik."""
        return self.free * np.log(self.nobs) - 2.0 * self.loglik

    @property
    def params(self) -> dict[str, np.ndarray]:
        """The estimates by name."""
        return {name: getattr(self, name) for name in PARAMETERS}

    def interval(self, confidence: float = 0.95) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return confidence intervals by name: arrays of their ends; see `FitResult.interval`."""
        return wald_intervals(self.params, self.stderr, confidence)

    def conf_int(self, *, confidence: float = 0.95) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return `interval(confidence)`, by the name that statsmodels has for it."""
        return self.interval(confidence)

    def value_at_risk(
        self,
        level: float,
        *,
        of: str = "returns",
        confidence: float = 0.95,
        method: str = "delta",
    ) -> RiskEstimates:
        """Estimate the value at risk of every set; see `FitResult.value_at_risk`.

        It takes some 10 ms a set; "profile" takes seconds. Estimates of data that could not be
        fitted are NaN.
        """
        from stablegpu._inference.risk_intervals import estimate_risks

        return estimate_risks(self, "value_at_risk", level, of, confidence, method)

    def expected_shortfall(
        self,
        level: float,
        *,
        of: str = "returns",
        confidence: float = 0.95,
        method: str = "delta",
    ) -> RiskEstimates:
        """Estimate the mean of the losses beyond the value at risk; see `value_at_risk`."""
        from stablegpu._inference.risk_intervals import estimate_risks

        return estimate_risks(self, "expected_shortfall", level, of, confidence, method)


def fit_result(
    results: FitResults, k: int, device: Any = None, data: Any = None, weights: Any = None
) -> FitResult:
    """Return fit number k, from 0 on."""
    return FitResult(
        float(results.alpha[k]),
        float(results.beta[k]),
        float(results.loc[k]),
        float(results.scale[k]),
        parameterization=results.parameterization,
        method=results.method,
        size=int(results.size[k]),
        message=results._message_of(k),
        status=str(results.status[k]),
        covariance=results.covariance[k],
        stderr=dict(zip(PARAMETERS, results.errors[k].tolist(), strict=True)),
        evaluations=int(results.evaluations[k]),
        timings=results.timings,
        fixed={name: float(getattr(results, name)[k]) for name in results.fixed},
        device=device,
        data=data,
        weights=weights,
        ties=float(results.ties[k]),
        smallest_alpha=float(results.smallest_alpha[k]),
        nobs=float(results.nobs[k]),
        label=None if results.labels is None else results.labels[k],
    )


def as_columns(results: FitResult | FitResults) -> dict[str, np.ndarray]:
    """Return what files and frames hold of fits: arrays by name, with an element for each fit."""
    values: dict[str, Any] = {"nobs": results.nobs, **results.params}
    values |= {f"{name}_stderr": errors for name, errors in results.stderr.items()}
    for name in ("loglik", "aic", "bic", "converged", "status", "message"):
        values[name] = getattr(results, name)
    return {name: np.atleast_1d(value) for name, value in values.items()}
