"""Inference from a fit: intervals by the likelihood's profile and by simulation, and tests of
goodness of fit. And what any unbiased estimator can know at most: Fisher's information."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hetero import philox, validation
from hetero.arrays import on_host
from hetero.moved import renamed_arguments
from hetero.notebook import html_table
from hetero.progress_bar import progress as show_progress
from stablegpu._density.pointwise.evaluate import evaluate
from stablegpu._fit.batch import join_results
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._fit.wald import RANGES
from stablegpu._parameters import PARAMETERS
from stablegpu.derivatives import dlogpdf
from stablegpu.distribution import stable
from stablegpu.fit_results import FitResult, FitResults
from stablegpu.fitting import fit

# ---- the likelihood's profile ------------------------------------------------------------------


@dataclass(frozen=True)
class ProfileLikelihood:
    """Profile of the likelihood over one parameter, and the interval that follows from it.

    Attributes
    ----------
    name : str
        The parameter.
    low, high : float
        Ends of the interval.
    confidence : float
    points : array
        Values of the parameter, ascending, with the estimate among them.
    drop : array
        2 (largest log-likelihood - largest log-likelihood with the parameter fixed at the point).
    """

    name: str
    low: float
    high: float
    confidence: float
    points: np.ndarray = field(repr=False, compare=False)
    drop: np.ndarray = field(repr=False, compare=False)

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval."""
        return self.low, self.high

    def __iter__(self) -> Iterator[Any]:
        _warn_of_unpacking("profile_likelihood", "interval, points and drop")
        return iter((self.interval, self.points, self.drop))

    def _repr_html_(self) -> str:
        rows = [(self.name, self.low, self.high)]
        title = f"{100 * self.confidence:g} % interval by the profile of the likelihood"
        return html_table(title, rows, ("", "low", "high"))


class _Side(NamedTuple):
    """One side of a profile: points outwards from the estimate, their roots, the range's end."""

    grid: np.ndarray
    root: np.ndarray
    end: float


_ROUNDS = 6  # of additional points of a profile; not tuned
_COARSE = 0.5  # larger steps of the profile's root are filled with points, smaller interpolated


def profile_likelihood(
    result: FitResult, name: str, confidence: float = 0.95, *, points: int = 33
) -> ProfileLikelihood:
    """Compute the interval of one parameter from the profile of the likelihood.

    Parameters
    ----------
    result : FitResult of `fit(..., method="ml")`; `name` was not fixed
    name : {"alpha", "beta", "scale"}
        It is fixed at points around the estimate; the others are fitted at each, all in one call.
    confidence : float in (0, 1)
    points : int >= 2
        Number of points within four standard errors, or in the whole range if there is no standard
        error. More follow if the profile has not reached the limit yet, or if it does so in too
        large a step.

    Returns
    -------
    ProfileLikelihood
        If the profile stays below the limit up to the end of the parameter's range, that is the end
        of the interval.
    """
    from scipy.special import ndtri

    validation.check_choice("name", name, ("alpha", "beta", "scale"))
    _check_single(result)
    if result.method != "ml":
        raise ValueError(f"result must be a fit with method='ml', got method={result.method!r}")
    if name in result.fixed:
        raise ValueError(f"name={name!r} was fixed, so it has no interval: name another parameter")
    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    points = validation.check_integer("points", points, 2)
    limit = float(ndtri(0.5 + 0.5 * confidence))
    value, error = getattr(result, name), result.stderr[name]
    if name == "scale":
        centre, error, ends = 0.0, error / value, (-math.inf, math.inf)
    else:
        centre, ends = value, RANGES[name]

    def to_parameter(grid: Any) -> Any:
        return value * np.exp(grid) if name == "scale" else grid

    grid = _initial_grid(centre, 2.0 * limit * error, ends, points)
    loglik = _profile_loglik(result, name, to_parameter(grid))
    for _ in range(_ROUNDS):
        root = _root(loglik, grid == centre)
        new = np.concatenate(
            [_further_points(side, limit) for side in _sides(grid, root, centre, ends)]
        )
        if not new.size:
            break
        grid, order = np.unique(np.append(grid, new), return_index=True)
        loglik = np.append(loglik, _profile_loglik(result, name, to_parameter(new)))[order]
    root = _root(loglik, grid == centre)
    low, high = (_crossing(side, limit) for side in _sides(grid, root, centre, ends))
    drop = 2.0 * (loglik[grid == centre] - loglik)
    return ProfileLikelihood(
        name,
        float(to_parameter(low)),
        float(to_parameter(high)),
        confidence,
        to_parameter(grid),
        drop,
    )


