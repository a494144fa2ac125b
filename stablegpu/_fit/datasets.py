"""Data sets on a device, from sorting to the optimizer's final states."""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hetero.arrays import Array, Workspace
from hetero.cuda.device_cache import resident, resident_tuple
from stablegpu._fit import likelihood, mcculloch, second_starts
from stablegpu._fit.mcculloch import estimate as mcculloch_estimate
from stablegpu._fit.records import OUTCOME
from stablegpu._fit.samples import Sample
from stablegpu._fit.second_starts import choose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LARGEST_SORTED_SET = 8192
"""Observations of a data set that are sorted and used one by one; more are gathered in bins."""

COUNTED = 1.0 / 20.0
"""Share of a large set from which on equal data are counted: fewer do not matter
(`examine_sets` in `_fit/set_loops.py`)."""


FEW = 4
"""Largest number of sets whose ends stay on a GPU (not tuned)."""


class GatheredIntervals(NamedTuple):
    """Distinct intervals of all sets on the device, as `likelihood.Loops.maximize` reads them."""

    points: Array
    weights: Array
    bounds: Array
    ends: Array
    ranges: Array


class SortedDataSets(NamedTuple):
    """Sorted data sets: set s is x[ends[s, 0]:ends[s, 1]], all on the device."""

    x: Array
    weights: Array  # of the same indices; empty: all 1
    ends: Array
    intervals: GatheredIntervals | None = None  # the data, if x are only samples like them


class UnsortedDataSets(NamedTuple):
    """Data sets as the caller gave them: set s is x[starts[s]:stops[s]], x on the device."""

    x: Array
    starts: np.ndarray
    stops: np.ndarray

    def select(self, which: np.ndarray) -> UnsortedDataSets:
        """Return the data sets with the indices `which`."""
        return self._replace(starts=self.starts[which], stops=self.stops[which])


class PreparedDataSets(NamedTuple):
    """Data sets with their first estimates, before an ascent."""

    sorted: Any  # SortedDataSets, or None if no set can be fitted
    unsorted: UnsortedDataSets
    estimates: np.ndarray  # (sets, 4): McCulloch's alpha, beta, S0 location, scale
    ties: np.ndarray  # (sets, 2): the largest weight of equal data, and that of all

    def select(self, which: np.ndarray, host_workspace: Workspace) -> PreparedDataSets:
        """Return the data sets with the indices `which`."""
        return PreparedDataSets(
            select(self.sorted, which, host_workspace),
            self.unsorted.select(which),
            self.estimates[which],
            self.ties[which],
        )


class Constants(NamedTuple):
    """Tables that fits read."""

    surfaces: Array
    table: Array
    profile: Array


@functools.cache
def host_constants() -> Constants:
    """Load the tables of McCulloch's estimator, of densities next to alpha = 1, and of starts."""
    with (
        files("stablegpu").joinpath("data", "near_one.npz").open("rb") as file,
        np.load(file) as parts,
    ):
        table = np.concatenate([parts[n].ravel() for n in ("log_a", "middle", "outer")])
    return Constants(mcculloch_estimate.surfaces(), table, choose.table())


def constants(workspace: Workspace) -> Constants:
    """Return the tables in the memory of the device."""
    tables = host_constants()
    return tables if workspace.device.kind == "cpu" else resident_tuple(tables)


def sort_sets(
    unsorted: UnsortedDataSets, weights: Array, workspace: Workspace, host_workspace: Workspace
) -> tuple[SortedDataSets, Array]:
    """Sort data sets on the device; return them and a table of equal data for `estimate`."""
    from stablegpu._fit.mcculloch.formulas import ESTIMATE_SIZE

    data, starts, stops = unsorted
    counts = stops - starts
    total, longest = int(counts.sum()), int(counts.max())
    x = host_workspace.output((total,), reuse="sorted data")
    w = host_workspace.output((total,), reuse="sorted weights") if weights.size else weights
    sources = ends = upload_ends(host_workspace, starts, stops)
    if starts[0] != 0 or (starts[1:] != stops[:-1]).any():  # they overlap, or there are gaps
        last = np.cumsum(counts)
        ends = upload_ends(host_workspace, last - counts, last)
    estimates = host_workspace.output((len(counts), ESTIMATE_SIZE), reuse="estimates", flat=False)
    mcculloch.loops(workspace.device).sort(
        (data, weights), sources, ends, longest, (x, w), estimates, workspace.stream
    )
    return SortedDataSets(x, w, ends), estimates


