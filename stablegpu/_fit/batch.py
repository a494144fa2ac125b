"""Fits of many data sets at once: on one device, or in parts by several, workers or ranks.

A set is fitted alike whatever the others of its part are, so that results do not depend on how the
sets are split.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from hetero import Device, region
from hetero.arrays import Array, Workspace, on_host
from hetero.devices import device_of, resolve
from hetero.display.progress_bar import loop_progress
from hetero.distributed.engines import Engine
from stablegpu._fit.ascents import fit_prepared
from stablegpu._fit.datasets import LARGEST_SORTED_SET, BatchFit, UnsortedDataSets, prepare
from stablegpu._fit.fitted import FittedSets
from stablegpu._fit.observations.intervals import Intervals, gather
from stablegpu._fit.observations.large_samples.gather import gather_sample
from stablegpu._fit.observations.large_samples.sample import ArraySample
from stablegpu._parameters import PARAMETERS

Fits = TypeVar("Fits", bound=FittedSets)

LOGGER = logging.getLogger(__name__)

BREAK_EVEN = {"ml": 1000, "mcculloch": 200_000, "koutrouvelis": 5000, "grid": 100, "grid2": 100}
"""Observations from which data in host memory are moved to a GPU."""


class SetsToFit(NamedTuple):
    """Data sets x[starts[s]:stops[s]], and how they are fitted.

    Attributes
    ----------
    data : flat float64 array, in host memory or on a GPU
    weights : array of the same size, or None
    starts, stops : int64 arrays, both in ascending order; sets may overlap
    method, parameterization : str
    fixed_values : fixed parameters by name, an array with a value for each set
    intervals : where the observations lie, if `data` are only points that stand for them
    """

    data: Any
    weights: Any
    starts: np.ndarray
    stops: np.ndarray
    method: str
    parameterization: str
    fixed_values: Mapping[str, np.ndarray]
    intervals: Intervals | None = None

    def part(self, low: int, high: int) -> SetsToFit:
        """Return the sets with the numbers from `low` to `high` - 1, with their data alone."""
        begin, end = int(self.starts[low]), int(self.stops[high - 1])
        return self._replace(
            data=self.data[begin:end],
            weights=None if self.weights is None else self.weights[begin:end],
            intervals=self.intervals and self.intervals.select(slice(begin, end)),
            starts=self.starts[low:high] - begin,
            stops=self.stops[low:high] - begin,
            fixed_values={name: v[low:high] for name, v in self.fixed_values.items()},
        )


def fit_sets(sets: SetsToFit, engine: Engine, show_progress: bool) -> FittedSets:
    """Fit data sets on a device, or by an engine in parts of nearly equal numbers of observations.

    Raises TypeError for data on a GPU that others than that GPU should fit.
    """
    counts, arrays = sets.stops - sets.starts, (sets.data, sets.weights)
    title = "fit" if counts.size == 1 else f"{counts.size} fits"
    with engine.raised_by_all():
        if not engine.is_single and any(device_of(values) is not None for values in arrays):
            raise TypeError(
                "data on a GPU are fitted there: pass arrays in host memory with several devices, "
                "an executor or comm, or leave these out"
            )
        size = int(counts.sum())
        device = resolve(engine.local, *arrays, work=size, break_even=BREAK_EVEN[sets.method])
    where = device if engine.is_single else ", ".join(map(str, engine.devices)) or "workers"
    LOGGER.info(
        "%d sets, %d observations in all, by %s, on %s", counts.size, size, sets.method, where
    )
    if engine.is_single:
        with loop_progress(title) if show_progress else contextlib.nullcontext():
            return _fit_on_device(sets, device)
    bounds = split(counts, engine.count_parts())
    parts = [sets.part(low, high) for low, high in itertools.pairwise(bounds)]
    results = engine.run(_fit_on_device, parts, title=title, show_progress=show_progress)
    return join_results(results)


def _fit_on_device(sets: SetsToFit, device: Device) -> FittedSets:
    """Fit data sets on a device."""
    with device.active(), region("stable fit"):
        workspace, host_workspace = Workspace(device, sets.data), Workspace(device)
        batch = BatchFit(
            *(sets.method, sets.parameterization, dict(sets.fixed_values)),
            *(workspace, host_workspace),
        )
        if sets.intervals is not None:
            weights = np.empty(0) if sets.weights is None else on_host(sets.weights).reshape(-1)
            return _fit_intervals(sets.intervals, weights, sets.starts, sets.stops, batch)
        x = workspace.input("data", sets.data, reuse=True)
        if sets.weights is None:
            weights = host_workspace.output((0,), reuse="none")
        else:
            weights = Workspace(device, sets.weights).input("weights", sets.weights, reuse=True)
        return fit_batch(x, weights, sets.starts, sets.stops, batch)


def split(counts: np.ndarray, parts: int) -> list[int]:
    """Return where parts of nearly equal numbers of observations begin, and the number of sets.

    A part has a set at least, so there may be fewer parts.
    """
    before = np.concatenate(([0], np.cumsum(counts)))
    shares = before[-1] * np.arange(1, parts) / parts
    inner = np.searchsorted(before, shares)
    return [int(n) for n in np.unique(np.concatenate(([0], inner, [counts.size])))]


def fit_batch(
    x: Array, weights: Array, starts: np.ndarray, stops: np.ndarray, batch: BatchFit
) -> FittedSets:
    """Fit the data sets x[starts[s]:stops[s]]; x and weights are on the device."""
    if (stops - starts).max() > LARGEST_SORTED_SET:
        return _fit_one_by_one(x, weights, starts, stops, batch)
    clock, unsorted = [time.perf_counter()], UnsortedDataSets(x, starts, stops)
    prepared = prepare(unsorted, weights, batch.workspace, batch.host_workspace)
    return fit_prepared(prepared, batch, clock)


def _fit_intervals(
    intervals: Intervals,
    weights: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    batch: BatchFit,
) -> FittedSets:
    """Fit data sets whose observations lie in intervals; these and the weights are on the host."""
    clock, workspace = [time.perf_counter()], batch.host_workspace
    gathered, samples, ties = gather(intervals, weights, starts, stops, workspace)
    ranges = on_host(gathered.ranges).reshape(len(samples), -1)
    if "loc" not in batch.fixed_values:
        # Where all intervals share a point, a distribution at it is the most likely one.
        least_upper, largest_lower = ranges.T[:2]
        shares = largest_lower <= least_upper
        if "scale" in batch.fixed_values:
            shares &= np.isinf(least_upper - largest_lower)
        ties[shares, 0] = ties[shares, 1]
    rows = np.arange(len(samples)) * samples.shape[1]
    unsorted = UnsortedDataSets(workspace.input("data", samples), rows, rows + samples.shape[1])
    none = workspace.output((0,), reuse="none")
    # The samples are arrays of the host, whatever kind the data are.
    prepared = prepare(unsorted, none, workspace, workspace)
    prepared = prepared._replace(sorted=prepared.sorted._replace(intervals=gathered), ties=ties)
    fits = fit_prepared(prepared, batch, clock)
    # Fewer probabilities than parameters, whose sum is 1 on the whole line, do not determine them.
    known = np.diff(on_host(gathered.ends).reshape(-1, 2))[:, 0]
    known = known - (ranges[:, 4] * ranges[:, 5] > 0.0)
    free = len(PARAMETERS) - len(batch.fixed_values)
    unknown = (known < free)[:, None] & (fits.errors != 0.0)
    return replace(
        fits,
        size=stops - starts,
        ties=np.maximum(fits.ties, 1.0),
        errors=np.where(unknown, np.nan, fits.errors),
        covariance=np.where(unknown[:, :, None] | unknown[:, None, :], np.nan, fits.covariance),
    )


def _fit_one_by_one(
    x: Array, weights: Array, starts: np.ndarray, stops: np.ndarray, batch: BatchFit
) -> FittedSets:
    """Fit data sets one by one if some are too large for the batched kernel."""
    results = []
    for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        clock = [time.perf_counter()]
        unsorted = UnsortedDataSets(x[start:stop], np.zeros(1, int), np.array([stop - start]))
        part = weights[start:stop] if weights.size else weights
        if stop - start > LARGEST_SORTED_SET:
            sample = ArraySample(unsorted.x, part, batch.workspace)
            prepared = gather_sample(sample, unsorted, batch, batch.method != "mcculloch")
        else:
            prepared = prepare(unsorted, part, batch.workspace, batch.host_workspace)
        results.append(fit_prepared(prepared, batch.select(slice(k, k + 1)), clock))
    return join_results(results)


def join_results(results: Sequence[Fits]) -> Fits:
    """Join fits of one kind as if they came from one call."""
    if len(results) == 1:
        return results[0]
    first = results[0]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(r, name) for r in results])
        for name in FittedSets.__dataclass_fields__
        if name not in _COMMON_FIELDS
    }
    return type(first)(
        **arrays,
        parameterization=first.parameterization,
        method=first.method,
        fixed={name: np.concatenate([r.fixed[name] for r in results]) for name in first.fixed},
        timings={stage: sum(r.timings[stage] for r in results) for stage in first.timings},
    )


_COMMON_FIELDS = ("parameterization", "method", "fixed", "timings",
                  "labels", "data", "weights", "starts", "intervals")  # fmt: skip
