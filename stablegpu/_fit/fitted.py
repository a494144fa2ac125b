"""Outcomes of fits: estimates with their covariance, and the data that they came from.

`FitResult` and `FitResults` add the methods that need inference, plots or tables.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, TypeVar

import numpy as np

from hetero import Device
from hetero.arrays import on_host
from hetero.devices import device_of
from hetero.equality import equal_by_value
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._fit.observations.intervals import Intervals
from stablegpu._fit.observations.streams.pieces import Observations, check_size
from stablegpu._fit.observations.streams.read_ahead import read_ahead
from stablegpu._fit.records import CONVERGED, REMEDIES
from stablegpu._fit.wald_intervals import wald_intervals
from stablegpu._parameters import PARAMETERS, Parameters
from stablegpu.distributions.stable import Stable


def _unknown_errors() -> dict[str, float]:
    return dict.fromkeys(PARAMETERS, math.nan)


class _Estimates:
    """Parameters with standard errors, of one fit as numbers or of several as arrays."""

    fixed: Mapping[str, Any]
    loglik: Any
    parameterization: str
    stderr: Any

    @property
    def params(self) -> dict[str, Any]:
        """The estimates by name."""
        return {name: getattr(self, name) for name in PARAMETERS}

    @property
    def free(self) -> int:
        """Number of parameters that were fitted."""
        return len(PARAMETERS) - len(self.fixed)

    @property
    def aic(self) -> Any:
        """Akaike's information criterion, 2 (number of free parameters) - 2 loglik."""
        return 2.0 * self.free - 2.0 * self.loglik

    def interval(self, confidence: float = 0.95) -> dict[str, tuple[Any, Any]]:
        """Return confidence intervals by name, from the normal distribution of the estimates.

        These are Wald's intervals, cut off at the ends of the parameters' ranges. The scale's is
        symmetric in its logarithm, that of alpha in log(2 - alpha), that of beta in its arcsine. A
        location of S1 has the interval (-inf, inf) where that of alpha holds 1, its pole. Those of
        several fits are arrays of their ends.
        """
        return wald_intervals(self.params, self.stderr, confidence, self.parameterization)

    def conf_int(self, *, confidence: float = 0.95) -> dict[str, tuple[Any, Any]]:
        """Return `interval(confidence)`, by the name that statsmodels has for it."""
        return self.interval(confidence)


@equal_by_value
@dataclass(frozen=True, eq=False)
class Fitted(_Estimates):
    """One fit: the values that `stablegpu.FitResult` documents, and what they alone determine."""

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
    intervals: Intervals | None = field(default=None, repr=False)

    @property
    def converged(self) -> bool:
        """True if the fit ended at a maximum (or where rounding allowed no further gain)."""
        return self.status in CONVERGED

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
        if self.data is None:  # that of quantiles
            return math.nan
        if self.intervals is not None:
            return self._loglik_of_intervals(self.intervals)
        logpdf = self.distribution.logpdf(self.data)
        if self.weights is not None:
            logpdf, weights = on_host(logpdf), on_host(self.weights)
            logpdf = (weights * logpdf)[weights > 0.0]
        elif not hasattr(logpdf, "sum"):  # a Numba array
            logpdf = on_host(logpdf)
        return float(logpdf.sum())

    @property
    def bic(self) -> float:
        """Schwarz's information criterion, (number of free parameters) log(nobs) - 2 loglik."""
        return self.free * math.log(self.nobs) - 2.0 * self.loglik

    def _loglik_of_intervals(self, intervals: Intervals) -> float:
        """Return the log-likelihood of observations that lie in intervals."""
        distribution = self.distribution
        logs = distribution.log_probability(*intervals.recorded)
        if intervals.truncation is not None:
            logs = logs - distribution.logsf(intervals.truncation)
        if self.weights is None:
            return float(logs.sum())
        return float((self.weights * logs)[self.weights > 0.0].sum())

    @property
    def has_data(self) -> bool:
        """True if the fitted data are in memory: not those of `fit_stream`."""
        return self.data is not None and not isinstance(self.data, Observations)

    def require_data(self) -> None:
        """Raise TypeError if the result does not carry its data in memory."""
        if self.data is None:
            raise TypeError(
                "result must be a FitResult with its data, which those of quantiles lack, and fits "
                "of many sets with over 2^21 observations do not keep: fit that data set alone"
            )
        if isinstance(self.data, Observations):
            raise TypeError(
                "result must be a FitResult with its data in memory, and those of `fit_stream` are "
                "read from their source: fit a sample of them"
            )


Fit = TypeVar("Fit", bound=Fitted)


