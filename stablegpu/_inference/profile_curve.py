"""The curve of a profile likelihood, and the points at which it reaches a limit.

The curve is followed as its root: the square root of twice the drop of the log-likelihood from its
maximum. It is nearly proportional to the distance from the estimate, so it may be interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stablegpu._inference.failures import check_failures

_ROUNDS = 6  # of additional points; not tuned
_COARSE = 0.5  # larger steps of the root are filled with points, smaller ones interpolated


class ProfileCurve(NamedTuple):
    """Points of a profile, their log-likelihoods, the ends of the interval, and lost points."""

    grid: np.ndarray
    loglik: np.ndarray
    low: float
    high: float
    failed: int


class _Side(NamedTuple):
    """One side of a profile: points outwards from the estimate, their roots, the range's end."""

    grid: np.ndarray
    root: np.ndarray
    end: float


def trace_profile(
    loglik_at: Callable[[np.ndarray], np.ndarray],
    centre: float,
    reach: float,
    ends: tuple[float, float],
    limit: float,
    points: int,
) -> ProfileCurve:
    """Follow a profile to both sides of the estimate until its root reaches the limit.

    Parameters
    ----------
    loglik_at : function of an array of points to their log-likelihoods, NaN where a fit failed:
        these points are left out and counted, and too many of them, or the estimate, are an error
    centre : the estimate
    reach : distance of the first points from the centre; NaN, infinite or 0 for the whole range
    ends : ends of the range
    limit : value of the root at the ends of the interval
    points : number of the first points
    """
    grid = _initial_grid(centre, reach, ends, points)
    grid, loglik, failed = _without_failures(grid, loglik_at(grid))
    if not np.any(grid == centre):
        raise ValueError(f"the fit at the estimate, {centre:g}, failed: the profile has no maximum")
    for _ in range(_ROUNDS):
        root = _root(loglik, grid == centre)
        new = np.concatenate(
            [_further_points(side, limit) for side in _sides(grid, root, centre, ends)]
        )
        if not new.size:
            break
        new, new_loglik, lost = _without_failures(new, loglik_at(new))
        failed += lost
        grid, order = np.unique(np.append(grid, new), return_index=True)
        loglik = np.append(loglik, new_loglik)[order]
    check_failures(failed, failed + grid.size, "points of the profile")
    root = _root(loglik, grid == centre)
    low, high = (_crossing(side, limit) for side in _sides(grid, root, centre, ends))
    return ProfileCurve(grid, loglik, low, high, failed)


def _without_failures(grid: np.ndarray, loglik: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the points at which a fit succeeded, their log-likelihoods, and how many failed."""
    good = ~np.isnan(loglik)
    return grid[good], loglik[good], int(np.count_nonzero(~good))


def _initial_grid(
    centre: float, reach: float, ends: tuple[float, float], points: int
) -> np.ndarray:
    """Return the initial points of a profile, `centre` among them."""
    if not 0.0 < reach < math.inf:  # no standard error
        reach = max(ends) - min(ends) if math.isfinite(ends[1]) else math.log(5.0)
    low, high = max(ends[0], centre - reach), min(ends[1], centre + reach)
    return np.unique(np.append(np.linspace(low, high, points), centre))


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