def select(sets: SortedDataSets, which: np.ndarray, host_workspace: Workspace) -> SortedDataSets:
    """Return the data sets with the indices `which`."""
    ends = host_workspace.result(sets.ends, sets.ends.shape)[which]
    intervals = sets.intervals
    if intervals is not None:
        own = host_workspace.result(intervals.ends, intervals.ends.shape)[which]
        ranges = host_workspace.result(intervals.ranges, intervals.ranges.shape)[which]
        intervals = intervals._replace(
            ends=upload_ends(host_workspace, *own.T),
            ranges=host_workspace.input("ranges", ranges).reshape(ranges.shape),
        )
    return sets._replace(ends=upload_ends(host_workspace, *ends.T), intervals=intervals)


def estimate(
    sets: SortedDataSets, estimates: Array, workspace: Workspace, host_workspace: Workspace
) -> tuple[np.ndarray, np.ndarray]:
    """Return McCulloch's estimates, and the largest weight of equal data and that of all.

    Both are arrays with a row for each set: alpha, beta, S0 location, scale; and the two weights.
    """
    loops = mcculloch.loops(workspace.device)
    loops.start(
        sets.x, sets.weights, sets.ends, constants(workspace).surfaces, estimates, workspace.stream
    )
    result = host_workspace.result(estimates, estimates.shape)
    return np.ascontiguousarray(result[:, :4]), np.ascontiguousarray(result[:, 4:])


