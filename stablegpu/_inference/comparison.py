"""A stable fit beside fits of the normal and of Student's t distribution to the same data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hetero.arrays import on_host
from hetero.display.notebook import html_table
from hetero.equality import equal_by_value
from stablegpu._fit.fitted import Fitted
from stablegpu._inference.failures import require_converged
from stablegpu._inference.summary import align_columns
from stablegpu.distributions.base import log_interval_probability

_LARGEST_DF = 1e6  # of Student's t, which is normal by then to 6 digits
_STARTS_OF_DF = (1.5, 4.0, 30.0)
_ALIKE = 9.5
"""Sum of squared log-ratios, about their mean, below which two distributions are too alike for
Vuong's test: between equal ones it is like chi-square with up to four degrees of freedom."""

_HEAD = ("", "log-likelihood", "AIC", "BIC", "Vuong", "p-value", "rests on")

_CLEAR = 2.0  # difference of BIC from which on it says something, by a common rule of thumb


@equal_by_value
@dataclass(frozen=True, eq=False)
class FittedModel:
    """One of the distributions that `FitResult.compare` fits.

    Attributes
    ----------
    name : {"stable", "Student t", "normal"}
    parameters : dict
        Maximum-likelihood estimates by SciPy's names (those of `stable` for the stable one).
    free : int
        Number of parameters that were fitted.
    loglik, aic, bic : float
    vuong : float
        Vuong's statistic of the stable distribution against this one: positive if the stable one
        fits better. NaN for the stable one.
    pvalue : float
        Two-sided p-value of the statistic, from the normal distribution. Both are NaN where the two
        distributions are too alike for the test.
    effective : float
        Number of observations on which the statistic rests: the square of the sum of squared
        deviations of the log-ratios over the sum of their fourth powers. If it is a handful, a few
        outliers decide.
    """

    name: str
    parameters: dict[str, float]
    free: int
    loglik: float
    aic: float
    bic: float
    vuong: float = math.nan
    pvalue: float = math.nan
    effective: float = math.nan


@equal_by_value
@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of `FitResult.compare`; printed, it is a table with a sentence.

    Attributes
    ----------
    models : tuple of FittedModel
        Normal, Student's t and stable, the smallest BIC first.
    nobs : float
    """

    models: tuple[FittedModel, ...]
    nobs: float
    densities: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)

    @property
    def best(self) -> str:
        """Name of the distribution with the smallest BIC."""
        return self.models[0].name

    def __getitem__(self, name: str) -> FittedModel:
        """Return one of the models by its name."""
        models = {model.name: model for model in self.models}
        if name not in models:
            raise KeyError(f"there is no model {name!r}; there are {', '.join(map(repr, models))}")
        return models[name]

    @property
    def verdict(self) -> str:
        """Return in a sentence which distribution fits best, and how sure that is."""
        first, second = self.models[:2]
        lead = second.bic - first.bic
        if lead < _CLEAR:
            return (
                f"{first.name} and {second.name} fit alike: their BIC differ by {lead:.2g}, "
                "less than 2."
            )
        text = (
            f"{first.name} fits best: its BIC is smaller by {lead:.4g} than that of {second.name}"
        )
        other = self["Student t"] if first.name == "stable" else first
        if {"stable", other.name} != {first.name, second.name}:
            return text + "."
        if math.isnan(other.vuong):
            text += " (they are too alike for Vuong's test)"
        else:
            text += f" (Vuong's test p-value {other.pvalue:.3g}, resting on "
            text += f"{other.effective:.3g} of {self.nobs:g} observations)"
        return text + "."

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [_HEAD]
        for model in self.models:
            numbers = (model.vuong, model.pvalue, model.effective)
            last = tuple("" if math.isnan(v) else f"{v:.3g}" for v in numbers)
            rows.append(
                (model.name, *(f"{v:.3f}" for v in (model.loglik, model.aic, model.bic)), *last)
            )
        return "\n".join([*align_columns(rows), "", self.verdict])

    def _repr_html_(self) -> str:
        rows = [
            (m.name, m.loglik, m.aic, m.bic, m.vuong, m.pvalue, m.effective) for m in self.models
        ]
        return html_table(self.verdict, rows, _HEAD)


class _Data(NamedTuple):
    """Observations with their weights, and what a likelihood needs to know of intervals."""

    x: np.ndarray
    weights: np.ndarray
    intervals: Any

    def logs_of(self, distribution: Any) -> np.ndarray:
        """Return the contribution of each observation to the log-likelihood."""
        ends = self.intervals
        if ends is None:
            return np.asarray(distribution.logpdf(self.x))
        logs = log_interval_probability(distribution, *ends.recorded)
        if ends.truncation is not None:
            logs = logs - distribution.logsf(ends.truncation)
        return np.asarray(logs)


def compare(result: Fitted) -> Comparison:
    """Fit normal and Student's t distributions to the data of a fit; see `FitResult.compare`."""
    from scipy.stats import norm, t

    result.require_data()
    require_converged(result)
    if result.method != "ml":
        raise ValueError(
            f"compare() needs a fit with method='ml', got method={result.method!r}: only largest "
            "likelihoods can be compared"
        )
    x = np.asarray(on_host(result.data))
    weights = np.ones(x.size) if result.weights is None else np.asarray(on_host(result.weights))
    intervals = result.intervals
    if intervals is not None:  # equal ones count once
        ends = np.stack([intervals.lower, intervals.upper], axis=1)
        _, first, same = np.unique(ends, axis=0, return_index=True, return_inverse=True)
        weights = np.bincount(same.reshape(-1), weights, minlength=first.size)
        x, intervals = x[first], intervals.select(first)
    data = _Data(x, weights, intervals)
    nobs = float(weights.sum())
    of_stable = data.logs_of(result.distribution)
    stable = _model("stable", result.params, result.free, of_stable, weights)
    middle, width = (
        result.loc if result.parameterization == "S0" else _median(x, weights),
        result.scale,
    )

    def student_at(point: np.ndarray) -> Any:
        # Where k of n data are equal, the likelihood of t has no bound for df < k/(n - k), either.
        df = math.exp(min(max(point[2], math.log(result.smallest_alpha)), math.log(_LARGEST_DF)))
        return t(df, middle + width * point[0], width * math.exp(point[1]))

    def normal_at(point: np.ndarray) -> Any:
        return norm(middle + width * point[0], width * math.exp(point[1]))

    starts = [[0.0, 0.3, math.log(df)] for df in _STARTS_OF_DF]
    student = student_at(_minimize(data, student_at, starts))
    spread = math.log(max(_deviation((x - middle) / width, weights), 1e-3))
    normal = normal_at(_minimize(data, normal_at, [[0.0, 0.3], [0.0, spread]]))
    models = [stable]
    for name, frozen, names in (
        ("Student t", student, ("df", "loc", "scale")),
        ("normal", normal, ("loc", "scale")),
    ):
        logs = data.logs_of(frozen)
        parameters = dict(zip(names, map(float, frozen.args), strict=True))
        other = _model(name, parameters, len(names), logs, weights)
        models.append(_with_vuong(other, stable, of_stable - logs, weights))
    models.sort(key=lambda model: model.bic)
    return Comparison(tuple(models), nobs, {"Student t": student.pdf, "normal": normal.pdf})


