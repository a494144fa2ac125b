"""Confidence intervals of a fit: Wald's, by the likelihood's profile, and by simulation."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from hetero import philox, validation
from hetero.arrays import on_host
from stablegpu._fit.batch import joined
from stablegpu.fit_results import PARAMETERS, needs_data
from stablegpu.functions import evaluate

if TYPE_CHECKING:
    from stablegpu.fit_results import FitResult, FitResults

_ENDS = {"alpha": (0.1, 2.0), "beta": (-1.0, 1.0)}


def wald(result: FitResult | FitResults, confidence: float) -> dict:
    """Estimates plus and minus multiples of their standard errors, by name, cut off at the ends of
    the ranges; NaN where there are no standard errors.

    The scale's interval is symmetric in its logarithm, that of alpha in log(2 - alpha). One that is
    symmetric in alpha lies above the truth too often next to 2: 4.9 % of 2000 samples of 1000 with
    alpha = 1.8, beta = 0.5 in place of 2.5 %.
    """
    from scipy.special import ndtri

    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    reach = float(ndtri(0.5 + 0.5 * confidence))
    results = {}
    for name, error in result.stderr.items():
        value, error = np.asarray(getattr(result, name)), reach * np.asarray(error)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if name == "scale":
                ends = value * np.exp(-error / value), value * np.exp(error / value)
            elif name == "alpha":
                complement = 2.0 - value
                ends = (
                    2.0 - complement * np.exp(error / complement),
                    2.0 - complement * np.exp(-error / complement),
                )
            else:
                ends = value - error, value + error
        ends = (np.where(error == 0.0, value, end) for end in ends)  # fixed
        results[name] = tuple(np.clip(end, *_ENDS.get(name, (None, None)))[()] for end in ends)
    return results


def profile(result: FitResult, name: str, confidence: float = 0.95, *, points: int = 33):
    """Interval of one parameter by the likelihood's profile.

    Parameters
    ----------
    result : FitResult of `fit(..., method="ml")`; `name` was not fixed
    name : {"alpha", "beta", "scale"}
        Fixed at points around the estimate; the others are fitted at each, all in one call.
    confidence : float in (0, 1)
    points : int >= 2
        Places within four standard errors, or in the whole range where there is no such error. More
        follow where the profile has not reached the limit yet, or does in too large a step.

    Returns
    -------
    (low, high), and arrays of the points and of 2 (largest log-likelihood - that there).

    Where the profile stays below the limit up to the end of the parameter's range, that is the end
    of the interval.
    """
    from scipy.special import ndtri

    validation.check_choice("name", name, ("alpha", "beta", "scale"))
    needs_data(result)
    if result.method != "ml":
        raise ValueError(f"result must be a fit with method='ml', got method={result.method!r}")
    if name in result.fixed:
        raise ValueError(f"name={name!r} was fixed, so it has no interval: name another parameter")
    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    points, limit = (
        validation.check_integer("points", points, 2),
        float(ndtri(0.5 + 0.5 * confidence)),
    )
    value, error = getattr(result, name), result.stderr[name]
    if name == "scale":
        centre, error, ends = 0.0, error / value, (-math.inf, math.inf)
    else:
        centre, ends = value, _ENDS[name]

    def from_grid(grid):
        return value * np.exp(grid) if name == "scale" else grid

    grid = _around(centre, 2.0 * limit * error, ends, points)
    reached = _profile_loglik(result, name, from_grid(grid))
    for _ in range(_ROUNDS):
        root = _root(reached, grid == centre)
        additional = np.concatenate(
            [_further(*side, limit) for side in _sides(grid, root, centre, ends)]
        )
        if not additional.size:
            break
        grid, order = np.unique(np.append(grid, additional), return_index=True)
        reached = np.append(reached, _profile_loglik(result, name, from_grid(additional)))[order]
    root = _root(reached, grid == centre)
    low, high = (_crossing(*side, limit) for side in _sides(grid, root, centre, ends))
    drop = 2.0 * (reached[grid == centre] - reached)
    return (float(from_grid(low)), float(from_grid(high))), from_grid(grid), drop


_ROUNDS = 6  # of additional points of a profile
_COARSE = 0.5  # a step of the profile's root that is interpolated no longer


def _around(centre: float, reach: float, ends, points: int) -> np.ndarray:
    """Initial points of a profile, `centre` among them."""
    if not 0.0 < reach < math.inf:  # no standard error
        reach = max(ends) - min(ends) if math.isfinite(ends[1]) else math.log(5.0)
    low, high = max(ends[0], centre - reach), min(ends[1], centre + reach)
    return np.unique(np.append(np.linspace(low, high, points), centre))


def _profile_loglik(result: FitResult, name: str, held_values) -> np.ndarray:
    """Largest log-likelihoods with one parameter fixed at each of the points."""
    from stablegpu.fitting import fit

    shape = held_values.size, result.size
    row_weights = (
        None if result.weights is None else np.broadcast_to(on_host(result.weights), shape)
    )
    data = np.broadcast_to(on_host(result.data), shape)
    return fit(data, weights=row_weights, **_like(result, **{name: held_values})).loglik


def _root(reached, at_estimate) -> np.ndarray:
    """The root of twice the likelihood's drop: nearly proportional to the distance from the
    estimate."""
    drop = np.nan_to_num(2.0 * (reached[at_estimate] - reached), nan=math.inf, posinf=math.inf)
    return np.sqrt(np.maximum(drop, 0.0))


def _sides(grid, root, centre: float, ends):
    """Split a profile at the estimate: points outwards from it, their roots, the range's end."""
    below, above = grid <= centre, grid >= centre
    return (grid[below][::-1], root[below][::-1], ends[0]), (grid[above], root[above], ends[1])


