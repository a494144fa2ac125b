"""Confidence intervals of a fit: Wald's, by the likelihood's profile, and by simulation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import errors
from stablegpu.fit_result import PARAMETERS

if TYPE_CHECKING:
    from stablegpu.fit_result import FitResult

_ENDS = {"alpha": (0.1, 2.0), "beta": (-1.0, 1.0)}


def wald(result: FitResult, confidence: float) -> dict[str, tuple[float, float]]:
    """Estimates plus and minus multiples of their standard errors; NaN where there are none."""
    from scipy.special import ndtri

    confidence = errors.within("confidence", confidence, 0.0, 1.0, closed="neither")
    reach = float(ndtri(0.5 + 0.5 * confidence))
    found = {}
    for name, error in result.stderr.items():
        value = getattr(result, name)
        if name == "scale":
            factor = math.exp(reach * error / value)
            found[name] = value / factor, value * factor
        else:
            low, high = _ENDS.get(name, (-math.inf, math.inf))
            ends = value - reach * error, value + reach * error
            found[name] = (max(ends[0], low), min(ends[1], high)) if error == error else ends
    return found


def profile(result: FitResult, name: str, confidence: float = 0.95, *, points: int = 33):
    """Interval of one parameter by the likelihood's profile.

    Parameters
    ----------
    result : FitResult of `fit(..., method="ml")` without fixed parameters, its data on the host
    name : {"alpha", "beta", "scale"}
        Held at `points` places; the others are fitted at each, all at once.
    confidence : float in (0, 1)

    Returns
    -------
    (low, high), and arrays of the places and of 2 (largest log-likelihood - that there).

    Where the profile stays below the limit up to the end of the parameter's range, that is the end
    of the interval.
    """
    from scipy.special import ndtri

    from stablegpu.estimate import fit

    errors.one_of("name", name, ("alpha", "beta", "scale"))
    confidence = errors.within("confidence", confidence, 0.0, 1.0, closed="neither")
    limit = float(ndtri(0.5 + 0.5 * confidence)) ** 2
    value, error = getattr(result, name), result.stderr[name]
    low, high = _ENDS.get(name, (0.2 * value, 5.0 * value))
    if error == error:
        reach = 2.0 * math.sqrt(limit) * error
        low, high = max(low, value - reach), min(high, value + reach)
    places = np.unique(np.append(np.linspace(low, high, points), value))
    weights = result.weights
    held = fit(
        np.broadcast_to(result.data, (places.size, result.size)),
        parameterization="S0",
        fixed={name: places},
        weights=None if weights is None else np.broadcast_to(weights, (places.size, result.size)),
        device=result.device,
    )
    best = float(held.loglik[places == value][0])
    drop = 2.0 * (best - held.loglik)
    return _crossings(places, drop, limit, value), places, drop


def _crossings(places, drop, limit: float, value: float) -> tuple[float, float]:
    """Where the drop of the profile reaches the limit on both sides of the estimate."""
    ends = []
    for side in (places <= value, places >= value):
        at, over = places[side], drop[side] - limit
        order = np.argsort(np.abs(at - value))
        at, over = at[order], over[order]
        beyond = np.flatnonzero(over > 0.0)
        if not beyond.size:
            ends.append(float(at[-1]))
            continue
        k = beyond[0]
        share = over[k - 1] / (over[k - 1] - over[k])
        ends.append(float(at[k - 1] + share * (at[k] - at[k - 1])))
    return ends[0], ends[1]


def bootstrap(result: FitResult, replicas: int = 999, confidence: float = 0.95, random_state=None):
    """Intervals by name from fits of samples that are drawn from the fitted law.

    Percentiles of the replicas' estimates, turned around the estimate ("basic" intervals) and cut
    off at the ends of the ranges. All replicas are fitted in one call: a GPU needs milliseconds.

    Returns
    -------
    dict of (low, high), and the `FitResults` of the replicas.
    """
    from stablegpu.estimate import fit

    confidence = errors.within("confidence", confidence, 0.0, 1.0, closed="neither")
    law = result.distribution
    samples = law.rvs((int(replicas), result.size), random_state=random_state)
    found = fit(samples, parameterization=result.parameterization, device=result.device)
    rest = 0.5 * (1.0 - confidence)
    intervals = {}
    for name in PARAMETERS:
        low, high = np.nanquantile(getattr(found, name), (rest, 1.0 - rest))
        value = getattr(result, name)
        if name == "scale":
            ends = value * value / high, value * value / low
        else:
            ends = 2.0 * value - high, 2.0 * value - low
        cut = _ENDS.get(name, (-math.inf, math.inf))
        intervals[name] = float(max(ends[0], cut[0])), float(min(ends[1], cut[1]))
    return intervals, found


def goodness(result: FitResult, replicas: int = 999, random_state=None) -> dict:
    """How well the law fits: Kolmogorov and Smirnov's, and Anderson and Darling's statistic.

    Their distributions depend on the parameters having been estimated: the probabilities of larger
    values come from samples of the fitted law that are fitted as the data were.

    Returns
    -------
    dict with "ks" and "ad": (statistic, probability of one that is larger).
    """
    from stablegpu.distribution import stable
    from stablegpu.estimate import fit

    law = result.distribution
    data = np.asarray(
        result.data.copy_to_host() if hasattr(result.data, "copy_to_host") else result.data
    )
    seen = np.array(statistics(law, data))
    samples = law.rvs((int(replicas), result.size), random_state=random_state)
    fits = fit(samples, parameterization="S0", device=result.device)
    larger = np.zeros(2)
    for k, sample in enumerate(samples):
        own = stable(
            *(getattr(fits, name)[k] for name in PARAMETERS), parameterization="S0", device="cpu"
        )
        larger += np.array(statistics(own, sample)) >= seen
    chances = (larger + 1.0) / (len(samples) + 1.0)
    return {
        name: (float(s), float(p)) for name, s, p in zip(("ks", "ad"), seen, chances, strict=True)
    }


def statistics(law, data) -> tuple[float, float]:
    """Kolmogorov and Smirnov's D, and Anderson and Darling's A^2, of data and a law."""
    found = law.evaluate(np.sort(data))
    n = data.size
    rank = np.arange(n)
    d = max((found.cdf - rank / n).max(), ((rank + 1) / n - found.cdf).max())
    weights = (2.0 * rank + 1.0) / n
    a = -n - float((weights * (found.logcdf + found.logsf[::-1])).sum())
    return float(d), a
