"""Fits of many data sets by an engine: one device, several, the workers of an executor, or ranks.

A set is fitted alike whatever the others of its part are, so that results do not depend on how the
sets are split.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hetero import region
from hetero.arrays import Workspace, on_host
from hetero.devices import Device
from hetero.distributed.engines import Engine
from stablegpu._fit.arguments import BatchFit
from stablegpu._fit.batch import fit_batch, fit_intervals, join_results
from stablegpu._fit.fitted import FittedSets
from stablegpu._fit.intervals import Intervals


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


def fit_on_device(sets: SetsToFit, device: Device) -> FittedSets:
    """Fit data sets on a device."""
    with device.active(), region("stable fit"):
        workspace, host_workspace = Workspace(device, sets.data), Workspace(device)
        batch = BatchFit(
            sets.method,
            sets.parameterization,
            dict(sets.fixed_values),
            workspace,
            host_workspace,
        )
        if sets.intervals is not None:
            own = np.empty(0) if sets.weights is None else on_host(sets.weights).reshape(-1)
            return fit_intervals(sets.intervals, own, sets.starts, sets.stops, batch)
        x = workspace.input("data", sets.data, reuse=True)
        if sets.weights is None:
            weights = host_workspace.output((0,), reuse="none")
        else:
            weights = Workspace(device, sets.weights).input("weights", sets.weights, reuse=True)
        return fit_batch(x, weights, sets.starts, sets.stops, batch)


def fit_by_engine(sets: SetsToFit, engine: Engine, show_progress: bool, title: str) -> FittedSets:
    """Fit data sets, which are in host memory, in parts of nearly equal numbers of observations."""
    bounds = split(sets.stops - sets.starts, engine.count_parts())
    parts = [sets.part(low, high) for low, high in itertools.pairwise(bounds)]
    results = engine.run(fit_on_device, parts, title=title, show_progress=show_progress)
    return join_results(results)


def split(counts: np.ndarray, parts: int) -> list[int]:
    """Return where parts of nearly equal numbers of observations begin, and the number of sets.

    A part has a set at least, so there may be fewer parts.
    """
    before = np.concatenate(([0], np.cumsum(counts)))
    wanted = before[-1] * np.arange(1, parts) / parts
    inner = np.searchsorted(before, wanted)
    return [int(n) for n in np.unique(np.concatenate(([0], inner, [counts.size])))]