def _further(grid, root, end: float, limit: float) -> np.ndarray:
    """Additional points on one side: beyond the last one, or around the crossing of the limit."""
    beyond = np.flatnonzero(root > limit)
    if beyond.size:
        k = beyond[0]
        wide = root[k] - root[k - 1] > _COARSE
        return np.linspace(grid[k - 1], grid[k], 10)[1:-1] if wide else grid[:0]
    low, high = sorted((2.0 * grid[-1] - grid[0], end))
    last = high if end < grid[0] else low  # the nearer one
    return np.linspace(grid[-1], last, 9)[1:] if last != grid[-1] else grid[:0]


def _crossing(grid, root, end: float, limit: float) -> float:
    """Point at which the profile reaches the limit on one side."""
    beyond = np.flatnonzero(root > limit)
    if not beyond.size:
        return end
    k = beyond[0]
    share = (limit - root[k - 1]) / (root[k] - root[k - 1])
    return grid[k - 1] + share * (grid[k] - grid[k - 1])


def _like(result: FitResult, **fixed) -> dict:
    """Options of fits by the result's method, with its fixed parameters and more of them. The
    location is that of S0, which is smooth at alpha = 1, unless it was fixed."""
    return {
        "method": result.method,
        "parameterization": result.parameterization if "loc" in result.fixed else "S0",
        "fixed": result.fixed | fixed,
        "device": result.device,
    }


# ---- by simulation -----------------------------------------------------------------------------

_MOST = 1 << 24  # observations that are simulated at once, or those of one sample
_MOST_OF_ONE = 1 << 31


def bootstrap(result: FitResult, replicas: int = 999, confidence: float = 0.95, random_state=None):
    """Estimate confidence intervals by a parametric bootstrap: samples are drawn from the fitted
    distribution and fitted by the same method with the same parameters fixed.

    The intervals are basic bootstrap intervals: percentiles of the replicas reflected about the
    estimate, clipped to the parameter ranges. All replicas are fitted in one call, which takes
    milliseconds on a GPU. (Samples of more than 2^24 observations in all are drawn and fitted in
    parts.) A sample has as many observations as the data or, with weights, as their sum.

    Returns
    -------
    dict of (low, high), and the `FitResults` of the replicas.

    Raises
    ------
    ValueError : weights are not integers, so the number of observations is not defined
    """
    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    size, form = _observations(result).size, result.parameterization
    fits = [fits for _, fits in _simulated(result, size, replicas, random_state, form)]
    results = joined(fits) if len(fits) > 1 else fits[0]
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
        cut = _ENDS.get(name, (-math.inf, math.inf))
        intervals[name] = float(max(ends[0], cut[0])), float(min(ends[1], cut[1]))
    return intervals, results


