"""Inference from a fit: confidence intervals and tests of goodness of fit.

Intervals come from the profile of the likelihood or from simulation. `fisher_information` bounds
the precision of any unbiased estimator.
"""

from __future__ import annotations

import functools
import math
import warnings
from concurrent.futures import Executor
from typing import Any

import numpy as np

from hetero import validation
from hetero.distributed.worker_devices import Devices
from stablegpu._density.pointwise.evaluate import evaluate
from stablegpu._fit.batch import join_results
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._fit.observations.intervals import Intervals
from stablegpu._fit.wald_intervals import RANGES
from stablegpu._inference.comparison import Comparison as Comparison
from stablegpu._inference.failures import check_failures, require_converged
from stablegpu._inference.interval_samples import (
    disjoint_edges,
    goodness_statistics,
    spread_probabilities,
)
from stablegpu._inference.profile_curve import trace_profile
from stablegpu._inference.refits import largest_logliks, options_of, require_single
from stablegpu._inference.replicas import (
    Replication,
    bootstrap_interval,
    engine_arguments,
    repeat_observations,
    simulate_fits,
)
from stablegpu._inference.results import Bootstrap as Bootstrap
from stablegpu._inference.results import GoodnessOfFit as GoodnessOfFit
from stablegpu._inference.results import GoodnessStatistic as GoodnessStatistic
from stablegpu._inference.results import ProfileLikelihood as ProfileLikelihood
from stablegpu._parameters import PARAMETERS
from stablegpu.distributions.derivatives import dlogpdf
from stablegpu.distributions.stable import stable
from stablegpu.fitting import fit
from stablegpu.functions import cdf
from stablegpu.results import FitResult

TIES_PER_CUBE_ROOT = 1.25
"""Equal observations above which `goodness_of_fit` warns, over the cube root of all their number.

Kolmogorov's test at 5 % then rejects about 10 % of rounded samples of a true law (Anderson and
Darling's 5 to 7 %). Measured with fits by maximum likelihood to 2000 samples, alpha = 1.2 and 1.7
(n = 10,000: 400 samples, alpha = 1.7); 12 zeros among 1000 other observations lead to 10 %, too.
Steps of rounding in scales, medians of the largest number of equal observations, and rejections:

    n = 100     step 0.05:  4, 6 to 7 %    step 0.1:   6, 10 to 12 %   step 0.2:   9, 24 to 33 %
    n = 1000    step 0.01:  8, 6 to 7 %    step 0.02: 12,  8 to  9 %   step 0.05: 22, 23 to 31 %
    n = 10,000  step 0.002: 14, 6 %        step 0.005: 25, 10 %        step 0.01: 42, 17 %
"""

MAX_POINTS = 1 << 16
"""Largest number of points of a profile, at each of which a fit is made."""


def profile_likelihood(
    result: FitResult, name: str, confidence: float = 0.95, *, points: int = 33
) -> ProfileLikelihood:
    """Compute the interval of one parameter from the profile of the likelihood.

    Parameters
    ----------
    result : FitResult of `fit(..., method="ml")`; `name` was not fixed
    name : {"alpha", "beta", "scale"}
        The parameter. It is fixed at points around the estimate, and the others are fitted at each
        point, all in one call.
    confidence : float in (0, 1)
    points : int, 2 to 65536
        Number of points within four standard errors, or in the whole range if there is no standard
        error. More follow if the profile has not reached the limit yet, or if it does so in too
        large a step.

    Returns
    -------
    ProfileLikelihood
        If the profile stays below the limit up to the end of the parameter's range, that is the end
        of the interval.

    Raises
    ------
    ValueError : `result`, or more than a tenth of the fits of the profile, did not converge (fewer
        are left out with a warning)
    """
    from scipy.special import ndtri

    validation.check_choice("name", name, ("alpha", "beta", "scale"))
    require_single(result)
    require_converged(result)
    if result.method != "ml":
        raise ValueError(f"result must be a fit with method='ml', got method={result.method!r}")
    if name in result.fixed:
        raise ValueError(f"name={name!r} was fixed, so it has no interval: name another parameter")
    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    points = validation.check_integer("points", points, 2, MAX_POINTS)
    value, error = getattr(result, name), result.stderr[name]
    if name == "scale":
        centre, error, ends = 0.0, error / value, (-math.inf, math.inf)
    else:
        centre, ends = value, RANGES[name]

    def to_parameter(grid: Any) -> Any:
        return value * np.exp(grid) if name == "scale" else grid

    def loglik_at(grid: np.ndarray) -> np.ndarray:
        return largest_logliks(result, name, to_parameter(grid), fit)

    limit = float(ndtri(0.5 + 0.5 * confidence))
    curve = trace_profile(loglik_at, centre, 2.0 * limit * error, ends, limit, points)
    return ProfileLikelihood(
        name,
        float(to_parameter(curve.low)),
        float(to_parameter(curve.high)),
        confidence,
        points=to_parameter(curve.grid),
        drop=2.0 * (curve.loglik[curve.grid == centre] - curve.loglik),
        failed=curve.failed,
    )