def _initial_grid(
    centre: float, reach: float, ends: tuple[float, float], points: int
) -> np.ndarray:
    """Return the initial points of a profile, `centre` among them."""
    if not 0.0 < reach < math.inf:  # no standard error
        reach = max(ends) - min(ends) if math.isfinite(ends[1]) else math.log(5.0)
    low, high = max(ends[0], centre - reach), min(ends[1], centre + reach)
    return np.unique(np.append(np.linspace(low, high, points), centre))


def _profile_loglik(result: FitResult, name: str, values: np.ndarray) -> np.ndarray:
    """Return the largest log-likelihoods with one parameter fixed at each of the values."""
    shape = values.size, result.size
    weights = None if result.weights is None else np.broadcast_to(on_host(result.weights), shape)
    data = np.broadcast_to(on_host(result.data), shape)
    return np.asarray(fit(data, weights=weights, **_options_of(result, **{name: values})).loglik)


def _root(loglik: np.ndarray, is_estimate: np.ndarray) -> np.ndarray:
    """Return the root of twice the likelihood's drop.

    It is nearly proportional to the distance from the estimate.
    """
    drop = np.nan_to_num(2.0 * (loglik[is_estimate] - loglik), nan=math.inf, posinf=math.inf)
    return np.sqrt(np.maximum(drop, 0.0))


def _sides(
    grid: np.ndarray, root: np.ndarray, centre: float, ends: tuple[float, float]
) -> tuple[_Side, _Side]:
    """Split a profile at the estimate."""
    below, above = grid <= centre, grid >= centre
    return (
        _Side(grid[below][::-1], root[below][::-1], ends[0]),
        _Side(grid[above], root[above], ends[1]),
    )


def _further_points(side: _Side, limit: float) -> np.ndarray:
    """Return additional points: beyond the last one, or around the crossing of the limit."""
    grid, root, end = side
    beyond = np.flatnonzero(root > limit)
    if beyond.size:
        k = beyond[0]
        wide = root[k] - root[k - 1] > _COARSE
        return np.linspace(grid[k - 1], grid[k], 10)[1:-1] if wide else grid[:0]
    low, high = sorted((2.0 * grid[-1] - grid[0], end))
    last = high if end < grid[0] else low  # the nearer one
    return np.linspace(grid[-1], last, 9)[1:] if last != grid[-1] else grid[:0]


def _crossing(side: _Side, limit: float) -> float:
    """Return the point at which the profile reaches the limit, or the end of the range."""
    grid, root, end = side
    beyond = np.flatnonzero(root > limit)
    if not beyond.size:
        return end
    k = beyond[0]
    share = (limit - root[k - 1]) / (root[k] - root[k - 1])
    return grid[k - 1] + share * (grid[k] - grid[k - 1])


def _options_of(result: FitResult, **fixed: Any) -> dict[str, Any]:
    """Return options of fits by the result's method, with its fixed parameters and more of them.

    The location is that of S0, which is smooth at alpha = 1, unless it was fixed.
    """
    return {
        "method": result.method,
        "parameterization": result.parameterization if "loc" in result.fixed else "S0",
        "fixed": result.fixed | fixed,
        "device": result.device,
    }


# ---- simulation --------------------------------------------------------------------------------

_LARGEST_PART = 1 << 24
"""Observations that are simulated at once, or those of one sample: 128 MiB of float64."""