def goodness(result: FitResult, replicas: int = 999, random_state=None) -> dict:
    """How well the law fits: Kolmogorov and Smirnov's, and Anderson and Darling's statistic.

    Their distributions depend on the parameters having been estimated: the probabilities of larger
    values come from samples of the fitted law that are fitted as the data were, by the same method
    with the same parameters fixed. All samples are fitted, and all their laws evaluated, in one
    call each (in parts as in `bootstrap`). A datum counts as often as its weight says.

    Returns
    -------
    dict with "ks" and "ad": (statistic, probability of one that is larger).

    Raises
    ------
    ValueError : weights are not integers, so the number of observations is not defined
    """
    data = np.sort(_observations(result))
    form = _like(result)["parameterization"]
    law = result.distribution.to(form)

    def statistics_at(points, *parameters):
        names = ("cdf", "logcdf", "logsf")
        return np.stack(
            statistics(**evaluate((points, *parameters), form, names, device=result.device)),
            axis=-1,
        )

    observed = statistics_at(data, *(getattr(law, name) for name in PARAMETERS))
    larger, count = np.ones(2), 1
    for samples, fits in _simulated(result, data.size, replicas, random_state, form):
        fitted = fitted_mask(fits)
        laws = (getattr(fits, name)[fitted][:, None] for name in PARAMETERS)
        larger += (statistics_at(np.sort(samples[fitted], axis=1), *laws) >= observed).sum(axis=0)
        count += fitted.sum()
    return {
        name: (float(value), float(k / count))
        for name, value, k in zip(("ks", "ad"), observed, larger, strict=True)
    }


def _observations(result: FitResult) -> np.ndarray:
    """The data, each as often as its weight says."""
    needs_data(result)
    data = on_host(result.data)
    if result.weights is None:
        return data
    times = on_host(result.weights)
    if (times != np.floor(times)).any():
        raise ValueError(
            "weights must be whole numbers for samples to be simulated, as these need a number of "
            "observations: use result.interval() or profile, or fit with whole weights"
        )
    if times.sum() > _MOST_OF_ONE:
        raise ValueError(
            f"weights stand for {times.sum():.3g} observations, too many for samples to be "
            "simulated: use result.interval() or profile"
        )
    return np.repeat(data, times.astype(np.int64))


def _simulated(result: FitResult, size: int, replicas, random_state, parameterization: str):
    """Samples of the fitted law, a row each, and their fits as the data were: part by part."""
    from stablegpu.fitting import fit

    replicas = validation.check_integer("replicas", replicas, 1)
    random = np.random.default_rng(philox.key(random_state, "random_state"))
    most = max(1, _MOST // size)
    for first in range(0, replicas, most):
        shape = min(most, replicas - first), size
        samples = result.distribution.rvs(shape, random_state=random)
        yield samples, fit(samples, **_like(result) | {"parameterization": parameterization})


def fitted_mask(fits: FitResults) -> np.ndarray:
    """Return a mask of the replicas that could be fitted; warn if any could not."""
    fitted = np.isfinite(fits.alpha)
    if not fitted.all():
        lost = len(fits) - fitted.sum()
        warnings.warn(f"{lost} of {len(fits)} samples have no fit and do not count", stacklevel=3)
    return fitted


def statistics(cdf, logcdf, logsf) -> tuple[np.ndarray, np.ndarray]:
    """Kolmogorov and Smirnov's D, and Anderson and Darling's A^2, of sorted data (last axis) from
    the functions of a law at them."""
    n = cdf.shape[-1]
    rank = np.arange(n)
    d = np.maximum(cdf - rank / n, (rank + 1) / n - cdf).max(axis=-1)
    weights = (2.0 * rank + 1.0) / n
    a = -n - ((logcdf + logsf[..., ::-1]) * weights).sum(axis=-1)
    return d, a