def bootstrap(
    result: FitResult,
    replicas: int = 999,
    confidence: float = 0.95,
    rng: Any = None,
    *,
    method: str = "parametric",
    progress: bool = False,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> Bootstrap:
    """Estimate confidence intervals by a bootstrap.

    Samples of the fitted distribution, or of the data with replacement, are fitted by the same
    method with the same parameters fixed.

    The interval of alpha is bias-corrected and accelerated (BCa, Efron 1987), those of beta and
    scale are percentiles that are accelerated by the standard errors of the replicas (plain ones
    for methods without standard errors), and that of loc consists of percentiles reflected about
    the estimate (basic). Next to alpha = 2 basic intervals of alpha and beta miss a quarter and
    more. All
    replicas are fitted in one call, which takes
    milliseconds on a GPU. (Samples of more than 2^24 observations in all are drawn and fitted in
    parts.) A sample has as many observations as the data or, with weights, as their sum.

    Parameters
    ----------
    result : FitResult of a single data set
    replicas : int >= 1
    confidence : float in (0, 1)
    rng : None, int, SeedSequence, numpy Generator or RandomState
    method : {"parametric", "nonparametric"}
        Draw from the fitted distribution, or from the data with replacement. The latter does not
        rely on the data being stable, but the values that it draws several times bound alpha from
        below in small samples (see `fit`).
    progress : bool
        Show a progress bar.
    executor, comm, device : as for `fit`
        Who fits the samples; by default the device of the fit. The intervals do not depend on it.

    Returns
    -------
    Bootstrap

    Raises
    ------
    ValueError : weights are not integers, so the number of observations is not defined; `result`
        or more than a tenth of the fits of samples did not converge (fewer are a warning)
    """
    confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
    validation.check_choice("method", method, ("parametric", "nonparametric"))
    engine = engine_arguments(executor, comm, device)
    replication = Replication(replicas, rng, method, engine, progress, fit)
    parts = simulate_fits(result, repeat_observations(result), result.parameterization, replication)
    results = join_results([fits for _, fits in parts])
    good = results.converged
    check_failures(int(np.count_nonzero(~good)), len(results), "samples")
    intervals = {
        name: bootstrap_interval(
            name,
            getattr(result, name),
            getattr(results, name)[good],
            results.stderr[name][good],
            confidence,
        )
        for name in PARAMETERS
    }
    return Bootstrap(intervals, confidence, results)


def goodness_of_fit(
    result: FitResult,
    replicas: int = 999,
    rng: Any = None,
    *,
    progress: bool = False,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> GoodnessOfFit:
    """Test how well the distribution fits, by Kolmogorov-Smirnov and Anderson-Darling statistics.

    The distributions of these statistics are not the usual ones, because the parameters were
    estimated. So p-values come from samples of the fitted distribution, which are fitted by the
    same method with the same parameters fixed. All samples are fitted in one call and evaluated in
    another (in parts as in `bootstrap`). The weight of an observation says how often it counts.
    Samples are rounded, binned or truncated as the fit was told that the data are (`rounding`,
    `lower` and `upper`, `truncation` of `fit`); a warning says if equal data of a fit without these
    make p-values too small.

    Parameters
    ----------
    result, replicas, rng, progress, executor, comm, device : as for `bootstrap`

    Returns
    -------
    GoodnessOfFit

    Raises
    ------
    ValueError : weights are not integers, so the number of observations is not defined; `result`
        or more than a tenth of the fits of samples did not converge (fewer are a warning)
    """
    data, intervals = repeat_observations(result)
    if intervals is None:
        data = np.sort(data)
        _warn_of_ties(data)
    elif disjoint_edges(intervals) is None and intervals.rounding is None:
        raise ValueError(
            "the intervals of the data overlap, as with censoring at different values, so that "
            "these statistics are not defined"
        )
    parameterization = options_of(result)["parameterization"]
    fitted = result.distribution.to(parameterization)
    names = ("cdf", "logcdf", "logsf")

    def statistics_of(points: np.ndarray, *parameters: Any) -> np.ndarray:
        values = evaluate((points, *parameters), parameterization, names, device=result.device)
        return np.stack(goodness_statistics(**values), axis=-1)

    def statistics_of_intervals(sample: Intervals, *parameters: Any) -> np.ndarray:
        u = spread_probabilities(sample, functools.partial(_cdf, parameters, parameterization))
        return np.stack(goodness_statistics(u, np.log(u), np.log1p(-u)), axis=-1)

    estimates = tuple(getattr(fitted, name) for name in PARAMETERS)
    if intervals is None:
        observed = statistics_of(data, *estimates)
    else:
        observed = statistics_of_intervals(intervals, *estimates)
    larger, count, failed = np.ones(2), 0, 0
    engine = engine_arguments(executor, comm, device)
    replication = Replication(replicas, rng, "parametric", engine, progress, fit)
    observations = data, intervals
    for samples, fits in simulate_fits(result, observations, parameterization, replication):
        good = fits.converged
        parameters = (getattr(fits, name)[good][:, None] for name in PARAMETERS)
        if isinstance(samples, Intervals):
            simulated = statistics_of_intervals(samples.select(good), *parameters)
        else:
            simulated = statistics_of(np.sort(samples[good], axis=1), *parameters)
        larger += (simulated >= observed).sum(axis=0)
        count += int(good.sum())
        failed += int((~good).sum())
    check_failures(failed, count + failed, "samples")
    kolmogorov_smirnov, anderson_darling = (
        GoodnessStatistic(float(value), float(k / (count + 1)))
        for value, k in zip(observed, larger, strict=True)
    )
    return GoodnessOfFit(kolmogorov_smirnov, anderson_darling, count, failed)


def _cdf(parameters: tuple[Any, ...], parameterization: str, x: Any) -> Any:
    """Return the distribution function at points; parameters may be columns."""
    return cdf(x, *parameters, parameterization=parameterization)


def _warn_of_ties(data: np.ndarray) -> None:
    """Warn if so many of the sorted data are equal that this moves the statistics."""
    begins = np.flatnonzero(np.diff(data, prepend=np.nan) != 0.0)
    ties = int(np.diff(begins, append=data.size).max())
    if ties > max(1.0, TIES_PER_CUBE_ROOT * math.cbrt(data.size)):
        warnings.warn(
            f"{ties} of {data.size} observations are equal (there are {begins.size} different "
            "values), as in rounded data, but the simulated samples have no ties: p-values are too "
            "small. Test data that are not rounded, or add uniform noise of the rounding's width "
            "before the fit",
            stacklevel=3,
        )


_FISHER_STEP = 0.04  # in asinh(x): the error of the trapezoidal rule is then 1e-6
_FISHER_DECAY = 36.0  # e^-36 of the mass is left out in each tail


def fisher_information(alpha: float, beta: float, scale: float = 1.0) -> np.ndarray:
    """Return the expected information of an observation about alpha, beta, loc and scale.

    It is the integral of the density times products of the scores (`dlogpdf`), by the trapezoidal
    rule over asinh(x). Its inverse, divided by n, is the Cramer-Rao bound of covariances.

    Parameters
    ----------
    alpha : float in [0.1, 2); at 2 the information about alpha is infinite
    beta : float in (-1, 1)
    scale : float > 0

    Returns
    -------
    (4, 4) array, for the S0 parameterization; relative error 1e-6 for alpha >= 0.5, 1e-2 at 0.3,
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
