"""A large sample gathered in bins, two weighted points each, with its first estimate."""

from __future__ import annotations

import numpy as np

from hetero.arrays import Workspace
from stablegpu._fit import datasets
from stablegpu._fit.estimators.mcculloch import estimate as mcculloch_estimate
from stablegpu._fit.observations.large_samples.sample import Sample

COUNTED = 1.0 / 20.0
"""Share of a large set above which equal data are counted: fewer do not matter
(`examine_sets` in `_fit/ascents.py`)."""


def gather_sample(
    sample: Sample, unsorted: datasets.UnsortedDataSets, batch: datasets.BatchFit, in_bins: bool
) -> datasets.PreparedDataSets:
    """Estimate the parameters of a sample by McCulloch's quantiles, and gather it in bins if asked.

    Without bins it cannot be fitted by maximum likelihood.
    """
    quantiles, equal = mcculloch_estimate.quantiles(sample)
    estimates, ends = np.array([mcculloch_estimate.start(quantiles)]), (quantiles[0], quantiles[-1])
    ties = np.array([[equal, float(sample.size)]])
    sets = None
    spread = quantiles[4] - quantiles[2]
    if sample.is_weighted and np.isnan(estimates).any():  # those of large weight may vary
        spread = ends[1] - ends[0]
    if in_bins and spread > 0.0 and not np.isinf(estimates).any():
        width, workspace = _bin_width(spread, ends), batch.host_workspace
        bins, ties = _bin_set(sample, quantiles[3], width, ends, workspace)
        if sample.is_weighted:
            points = datasets.UnsortedDataSets(bins.x, np.zeros(1, int), np.array([bins.x.size]))
            estimates = datasets.prepare(points, bins.weights, batch.workspace, workspace).estimates
        # Without an estimate there is nothing to fit, and the estimate says why.
        if not sample.is_weighted or np.isfinite(estimates).all():
            sets = bins
    return datasets.PreparedDataSets(sets, unsorted, estimates, ties)


def _bin_width(spread: float, ends: tuple[float, float]) -> float:
    """Return the width of the bins in the middle of data with a quartile range.

    It is a normal number unless all data are tiny, so that the range is below exp(1418) widths.
    """
    floats = np.finfo(np.float64)
    least = max(floats.tiny * min(ends[1] - ends[0], 1.0), floats.smallest_subnormal)
    return float(max(1e-3 * spread, least))


def _bin_set(
    sample: Sample,
    centre: float,
    width: float,
    ends: tuple[float, float],
    host_workspace: Workspace,
) -> tuple[datasets.SortedDataSets, np.ndarray]:
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
        narrower = _bin_width(upper - lower, ends)
        if not upper > lower or not narrower < 0.5 * width:
            break
        width = narrower
        points, masses, fullest = _fill_bins(sample, centre, width, ends)
    sets = datasets.SortedDataSets(
        host_workspace.input("data", points),
        host_workspace.input("weights", masses),
        datasets.upload_ends(host_workspace, 0, points.size),
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
    from stablegpu._fit.observations.large_samples.formulas import BINS, binning_coordinate

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
    group = (datasets.LARGEST_SORTED_SET // 4 * share).astype(int) + (
        np.flatnonzero(full) * (datasets.LARGEST_SORTED_SET // 4)
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