def maximize(
    sets: SortedDataSets,
    starts: np.ndarray,
    free: int,
    workspace: Workspace,
    host_workspace: Workspace,
    find_peaks: bool = False,
) -> np.ndarray:
    """Return the outcomes of the ascents (records `OUTCOME`) from `starts` (records `START`).

    `free` is the bit mask of the free parameters, with `LOC_IN_S1`. With `find_peaks` the outcomes
    have the peaks of the profiles, too, computed in the same call: a transfer costs a fit alone as
    much as an evaluation.
    """
    tables, stream = constants(workspace), workspace.stream
    records = host_workspace.input("starts", starts.view(np.float64), reuse=True)
    outcomes = host_workspace.output((len(starts) * OUTCOME.itemsize // 8,), reuse="outcomes")
    if find_peaks:
        second_starts.loops(workspace.device).find_peaks(
            sets.x, sets.weights, sets.ends, records, tables.profile, outcomes, stream
        )
    observed = sets.intervals
    if observed is None:
        none = host_workspace.output((0, 0), reuse="no intervals", flat=False)
        observed = GatheredIntervals(sets.x, sets.weights, none, sets.ends, none)
    likelihood.loops(workspace.device).maximize(
        *observed, records, free, tables.table, outcomes, stream
    )
    return host_workspace.result(outcomes, (outcomes.size,)).view(OUTCOME)


def upload_ends(host_workspace: Workspace, starts: ArrayLike, stops: ArrayLike) -> Array:
    """Copy where data sets start and stop to the device, as (sets, 2) integers.

    Those of a few sets stay on a GPU: fits of one set are often of as many observations.
    """
    ends = np.empty((np.size(starts), 2), np.int64)
    ends[:, 0], ends[:, 1] = starts, stops
    if host_workspace.device.kind == "cuda" and len(ends) <= FEW:
        return resident(ends)
    return host_workspace.input("sets", ends, np.int64).reshape(len(ends), 2)


def bin_width(spread: float, ends: tuple[float, float]) -> float:
    """Return the width of the bins in the middle of data with a quartile range.

    It is a normal number unless all data are tiny, so that the range is below exp(1418) widths.
    """
    floats = np.finfo(np.float64)
    least = max(floats.tiny * min(ends[1] - ends[0], 1.0), floats.smallest_subnormal)
    return float(max(1e-3 * spread, least))


def bin_set(
    sample: Sample,
    centre: float,
    width: float,
    ends: tuple[float, float],
    host_workspace: Workspace,
) -> tuple[SortedDataSets, np.ndarray]:
    """Gather one large set in at most `LARGEST_SORTED_SET` weighted points, sorted.

    Returns them, and a row with the largest weight of equal data and that of all.

    A bin has at most n/2048 observations, and a width of 1/2048 of the range of asinh((x -
    centre)/width). Centre and width are those of the data without weights; with them bins are made
    anew around the weighted median, until they are narrow enough there.
    """
    points, masses, fullest = _fill_bins(sample, centre, width, ends)
    while sample.is_weighted:
        share = (np.cumsum(masses) - 0.5 * masses) / masses.sum()
        lower, centre, upper = np.interp((0.25, 0.5, 0.75), share, points)
        narrower = bin_width(upper - lower, ends)
        if not upper > lower or not narrower < 0.5 * width:
            break
        width = narrower
        points, masses, fullest = _fill_bins(sample, centre, width, ends)
    sets = SortedDataSets(
        host_workspace.input("data", points),
        host_workspace.input("weights", masses),
        upload_ends(host_workspace, 0, points.size),
    )
    return sets, np.array([_ties_of(sample, fullest)])


def _ties_of(sample: Sample, fullest: tuple[float, float, float]) -> tuple[float, float]:
    """Return the largest weight of equal data, and that of all data.

    Equal data are in one bin, and a bin that is so full has little else. Weights are counted by
    bin, data one by one: as many as equal the one in the middle of the bin.
    """
    before, within, total = fullest
    if within <= COUNTED * total:
        return 1.0, total
    if sample.is_weighted:
        return within, total
    value = sample.select(np.array([int(before + 0.5 * within)]))
    return float(max(sample.count(value)[0], 1)), total


def _fill_bins(
    sample: Sample, centre: float, width: float, ends: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray, tuple[float, float, float]]:
    """Return sorted points that stand for the data, their weights, and facts of the fullest bin.

    There are two points for each bin. The facts are the weight before the fullest bin, its weight,
    and the total.
    """
    from stablegpu._fit.binning.formulas import BINS, binning_coordinate

    low, high = (binning_coordinate(end, centre, width) for end in ends)
    per_unit = BINS / max(high - low, 1e-300) * (1.0 - 1e-12)
    count, first, second = sample.bin(centre, width, low, per_unit)
    most = int(count.argmax())
    fullest = float(count[:most].sum()), float(count[most]), float(count.sum())
    full = count > 0.0
    u = (low + (np.arange(BINS) + 0.5) / per_unit)[full]
    root = np.exp(0.5 * u)  # as in `bin_of`
    grown, shrunk = (width * root) * (0.5 * root), (width / root) * (0.5 / root)
    middle, unit = centre + (grown - shrunk), grown + shrunk
    count, first, second = count[full], first[full], second[full]
    share = (np.cumsum(count) - 0.5 * count) / count.sum()
    group = (LARGEST_SORTED_SET // 4 * share).astype(int) + (
        np.flatnonzero(full) * (LARGEST_SORTED_SET // 4)
    ) // BINS
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    mass = np.add.reduceat(count, begins)
    lengths = np.diff(begins, append=count.size)
    # Moments of each group are taken in its largest unit: squares of observations may overflow.
    total, largest = np.repeat(mass, lengths), np.maximum.reduceat(unit, begins)
    part, first, second = count / total, first / total, second / total
    mean = np.add.reduceat(part * middle + first * unit, begins)
    off = (middle - np.repeat(mean, lengths)) / np.repeat(largest, lengths)
    unit = unit / np.repeat(largest, lengths)
    square = np.add.reduceat(second * unit**2 + 2.0 * off * first * unit + part * off**2, begins)
    deviation = largest * np.sqrt(np.maximum(square, 0.0))
    points = np.stack([mean - deviation, mean + deviation], axis=1).ravel().clip(*ends)
    order = np.argsort(points, kind="stable")
    return points[order], np.repeat(0.5 * mass, 2)[order], fullest