_LARGEST_SAMPLE = 1 << 31

_STEPS_SHOWN = 20  # of a progress bar, if the samples of a part are enough


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Result of `bootstrap`.

    Attributes
    ----------
    intervals : dict
        (low, high) by name of the parameter.
    confidence : float
    replicas : FitResults
        The fits of the simulated samples.
    """

    intervals: dict[str, tuple[float, float]]
    confidence: float
    replicas: FitResults = field(repr=False)

    def __iter__(self) -> Iterator[Any]:
        _warn_of_unpacking("bootstrap", "intervals and replicas")
        return iter((self.intervals, self.replicas))

    def _repr_html_(self) -> str:
        rows = [(name, *ends) for name, ends in self.intervals.items()]
        title = f"{100 * self.confidence:g} % intervals by {len(self.replicas)} replicas"
        return html_table(title, rows, ("", "low", "high"))


@renamed_arguments(random_state="rng")
def bootstrap(
    result: FitResult,
    replicas: int = 999,
    confidence: float = 0.95,
    rng: Any = None,
    *,
    progress: bool = False,
) -> Bootstrap:
    """Estimate confidence intervals by a parametric bootstrap: samples are drawn from the fitted
    distribution and fitted by the same method with the same parameters fixed.

    The intervals are basic bootstrap intervals: percentiles of the replicas reflected about the
    estimate, clipped to the parameter ranges. All replicas are fitted in one call, which takes
    milliseconds on a GPU. (Samples of more than 2^24 observations in all are drawn and fitted in
    parts.) A sample has as many observations as the data or, with weights, as their sum.

    Parameters
    ----------
    result : FitResult of a single data set
    replicas : int >= 1
    confidence : float in (0, 1)
    rng : None, int, SeedSequence, numpy Generator or RandomState
    progress : bool
        Show a progress bar; the samples are then fitted in about twenty calls.

    Returns
    -------
    Bootstrap

    Raises
    ------
    ValueError : weights are not integers, so the number of observations is not defined
    """
    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    size, form = _observations(result).size, result.parameterization
    parts = _simulate(result, size, replicas, rng, form, progress)
    results = _join([fits for _, fits in parts])
    fitted_mask(results)
    complement = 0.5 * (1.0 - confidence)
    intervals = {}
    for name in PARAMETERS:
        low, high = np.nanquantile(getattr(results, name), (complement, 1.0 - complement))
        value = getattr(result, name)
        if name == "scale":
            ends = value * value / high, value * value / low
        else:
            ends = 2.0 * value - high, 2.0 * value - low
        least, most = RANGES.get(name, (-math.inf, math.inf))
        intervals[name] = float(max(ends[0], least)), float(min(ends[1], most))
    return Bootstrap(intervals, confidence, results)


class GoodnessStatistic(NamedTuple):
    """A test statistic, and the probability of a larger one if the distribution is right."""

    statistic: float
    pvalue: float


@dataclass(frozen=True)
class GoodnessOfFit:
    """Result of `goodness_of_fit`.

    Attributes
    ----------
    kolmogorov_smirnov, anderson_darling : (statistic, pvalue)
    replicas : int
        Number of simulated samples that could be fitted.
    """

    kolmogorov_smirnov: GoodnessStatistic
    anderson_darling: GoodnessStatistic
    replicas: int

    def __getitem__(self, name: str) -> GoodnessStatistic:
        attribute = {"ks": "kolmogorov_smirnov", "ad": "anderson_darling"}[name]
        warnings.warn(
            f"goodness_of_fit returns an object: read its attribute {attribute} instead of "
            f"[{name!r}]; items go with the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(self, attribute)

    def _repr_html_(self) -> str:
        rows = [
            ("Kolmogorov-Smirnov", *self.kolmogorov_smirnov),
            ("Anderson-Darling", *self.anderson_darling),
        ]
        title = f"Goodness of fit, by {self.replicas} replicas"
        return html_table(title, rows, ("", "statistic", "p-value"))


@renamed_arguments(random_state="rng")
def goodness_of_fit(
    result: FitResult, replicas: int = 999, rng: Any = None, *, progress: bool = False
) -> GoodnessOfFit:
    """Test how well the distribution fits, by Kolmogorov-Smirnov and Anderson-Darling statistics.

    Their distributions depend on the parameters having been estimated: the probabilities of larger
    values come from samples of the fitted distribution that are fitted as the data were, by the
    same method with the same parameters fixed. All samples are fitted, and all their distributions
    evaluated, in one call each (in parts as in `bootstrap`). An observation counts as often as its
    weight says.

    Parameters
    ----------
    result, replicas, rng, progress : as for `bootstrap`

    Returns
    -------
    GoodnessOfFit

    Raises
    ------
    ValueError : weights are not integers, so the number of observations is not defined
    """
    data = np.sort(_observations(result))
    form = _options_of(result)["parameterization"]
    fitted = result.distribution.to(form)
    names = ("cdf", "logcdf", "logsf")

    def statistics_of(points: np.ndarray, *parameters: Any) -> np.ndarray:
        values = evaluate((points, *parameters), form, names, device=result.device)
        return np.stack(statistics(**values), axis=-1)

    observed = statistics_of(data, *(getattr(fitted, name) for name in PARAMETERS))
    larger, count = np.ones(2), 0
    for samples, fits in _simulate(result, data.size, replicas, rng, form, progress):
        good = fitted_mask(fits)
        parameters = (getattr(fits, name)[good][:, None] for name in PARAMETERS)
        larger += (statistics_of(np.sort(samples[good], axis=1), *parameters) >= observed).sum(
            axis=0
        )
        count += int(good.sum())
    kolmogorov_smirnov, anderson_darling = (
        GoodnessStatistic(float(value), float(k / (count + 1)))
        for value, k in zip(observed, larger, strict=True)
    )
    return GoodnessOfFit(kolmogorov_smirnov, anderson_darling, count)


def _check_single(result: Any) -> None:
    """Raise TypeError unless `result` is a FitResult that carries its data."""
    if not isinstance(result, FitResult):
        raise TypeError(
            "result must be a FitResult with its data: fit that data set alone "
            f"(got {type(result).__name__})"
        )
    result.require_data()


def _observations(result: FitResult) -> np.ndarray:
    """Return the data, each as often as its weight says."""
    _check_single(result)
    data = on_host(result.data)
    if result.weights is None:
        return data
    times = on_host(result.weights)
    if (times != np.floor(times)).any():
        raise ValueError(
            "weights must be whole numbers for samples to be simulated, as these need a number of "
            "observations: use result.interval() or profile_likelihood, or fit with whole weights"
        )
    if times.sum() > _LARGEST_SAMPLE:
        raise ValueError(
            f"weights stand for {times.sum():.3g} observations, too many for samples to be "
            "simulated: use result.interval() or profile_likelihood"
        )
    return np.repeat(data, times.astype(np.int64))


def _simulate(
    result: FitResult, size: int, replicas: int, rng: Any, parameterization: str, progress: bool
) -> Iterator[tuple[np.ndarray, FitResults]]:
    """Yield samples of the fitted distribution, a row each, and their fits, part by part.

    Parts are as large as memory allows, so that their fits share a call. For a progress bar each
    part is fitted in smaller ones, which changes none of the samples.
    """
    replicas = validation.check_integer("replicas", replicas, 1)
    generator = np.random.default_rng(philox.key(rng))
    options = _options_of(result) | {"parameterization": parameterization}
    rows = max(1, _LARGEST_PART // size)
    step = max(1, replicas // _STEPS_SHOWN) if progress else rows
    parts = [
        (first, start, min(start + step, stop))
        for first in range(0, replicas, rows)
        for stop in [min(first + rows, replicas)]
        for start in range(first, stop, step)
    ]
    samples = np.empty((0, size))
    for first, start, stop in show_progress(parts, "fits of replicas", enabled=progress):
        if start == first:
            shape = min(rows, replicas - first), size
            samples = result.distribution.rvs(shape, rng=generator)
        part = samples[start - first : stop - first]
        fits = fit(part, **options)
        assert isinstance(fits, FitResults)  # two dimensions
        yield part, fits


def _join(results: list[FitResults]) -> FitResults:
    return results[0] if len(results) == 1 else join_results(results)


def fitted_mask(fits: FitResults) -> np.ndarray:
    """Return a mask of the replicas that could be fitted; warn if any could not."""
    fitted = np.isfinite(fits.alpha)
    if not fitted.all():
        failures = len(fits) - fitted.sum()
        warnings.warn(
            f"{failures} of {len(fits)} samples could not be fitted and are left out", stacklevel=3
        )
    return fitted


def statistics(
    cdf: np.ndarray, logcdf: np.ndarray, logsf: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return Kolmogorov and Smirnov's D, and Anderson and Darling's A^2, of sorted data.

    The arguments are the functions of a distribution at the data, which are in the last axis.
    """
    n = cdf.shape[-1]
    rank = np.arange(n)
    d = np.maximum(cdf - rank / n, (rank + 1) / n - cdf).max(axis=-1)
    weights = (2.0 * rank + 1.0) / n
    a = -n - ((logcdf + logsf[..., ::-1]) * weights).sum(axis=-1)
    return d, a


