"""Observations that are known to lie in intervals: rounded, censored, binned or truncated data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetero.arrays import Workspace
from stablegpu._fit.datasets import GatheredIntervals, upload_ends


@dataclass(frozen=True)
class Intervals:
    """Ends of the intervals in which the observations of all sets lie; the same shape, flat.

    Attributes
    ----------
    lower, upper : float64 arrays; equal where an observation is exact
    rounding : the width of all intervals, if they come from rounding
    truncation : observations at or below it were never recorded
    """

    lower: np.ndarray
    upper: np.ndarray
    rounding: float | None = None
    truncation: float | None = None

    def select(self, which: Any) -> Intervals:
        """Return the intervals of a slice or of indices."""
        return replace(self, lower=self.lower[which], upper=self.upper[which])

    @property
    def points(self) -> np.ndarray:
        """Points that stand for the intervals: their middles, or their finite ends."""
        lower = np.where(np.isinf(self.lower), self.upper, self.lower)
        upper = np.where(np.isinf(self.upper), self.lower, self.upper)
        return lower + 0.5 * (upper - lower)


def gather(
    intervals: Intervals,
    weights: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    host_workspace: Workspace,
) -> tuple[GatheredIntervals, np.ndarray, np.ndarray]:
    """Merge equal intervals of each set and copy them to the device.

    Also return samples for starting values, (sets, points), and the ties of `PreparedDataSets`.
    """
    from stablegpu._fit.interval_loops import START_POINTS, gather_sets

    sets, lengths = len(starts), stops - starts + 1  # a truncation takes a place
    firsts, size = np.cumsum(lengths) - lengths, int(lengths.sum())
    points, masses, bounds = np.zeros(size), np.zeros(size), np.zeros((2, size))
    counts, ranges, ties = np.zeros(sets, np.int64), np.zeros((sets, 6)), np.zeros((sets, 2))
    samples = np.empty((sets, START_POINTS))
    truncation = np.nan if intervals.truncation is None else intervals.truncation
    gathered = points, masses, bounds, counts, ranges, ties
    lower, upper = intervals.lower, intervals.upper
    truncations = np.full(sets, truncation)
    gather_sets(lower, upper, weights, truncations, starts, stops, firsts, gathered, samples)
    # Only what the sets hold goes to the device.
    if counts.sum() < size // 2:
        used = np.repeat(firsts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        points, masses, bounds = points[used], masses[used], bounds[:, used]
        firsts = np.cumsum(counts) - counts
    take = host_workspace.input
    return (
        GatheredIntervals(
            take("points", points),
            take("masses", masses),
            take("bounds", bounds).reshape(2, points.size),
            upload_ends(host_workspace, firsts, firsts + counts),
            take("ranges", ranges).reshape(sets, 6),
        ),
        samples,
        ties,
    )
