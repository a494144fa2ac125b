"""Loops that prepare sets of intervals for their ascents, compiled for the host."""

import numpy as np
from numba import prange

from hetero.jit import parallel, serial

START_POINTS = 256
"""Points that stand for a set of intervals in its starting values (not tuned)."""


@parallel
def widen(x, rounding, origin, tolerance, eps, lower, upper):
    """Write the intervals of data rounded to multiples of `rounding` around `origin`.

    Return the index of the first datum that is no such multiple within `tolerance`, beside its own
    relative error `eps`, or x.size. Infinite data get NaN, as if they were missing.
    """
    first_off = np.int64(x.size)
    for index in prange(x.size):
        i = np.int64(index)
        steps = (x[i] - origin) / rounding
        error = eps * (abs(x[i]) + abs(origin)) / rounding
        off = abs(steps - np.round(steps)) > tolerance + error
        first_off = min(first_off, i if off else np.int64(x.size))
        middle = x[i] if abs(x[i]) < np.inf else np.nan
        lower[i], upper[i] = middle - 0.5 * rounding, middle + 0.5 * rounding
    return first_off


@parallel
def find_bad_ends(lower, upper, truncation):
    """Return the indices of the first interval without meaning, and of the first one truncated.

    They are lower.size if there is none. Ends that are both NaN stand for a missing observation. An
    interval is truncated if no part of it lies above, or if it is open and begins below.
    """
    first_bad = first_below = np.int64(lower.size)
    for index in prange(lower.size):
        i = np.int64(index)
        low, high = lower[i], upper[i]
        missing = np.isnan(low) and np.isnan(high)
        is_open = abs(low) == np.inf, abs(high) == np.inf
        bad = not (missing or low <= high) or (is_open[0] and (is_open[1] or low == high))
        first_bad = min(first_bad, i if bad else np.int64(lower.size))
        below = high < truncation or (high == truncation and low < high)
        below = below or (high == np.inf and low < truncation)
        first_below = min(first_below, i if below else np.int64(lower.size))
    return first_bad, first_below


@serial
def _point_of(low, high):
    """Return the point that stands for an interval: its middle, or its finite end."""
    if low == -np.inf:
        return high
    return low if high == np.inf else low + 0.5 * (high - low)


@serial
def _gather_set(observed, truncation, points, masses, bounds, extremes, ties):
    """Sort the intervals of one set, merge equal ones, and return how many are left.

    `observed` are lower ends, upper ends and weights, which may be empty. `truncation` adds an
    interval of negative weight; it is NaN if there is none.
    """
    lower, upper, weights = observed
    middles = np.empty(lower.size)
    for i in range(lower.size):
        middles[i] = _point_of(lower[i], upper[i])
    order = np.argsort(middles, kind="mergesort")
    count, total = 0, 0.0
    if truncation == truncation:
        points[0], masses[0] = truncation, 0.0
        bounds[0, 0], bounds[1, 0] = truncation, np.inf
        count = 1
    extremes[0], extremes[1], extremes[2], extremes[3] = np.inf, -np.inf, np.inf, -np.inf
    extremes[4] = extremes[5] = 0.0
    for k in order:
        weight = weights[k] if weights.size else 1.0
        if weight == 0.0:
            continue
        low, high, total = lower[k], upper[k], total + weight
        extremes[0], extremes[1] = min(extremes[0], high), max(extremes[1], low)
        for end in (low, high):
            if abs(end) < np.inf:
                extremes[2], extremes[3] = min(extremes[2], end), max(extremes[3], end)
        extremes[4] = max(extremes[4], 1.0 if low == -np.inf else 0.0)
        extremes[5] = max(extremes[5], 1.0 if high == np.inf else 0.0)
        is_new = count == 0 or masses[count - 1] == 0.0
        if is_new or bounds[0, count - 1] != low or bounds[1, count - 1] != high:
            points[count], masses[count] = middles[k], 0.0
            bounds[0, count], bounds[1, count] = low, high
            count += 1
        masses[count - 1] += weight
    ties[0], ties[1] = 0.0, total
    for i in range(count):
        if bounds[0, i] == bounds[1, i]:
            ties[0] = max(ties[0], masses[i])
    if truncation == truncation:
        masses[0] = -total
        extremes[2], extremes[5] = min(extremes[2], truncation), 1.0
    return count


@serial
def _spread(points, masses, bounds, total, starts):
    """Write quantiles of the masses, each spread over its interval, to `starts`.

    Mass in an open interval lies behind its end like that of an exponential distribution whose mean
    is half of the quartile range of the points.
    """
    lower_quartile = upper_quartile = points[0]
    below = 0.0
    for i in range(points.size):
        before = below
        below += max(masses[i], 0.0)
        if before < 0.25 * total <= below:
            lower_quartile = points[i]
        if before < 0.75 * total <= below:
            upper_quartile = points[i]
    mean = 0.5 * (upper_quartile - lower_quartile)
    if mean == 0.0:
        mean = 0.1 * (points[-1] - points[0])
    if mean == 0.0:  # all intervals begin or end at one point: they tell no scale
        mean = 1.0
    i, below = 0, 0.0
    if np.isnan(points[-1]):  # sorted to the end
        starts[:] = np.nan
        return
    for k in range(starts.size):
        target = (k + 0.5) / starts.size * total
        while i < points.size - 1 and below + max(masses[i], 0.0) < target:
            below += max(masses[i], 0.0)
            i += 1
        share = min((target - below) / masses[i], 1.0 - 1e-3)
        low, high = bounds[0, i], bounds[1, i]
        if low == -np.inf:
            starts[k] = high + mean * np.log(max(share, 1e-3))
        elif high == np.inf:
            starts[k] = low - mean * np.log1p(-share)
        else:
            starts[k] = low + share * (high - low)


@parallel
def gather_sets(observed, truncations, starts, stops, firsts, gathered, samples):
    """Prepare the sets [starts[s], stops[s]) of intervals, `observed` as for one set.

    `gathered` holds points, masses, bounds (two rows), and for each set the number of intervals,
    `ranges` (`_fit/likelihood`) and ties (the largest weight at a point, and that of all). Set s
    begins at firsts[s] there, with room for its intervals and a truncation. `samples` (sets,
    START_POINTS) are data for starting values.
    """
    lower, upper, weights = observed
    points, masses, bounds, counts, ranges, ties = gathered
    for index in prange(starts.size):
        s = np.int64(index)
        a, b = starts[s], stops[s]
        first = firsts[s]
        last = first + b - a + 1
        set_weights = weights[a:b] if weights.size else weights
        counts[s] = _gather_set(
            (lower[a:b], upper[a:b], set_weights),
            truncations[s],
            points[first:last],
            masses[first:last],
            bounds[:, first:last],
            ranges[s],
            ties[s],
        )
        end = first + counts[s]
        _spread(points[first:end], masses[first:end], bounds[:, first:end], ties[s, 1], samples[s])
