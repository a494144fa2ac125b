"""Samples of a fitted distribution, their fits, and statistics of goodness of fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from hetero import philox, validation
from hetero.arrays import on_host
from hetero.distributed.agreement import agree_on_key
from hetero.distributed.parts import check_engine
from stablegpu._fit.fitted import Fitted, FittedSets
from stablegpu._fit.observations.intervals import Intervals
from stablegpu._fit.wald_intervals import RANGES
from stablegpu._inference.failures import require_converged
from stablegpu._inference.interval_samples import draw, observe
from stablegpu._inference.refits import options_of, require_single

_LARGEST_PART = 1 << 24
"""Observations that are simulated at once, or those of one sample: 128 MiB of float64."""

MAX_REPLICAS = 1 << 24
"""Largest number of replicas, whose fits take 200 bytes each. For Monte Carlo p-values 10^4 do."""

_LARGEST_SAMPLE = 1 << 31


def repeat_observations(result: Fitted) -> tuple[np.ndarray, Intervals | None]:
    """Return the data and their intervals, with each observation as often as its weight says."""
    require_single(result)
    require_converged(result)
    data = on_host(result.data)
    if result.weights is None:
        return data, result.intervals
    times = on_host(result.weights)
    if (times != np.floor(times)).any():
        raise ValueError(
            "weights must be whole numbers, because a simulated sample needs a number of "
            "observations: use result.interval() or profile_likelihood, or fit with whole weights"
        )
    if times.sum() > _LARGEST_SAMPLE:
        raise ValueError(
            f"weights stand for {times.sum():.3g} observations, too many for samples in memory: "
            "use result.interval() or profile_likelihood"
        )
    which = np.repeat(np.arange(data.size), times.astype(np.int64))
    return data[which], result.intervals and result.intervals.select(which)


class Replication(NamedTuple):
    """Number and kind of the samples like the data, and the settings of their fits.

    Attributes
    ----------
    replicas : number of samples
    rng : as for `bootstrap`
    method : {"parametric", "nonparametric"}
        Samples of the fitted distribution, or of the data with replacement.
    engine : arguments executor, comm and device of `fit`, as far as the caller gave them
    progress : whether to show a progress bar
    fit : `stablegpu.fit`
    """

    replicas: int
    rng: Any
    method: str
    engine: dict[str, Any]
    progress: bool
    fit: Callable[..., Any]


def engine_arguments(executor: Any, comm: Any, device: Any) -> dict[str, Any]:
    """Return the arguments of `fit` that say where samples are fitted.

    Without any, samples are fitted where the data were.
    """
    arguments = {"executor": executor, "comm": comm, "device": device}
    return {} if all(value is None for value in arguments.values()) else arguments


def simulate_fits(
    result: Fitted,
    observations: tuple[np.ndarray, Intervals | None],
    parameterization: str,
    replication: Replication,
) -> Iterator[tuple[np.ndarray | Intervals, FittedSets]]:
    """Yield samples like the data of a fit and their fits, part by part; a sample is a row.

    `observations` are those of `repeat_observations`; samples are intervals if these are.

    Parts are as large as memory allows, so that their fits share a call.
    """
    replicas = validation.check_integer("replicas", replication.replicas, 1, MAX_REPLICAS)
    key, comm = philox.key(replication.rng), replication.engine.get("comm")
    if comm is not None:  # fresh entropy differs between ranks
        check_engine(None, comm)
        key = agree_on_key(comm, key, replication.rng)
    generator = np.random.default_rng(key)
    options = options_of(result) | {"parameterization": parameterization} | replication.engine
    data, intervals = observations
    size = data.size
    rows = max(1, _LARGEST_PART // size)
    for first in range(0, replicas, rows):
        shape = min(rows, replicas - first), size
        if replication.method == "parametric":
            samples: Any = draw(result, shape, generator)
            if intervals is not None:
                samples = observe(samples, intervals)
        else:
            which = generator.integers(0, size, shape)
            samples = data[which] if intervals is None else intervals.select(which)
        where = {"data": samples}
        if intervals is not None:
            where = {name: getattr(samples, name) for name in ("lower", "upper", "truncation")}
        fits = replication.fit(**where, **options, progress=replication.progress)
        assert isinstance(fits, FittedSets)  # two dimensions
        yield samples, fits


LARGEST_ACCELERATION = 0.15
"""Bound of the acceleration of alpha, which is not known at alpha = 2."""

_LARGEST_SLOPE = 0.1
_SHARE_OF_SKEWNESS = 1.0 / 12.0
"""Bound of the acceleration of beta and scale, and the share of the skewness in it. Both were
chosen by coverage on an H200; theory of first order has a third, which misses more here."""


def bootstrap_interval(
    name: str, value: float, replicas: np.ndarray, errors: np.ndarray, confidence: float
) -> tuple[float, float]:
    """Return the interval of a parameter from the estimates of replicas and their standard errors.

    alpha: bias-corrected and accelerated percentiles (Efron 1987). The number of outliers that tell
    alpha < 2 is like a Poisson number, whose acceleration is a sixth of its relative error. At 2,
    where no replica can be larger, nothing is corrected. beta and scale: accelerated percentiles.
    loc: percentiles reflected about the estimate.
    """
    from scipy.special import ndtr, ndtri

    tails = np.array([0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)])
    if name != "loc":
        bias = 0.0
        if name == "alpha":
            below = np.mean(replicas < value) + 0.5 * np.mean(replicas == value)
            least = 1.0 / (replicas.size + 1.0)
            if value < RANGES["alpha"][1]:
                bias = float(ndtri(min(max(float(below), least), 1.0 - least)))
            relative = float(np.std(replicas)) / max(2.0 - value, 1e-300)
            acceleration = -min(relative / 6.0, LARGEST_ACCELERATION)
        else:
            acceleration = estimate_acceleration(replicas, errors)
        moved = bias + ndtri(tails)
        tails = ndtr(bias + moved / (1.0 - acceleration * moved))
    # Order statistics k of n replicas leave k/(n + 1) outside; NumPy's default would leave more.
    low, high = np.quantile(replicas, tails, method="weibull").tolist()
    if name == "loc":
        low, high = 2.0 * value - high, 2.0 * value - low
    least, most = RANGES.get(name, (-math.inf, math.inf))
    return max(low, least), min(high, most)


def estimate_acceleration(replicas: np.ndarray, errors: np.ndarray) -> float:
    """Return the acceleration of an estimate from replicas and their standard errors.

    It is the derivative of the standard error by the parameter, from a line through the replicas,
    less a share of their skewness. Replicas at the end of a range have no standard error, and are
    left out. Where less than two have one, or all are equal, it is 0.
    """
    known = np.isfinite(errors)
    if np.count_nonzero(known) < 2:
        return 0.0
    off = replicas[known] - replicas[known].mean()
    square = float((off**2).mean())
    if not square > 0.0:
        return 0.0
    slope = float((off * errors[known]).mean()) / square
    result = slope - _SHARE_OF_SKEWNESS * float((off**3).mean()) / square**1.5
    return min(max(result, -_LARGEST_SLOPE), _LARGEST_SLOPE)