def _median(x: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(x)
    below = np.cumsum(weights[order])
    return float(x[order][np.searchsorted(below, 0.5 * below[-1])])


def _deviation(x: np.ndarray, weights: np.ndarray) -> float:
    """Return the standard deviation of weighted data."""
    off = x - np.average(x, weights=weights)
    largest = float(np.abs(off).max()) or 1.0  # squares may leave the range of floats
    return largest * math.sqrt(np.average((off / largest) ** 2, weights=weights))


def _minimize(data: _Data, distribution_at: Any, starts: list[list[float]]) -> np.ndarray:
    """Return the coordinates of the largest likelihood, from several starts."""
    from scipy.optimize import minimize

    counts = data.weights > 0.0

    def cost(point: np.ndarray) -> float:
        with np.errstate(all="ignore"):
            total = float((data.weights * data.logs_of(distribution_at(point)))[counts].sum())
        return -total if math.isfinite(total) else 1e300

    options = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 2000}
    searches = [minimize(cost, s, method="Nelder-Mead", options=options) for s in starts]
    best: np.ndarray = min(searches, key=lambda search: search.fun).x
    return best


def _model(
    name: str, parameters: dict[str, float], free: int, logs: np.ndarray, weights: np.ndarray
) -> FittedModel:
    """Return a model with its criteria."""
    loglik = float((weights * logs)[weights > 0.0].sum())
    bic = free * math.log(weights.sum()) - 2.0 * loglik
    return FittedModel(name, parameters, free, loglik, 2.0 * free - 2.0 * loglik, bic)


def _with_vuong(
    model: FittedModel, stable: FittedModel, ratios: np.ndarray, weights: np.ndarray
) -> FittedModel:
    """Return a model with Vuong's (1989) test against the stable one, corrected as BIC is."""
    from dataclasses import replace

    from scipy.special import ndtr

    nobs = weights.sum()
    counts = weights > 0.0
    ratios, weights = ratios[counts], weights[counts]
    off = ratios - np.average(ratios, weights=weights)
    squares, fourths = float((weights * off**2).sum()), float((weights * off**4).sum())
    if not squares > _ALIKE:  # both are the same distribution
        return model
    penalty = 0.5 * (stable.free - model.free) * math.log(nobs)
    statistic = (stable.loglik - model.loglik - penalty) / math.sqrt(squares)
    pvalue = 2.0 * float(ndtr(-abs(statistic)))
    return replace(model, vuong=statistic, pvalue=pvalue, effective=squares**2 / fourths)