# ---- Fisher's information ----------------------------------------------------------------------

_FISHER_STEP = 0.04  # in asinh(x): the error of the trapezoidal rule is then 1e-6
_FISHER_DECAY = 36.0  # e^-36 of the mass is left out in each tail


def fisher_information(alpha: float, beta: float, scale: float = 1.0) -> np.ndarray:
    """Return the expected information of an observation about alpha, beta, loc and scale.

    The integral of the density times products of the scores (`dlogpdf`), by the trapezoidal rule
    over asinh(x). The inverse, over n, is the Cramer-Rao bound of covariances.

    Parameters
    ----------
    alpha : float in [0.1, 2); at 2 the information about alpha is infinite
    beta : float in (-1, 1)
    scale : float > 0

    Returns
    -------
    (4, 4) array, for the S0 parameterisation; relative error 1e-6 for alpha >= 0.5, 1e-2 at 0.3,
    where the spike at the location is narrow.
    """
    alpha = validation.check_in_range("alpha", alpha, *ALPHA_RANGE, closed="left")
    beta = validation.check_in_range("beta", beta, -1.0, 1.0, closed="neither")
    scale = validation.check_in_range("scale", scale, 0.0, math.inf, closed="neither")
    reach = _FISHER_DECAY / min(alpha, 1.0) + 6.0
    u = np.arange(-reach, reach + 0.5 * _FISHER_STEP, _FISHER_STEP)
    x = np.sinh(u)
    result = dlogpdf(x, alpha, beta, parameterization="S0", device="cpu")
    scores = np.array([result.alpha, result.beta, result.loc / scale, result.scale / scale])
    standard = stable(alpha, beta, parameterization="S0", device="cpu")
    mass = standard.pdf(x) * np.cosh(u) * _FISHER_STEP
    positive = mass > 0.0
    return (scores[:, positive] * mass[positive]) @ scores[:, positive].T


# ---- old names ---------------------------------------------------------------------------------

_OLD_NAMES: dict[str, Callable[..., Any]] = {
    "profile": profile_likelihood,
    "goodness": goodness_of_fit,
}


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in _OLD_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = _OLD_NAMES[name]
    warnings.warn(
        f"stablegpu.inference.{name} is now stablegpu.{function.__name__}; the old name goes with "
        "the next release",
        DeprecationWarning,
        stacklevel=2,
    )
    return function


def _warn_of_unpacking(function: str, attributes: str) -> None:
    warnings.warn(
        f"{function} returns an object: read its attributes {attributes} instead of unpacking it; "
        "unpacking goes with the next release",
        DeprecationWarning,
        stacklevel=3,
    )
