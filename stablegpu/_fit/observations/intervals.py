"""Observations that are known to lie in intervals: rounded, censored, binned or truncated data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetero import validation
from hetero.arrays import Workspace, on_host
from stablegpu._fit.arguments import DataSets, as_sets, check_counts
from stablegpu._fit.datasets import upload_ends
from stablegpu._fit.likelihood import Observations


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
    def recorded(self) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the parts of the intervals above the truncation: nothing below was recorded."""
        if self.truncation is None:
            return self.lower, self.upper
        return np.maximum(self.lower, self.truncation), self.upper

    @property
    def points(self) -> np.ndarray:
        """Points that stand for the intervals: their middles, or their finite ends."""
        lower = np.where(np.isinf(self.lower), self.upper, self.lower)
        upper = np.where(np.isinf(self.upper), self.lower, self.upper)
        return lower + 0.5 * (upper - lower)


GRID_TOLERANCE = 1e-6
"""Distance of data from multiples of their rounding, in units of it, that float64 explains."""

_EPS, _EPS_OF_FLOAT32 = 4e-16, 2.4e-7
"""Largest error of data relative to their size, twice that of a rounding."""


def observed_intervals(
    data: Any, lower: Any, upper: Any, rounding: float | None, truncation: float | None
) -> tuple[DataSets, Intervals]:
    """Return data sets and the intervals of their observations.

    Raises TypeError or ValueError if the arguments contradict each other.
    """
    if type(data).__name__ == "CensoredData":
        if lower is not None or upper is not None or rounding is not None:
            raise TypeError("CensoredData say where data lie: leave lower, upper and rounding out")
        lower, upper = _ends_of_censored(data)
        data = None
    if truncation is not None:
        truncation = validation.check_finite("truncation", truncation)
    if data is not None and (lower is not None or upper is not None):
        raise TypeError("fit() takes data, or lower and upper: exact observations have equal ends")
    if data is None:
        if lower is None or upper is None:
            raise TypeError("fit() needs data, or both lower and upper (infinite where unknown)")
        if rounding is not None:
            raise TypeError("rounding belongs to data; lower and upper already say where they lie")
        sets, high = as_sets("lower", lower, 1), as_sets("upper", upper, 1)
        if sets.labels != high.labels and sets.labels is not None and high.labels is not None:
            raise ValueError(
                f"upper must have the labels of lower, {sets.labels}, got {high.labels}"
            )
        if (sets.counts.size, sets.single) != (high.counts.size, high.single) or (
            sets.counts != high.counts
        ).any():
            raise ValueError("lower and upper must have the same shape")
        ends = Intervals(_flat(sets), _flat(high), None, truncation)
        _check_ends(ends)
        return sets._replace(data=ends.points), ends
    sets = as_sets("data", data)
    ends = widened("data", sets, rounding, truncation)
    return sets._replace(data=_flat(sets)), ends


def widened(
    name: str, sets: DataSets, rounding: float | None, truncation: float | None = None
) -> Intervals:
    """Return the intervals in which observations lie that were rounded or truncated.

    Without rounding they have no width. Raises ValueError if the data are not so rounded.
    """
    x = _flat(sets)
    lower, upper = (x.copy(), x.copy()) if rounding is None else np.empty((2, x.size))
    if rounding is not None:
        from stablegpu._fit.observations.interval_loops import widen

        rounding = validation.check_in_range("rounding", rounding, 0.0, np.inf, closed="neither")
        origin = float(next((v for v in x if math.isfinite(v)), 0.0))
        off = widen(x, rounding, origin, GRID_TOLERANCE, _EPS, lower, upper)
        if off < x.size and (x.astype(np.float32) == x)[np.isfinite(x)].all():
            off = widen(x, rounding, origin, GRID_TOLERANCE, _EPS_OF_FLOAT32, lower, upper)
        if off < x.size:
            raise ValueError(
                f"{name} must be multiples of rounding={rounding:g}, up to a common offset, but "
                f"{float(x[off])!r} is not: pass the rounding of the data, or lower= and upper="
            )
    ends = Intervals(lower, upper, rounding, truncation)
    _check_ends(ends)
    return ends


