"""Samples that are observed like the data of a fit: rounded, binned or truncated alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stablegpu._fit.fitted import Fitted
from stablegpu._fit.observations.intervals import Intervals


def draw(result: Fitted, shape: tuple[int, int], generator: np.random.Generator) -> np.ndarray:
    """Draw from the fitted distribution, above the truncation of the data."""
    distribution, intervals = result.distribution, result.intervals
    if intervals is None or intervals.truncation is None:
        samples: np.ndarray = distribution.rvs(shape, rng=generator)
        return samples
    above = distribution.sf(intervals.truncation)
    return np.asarray(distribution.isf(above * generator.random(shape)))


def observe(samples: np.ndarray, intervals: Intervals) -> Intervals:
    """Return the intervals in which samples would have been observed.

    Raises ValueError if the data do not tell this: their intervals overlap.
    """
    if intervals.rounding is not None:
        step = intervals.rounding
        offset = intervals.points[0]
        middles = offset + step * np.round((samples - offset) / step)
        return Intervals(middles - 0.5 * step, middles + 0.5 * step, step, intervals.truncation)
    if (intervals.lower == intervals.upper).all():  # truncated alone
        return Intervals(samples, samples, None, intervals.truncation)
    edges = disjoint_edges(intervals)
    if edges is None:
        raise ValueError(
            "the intervals of the data overlap, so that nothing says how a sample would have been "
            "observed: use method='nonparametric', or result.interval()"
        )
    # Beyond the outermost edges, and in gaps, a sample is known to lie between two edges.
    edges = np.concatenate([[-np.inf], edges[np.isfinite(edges)], [np.inf]])
    upper = np.searchsorted(edges, samples, side="left").clip(1, edges.size - 1)
    return Intervals(edges[upper - 1], edges[upper], None, intervals.truncation)


def disjoint_edges(intervals: Intervals) -> np.ndarray | None:
    """Return all ends of intervals that do not overlap, ascending; None if some do."""
    pairs = np.unique(np.stack([intervals.lower, intervals.upper], axis=1), axis=0)
    if (pairs[1:, 0] < pairs[:-1, 1]).any():
        return None
    return np.unique(pairs)


def spread_probabilities(intervals: Intervals, cdf: Callable[[Any], Any]) -> np.ndarray:
    """Return probabilities of observations under a distribution, sorted along the last axis.

    Those of one interval are spread evenly between the probabilities of its ends, so that
    statistics of continuous data can be computed. The intervals must not overlap.
    """
    lower = np.sort(np.atleast_2d(intervals.lower), axis=1)
    upper = np.sort(np.atleast_2d(intervals.upper), axis=1)
    low, high = cdf(lower), cdf(upper)
    if intervals.truncation is not None:
        below = cdf(np.full((1, 1), intervals.truncation))
        low, high = ((np.maximum(v, below) - below) / (1.0 - below) for v in (low, high))
    index = np.broadcast_to(np.arange(lower.shape[1]), lower.shape)
    is_first, is_last = (np.ones(upper.shape, bool) for _ in range(2))
    is_first[:, 1:] = is_last[:, :-1] = upper[:, 1:] != upper[:, :-1]
    first = np.maximum.accumulate(np.where(is_first, index, 0), axis=1)
    last = np.where(is_last, index, lower.shape[1])[:, ::-1]
    last = np.minimum.accumulate(last, axis=1)[:, ::-1]
    share = (index - first + 0.5) / (last - first + 1.0)
    tiny = np.finfo(np.float64).tiny
    return (low + share * (high - low)).clip(tiny, 1.0 - 2.0**-53).reshape(intervals.lower.shape)


def goodness_statistics(
    cdf: np.ndarray, logcdf: np.ndarray, logsf: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the statistics of Kolmogorov-Smirnov (D) and Anderson-Darling (A^2) of sorted data.

    The arguments are the functions of a distribution at the data, which are in the last axis.
    """
    n = cdf.shape[-1]
    rank = np.arange(n)
    d = np.maximum(cdf - rank / n, (rank + 1) / n - cdf).max(axis=-1)
    weights = (2.0 * rank + 1.0) / n
    a = -n - ((logcdf + logsf[..., ::-1]) * weights).sum(axis=-1)
    return d, a
