"""Quantiles over paths that several parts have computed: exact, and with no path in memory.

A quantile is a number of known rank among all paths, or lies between two neighbours. Each part
first gives the numbers of nearly that rank among its own paths. The least and the largest of them
over all parts enclose both neighbours, for any numbers at all (see `bracket_ranks`). Then every
part computes its paths again, counts those below that interval, and returns those inside of it:
few, because the parts are samples of one distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hetero.arrays import Array, Workspace
from rode._solver.reductions import Loops


class Brackets(NamedTuple):
    """Reduction to numbers of a part that enclose each quantile of all parts with other parts'."""

    probabilities: tuple[float, ...]


class Between(NamedTuple):
    """Reduction to the numbers from `lower` to `upper`, arrays (probabilities, times, outputs)."""

    lower: np.ndarray
    upper: np.ndarray


@dataclass
class Inside:
    """Numbers of a part inside of the intervals.

    Attributes
    ----------
    below : (probabilities, times, outputs) array of int64, how many numbers are below
    values : nested lists, [probability][time][output], of sorted arrays of those inside
    """

    below: np.ndarray
    values: list[list[list[np.ndarray]]]


def bracket_ranks(probability: float, paths: int) -> tuple[int, int]:
    """Return the ranks of a part's lower and upper end of the interval of a quantile.

    Of N paths in P parts, let the quantile lie between the ranks r = floor(q (N - 1)) and r + 1.
    If the number of rank r were below the lower ends of all parts, at most the sum of
    floor(q (n_p - 1)) numbers would be as small, which is at most r; but there are r + 1. If the
    one of rank r + 1 were above all upper ends, more than r + 1 numbers would be smaller.
    """
    low = int(np.floor(probability * (paths - 1)))
    return low, min(low + 2, paths - 1)


def collect_inside(
    loops: Loops, workspace: Workspace, rows: Array, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, list[list[np.ndarray]]]:
    """Return how many numbers of each row are below an interval, and those inside, sorted.

    Parameters
    ----------
    rows : (rows, paths) array on the device
    lower, upper : (probabilities, rows) arrays in host memory
    """
    dtype = rows.dtype
    low, high = (workspace.input("end", end, dtype).reshape(end.shape) for end in (lower, upper))
    below, inside = (workspace.output(lower.shape, np.int64).reshape(lower.shape) for _ in "12")
    loops.count_between(rows, low, high, below, inside)
    counts = workspace.result(inside, lower.shape)
    begins = np.cumsum(counts.ravel()) - counts.ravel()
    places = workspace.input("places", begins.copy(), np.int64).reshape(lower.shape)
    values = workspace.output((max(1, int(counts.sum())),), dtype)
    loops.collect_between(rows, low, high, places, values)
    found = workspace.result(values, values.shape)
    split = np.split(found[: int(counts.sum())], begins[1:])
    columns = lower.shape[1]
    sorted_parts = [np.sort(part) for part in split]
    by_level = [sorted_parts[k * columns : (k + 1) * columns] for k in range(lower.shape[0])]
    return workspace.result(below, lower.shape), by_level


def enclose(brackets: Sequence[np.ndarray]) -> Between:
    """Return the intervals of all parts from arrays (2, probabilities, times, outputs)."""
    lower = np.min([bracket[0] for bracket in brackets], axis=0)
    upper = np.max([bracket[1] for bracket in brackets], axis=0)
    return Between(lower, upper)


def join_quantiles(
    found: Sequence[Inside], between: Between, probabilities: Sequence[float], paths: int
) -> np.ndarray:
    """Return the quantiles of all paths, linear between ranks; NaN where a number is NaN."""
    below = np.sum([part.below for part in found], axis=0)
    result = np.full(between.lower.shape, np.nan)
    for index in np.ndindex(*result.shape):
        if np.isnan(between.lower[index]) or np.isnan(between.upper[index]):
            continue
        k, time, output = index
        values = np.sort(np.concatenate([part.values[k][time][output] for part in found]))
        position = probabilities[k] * (paths - 1)
        rank = int(np.floor(position))
        first = rank - int(below[index])
        last = first + (rank + 1 < paths)
        if not 0 <= first <= last < values.size:
            raise RuntimeError(
                "quantiles of several parts need the same paths twice, but the second run gave "
                "others: let all workers use one kind of device, device='cpu' or 'cuda'"
            )
        low, high = float(values[first]), float(values[last])
        with np.errstate(invalid="ignore"):
            result[index] = low if position == rank else low + (position - rank) * (high - low)
    return result