def _flat(sets: DataSets) -> np.ndarray:
    """Return all observations in host memory, one set behind the other."""
    return np.asarray(on_host(sets.data), np.float64).reshape(-1)


def _check_ends(ends: Intervals) -> None:
    """Raise ValueError unless all intervals make sense, and lie above the truncation."""
    from stablegpu._fit.observations.interval_loops import find_bad_ends

    truncation = -math.inf if ends.truncation is None else ends.truncation
    bad, below = find_bad_ends(ends.lower, ends.upper, truncation)
    if bad < ends.lower.size:
        raise ValueError(
            "lower must not exceed upper, and one of them must be finite (-inf or inf where an end "
            f"is unknown, NaN for both where data are missing); observation {bad} has "
            f"lower={ends.lower[bad]:g}, upper={ends.upper[bad]:g}"
        )
    if below < ends.lower.size:
        raise ValueError(
            f"truncation={truncation:g} says that smaller values were never recorded, but the data "
            f"hold {ends.points[below]:g}: remove these, or lower the truncation"
        )


def _ends_of_censored(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper ends of SciPy's `CensoredData`."""
    exact, left, right, between = (
        np.asarray(getattr(data, name), np.float64)
        for name in ("_uncensored", "_left", "_right", "_interval")
    )
    between = between.reshape(-1, 2)
    unknown = np.full(left.size, -np.inf), np.full(right.size, np.inf)
    lower = np.concatenate([exact, unknown[0], right, between[:, 0]])
    return lower, np.concatenate([exact, left, unknown[1], between[:, 1]])


def require_observations(counts: np.ndarray, weights: Any) -> None:
    """Raise ValueError if intervals stand for fewer observations than a fit needs.

    A histogram may have few bins, but not few observations.
    """
    if weights is not None:
        flat = np.asarray(on_host(weights), np.float64).reshape(-1)
        counts = np.add.reduceat(flat, np.cumsum(counts) - counts)
    check_counts("data", counts, "observations in a set, or as much weight")


def require_likelihood(method: str) -> None:
    """Raise ValueError for a method that cannot take observations in intervals."""
    if method != "ml":
        raise ValueError(
            f"lower, upper, rounding and truncation need method='ml', got method={method!r}"
        )


def gather(
    intervals: Intervals,
    weights: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    host_workspace: Workspace,
) -> tuple[Observations, np.ndarray, np.ndarray]:
    """Merge equal intervals of each set and copy them to the device.

    Also return samples for starting values, (sets, points), and the ties of `PreparedDataSets`.
    """
    from stablegpu._fit.observations.interval_loops import START_POINTS, gather_sets

    sets, lengths = len(starts), stops - starts + 1  # a truncation takes a place
    firsts, size = np.cumsum(lengths) - lengths, int(lengths.sum())
    points, masses, bounds = np.zeros(size), np.zeros(size), np.zeros((2, size))
    counts, ranges, ties = np.zeros(sets, np.int64), np.zeros((sets, 6)), np.zeros((sets, 2))
    samples = np.empty((sets, START_POINTS))
    truncation = np.nan if intervals.truncation is None else intervals.truncation
    gathered = points, masses, bounds, counts, ranges, ties
    observed, truncations = (*intervals.recorded, weights), np.full(sets, truncation)
    gather_sets(observed, truncations, starts, stops, firsts, gathered, samples)
    # Only what the sets hold goes to the device.
    if counts.sum() < size // 2:
        used = np.repeat(firsts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        points, masses, bounds = points[used], masses[used], bounds[:, used]
        firsts = np.cumsum(counts) - counts
    take = host_workspace.input
    return (
        Observations(
            take("points", points),
            take("masses", masses),
            take("bounds", bounds).reshape(2, points.size),
            upload_ends(host_workspace, firsts, firsts + counts),
            take("ranges", ranges).reshape(sets, 6),
        ),
        samples,
        ties,
    )