@equal_by_value
@dataclass(frozen=True, eq=False)
class FittedSets(_Estimates):
    """Fits of many data sets: the arrays that `stablegpu.FitResults` documents."""

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
    intervals: Intervals | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return self.alpha.size

    def select(self, which: Any) -> Self:
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

    @functools.cached_property
    def message(self) -> np.ndarray:
        """Remarks on each fit; usually empty texts."""
        return np.array([message_of(self, k) for k in range(len(self))], dtype=str)

    @property
    def converged(self) -> np.ndarray:
        """Mask of the fits that ended at a maximum (or where rounding allowed no further gain)."""
        return np.isin(self.status, CONVERGED)

    @property
    def stderr(self) -> dict[str, np.ndarray]:
        """Standard errors by name; see `FitResult`."""
        return dict(zip(PARAMETERS, self.errors.T, strict=True))

    @property
    def bic(self) -> np.ndarray:
        """Schwarz's information criterion, (number of free parameters) log(nobs) - 2 loglik."""
        return self.free * np.log(self.nobs) - 2.0 * self.loglik


_NEAR_POLE = 4.0
"""Distance of alpha from 1, in standard errors, up to which its interval may hold 1."""


def message_of(fits: FittedSets, k: int) -> str:
    """Return the message that describes the outcome of fit number k."""
    status, fixed = str(fits.status[k]), fits.fixed
    smallest_alpha, ties = fits.smallest_alpha[k], fits.ties[k]
    labels = ("alpha", "|beta|", "scale")
    ends = zip(("alpha", "beta", "scale"), labels, fits.at_boundary[k], strict=True)
    names = [label for name, label, is_at in ends if is_at and name not in fixed]
    parts = [f"at the boundary of the estimator's range: {', '.join(names)}"] if names else []
    if smallest_alpha > ALPHA_RANGE[0] and status not in REMEDIES:
        why = f"{ties:g} observations are equal" if ties > 1.0 else "there are few observations"
        parts.append(
            f"{why}, so the likelihood has no bound for small alpha: alpha below "
            f"{smallest_alpha:.3g} was left out"
        )
    if status == "exhausted":
        parts.append("the ascent did not converge within its evaluations")
    free = [j for j, name in enumerate(PARAMETERS) if name not in fixed]
    is_maximum = fits.method == "ml" and status in CONVERGED and len(names) < len(free)
    if is_maximum and np.isnan(fits.errors[k, free]).all():
        parts.append("no standard errors: the data hardly tell the parameters apart")
    if fits.parameterization == "S1" and abs(fits.alpha[k] - 1.0) < _NEAR_POLE * fits.errors[k, 0]:
        estimates = {name: getattr(fits, name)[k] for name in PARAMETERS}
        errors = dict(zip(PARAMETERS, fits.errors[k], strict=True))
        if np.isinf(wald_intervals(estimates, errors, 0.95, "S1")["loc"][0]):
            parts.append(
                "alpha may be 1, where the location of S1 has a pole: the standard error of loc "
                "means little; parameterization='S0' has a location without it"
            )
    if status == "impossible":
        why = "under the fixed parameters" if fixed else "in the range of float64: rescale them"
        parts.append(f"the data have no likelihood {why}")
    if status in REMEDIES:
        parts.append(REMEDIES[status])
    return "; ".join(parts)


def fit_at(fits: FittedSets, k: int, kind: type[Fit], device: Any = None) -> Fit:
    """Return fit number k of several, from 0 on, with its data and the ascent's log-likelihood."""
    data, weights, intervals = None, None, None
    if fits.data is not None and fits.starts is not None:
        part = slice(int(fits.starts[k]), int(fits.starts[k] + fits.size[k]))
        data = fits.data.reshape(-1)[part]
        weights = fits.weights if fits.weights is None else fits.weights.reshape(-1)[part]
        intervals = fits.intervals and fits.intervals.select(part)
    numbers = (*PARAMETERS, "ties", "smallest_alpha", "nobs")
    fitted = kind(
        **{name: float(getattr(fits, name)[k]) for name in numbers},
        parameterization=fits.parameterization,
        method=fits.method,
        size=int(fits.size[k]),
        message=message_of(fits, k),
        status=str(fits.status[k]),
        covariance=fits.covariance[k],
        stderr=dict(zip(PARAMETERS, fits.errors[k].tolist(), strict=True)),
        evaluations=int(fits.evaluations[k]),
        timings=fits.timings,
        fixed={name: float(getattr(fits, name)[k]) for name in fits.fixed},
        device=device,
        data=data,
        weights=weights,
        label=None if fits.labels is None else fits.labels[k],
        intervals=intervals,
    )
    vars(fitted)["loglik"] = float(fits.loglik[k])
    return fitted


def single_fit(fits: FittedSets, kind: type[Fit], device: Any = None) -> Fit:
    """Return the only one of the fits; raise ValueError if its data cannot be fitted."""
    if (status := str(fits.status[0])) in REMEDIES:
        raise ValueError(REMEDIES[status])
    return fit_at(fits, 0, kind, device)


def keep_copy(values: Any) -> Any:
    """Copy an array in host memory: the caller may change it before the result reads it."""
    return values if values is None or device_of(values) else values.copy()
