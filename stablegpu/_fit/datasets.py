"""Data sets on a device, from sorting to the optimizer's final states."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hetero.arrays import Array, Workspace
from hetero.cuda.device_cache import resident, resident_tuple
from stablegpu._fit import likelihood
from stablegpu._fit.estimators import mcculloch
from stablegpu._fit.estimators.mcculloch import estimate as mcculloch_estimate
from stablegpu._fit.likelihood import Observations, second_starts
from stablegpu._fit.likelihood.second_starts import selection_loops
from stablegpu._fit.likelihood.second_starts.formulas import ALPHAS, BETAS
from stablegpu._fit.records import OUTCOME, START
from stablegpu._parameters import PARAMETERS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LARGEST_SORTED_SET = 8192
"""Observations of a data set that are sorted and used one by one; more are gathered in bins."""

_ALPHAS = np.array(ALPHAS)

FEW = 4
"""Largest number of sets whose ends stay on a GPU (not tuned)."""


@dataclass(frozen=True)
class BatchFit:
    """Settings by which the data sets of a batch are fitted, and the device.

    Attributes
    ----------
    method, parameterization : str
    fixed_values : dict of arrays
        Fixed parameters by name, a value for each set.
    workspace, host_workspace : Workspace
        Of the device: for arrays like the data, and for arrays that come from the host.
    """

    method: str
    parameterization: str
    fixed_values: dict[str, np.ndarray]
    workspace: Workspace
    host_workspace: Workspace

    @property
    def free(self) -> int:
        """Bit mask of the free parameters, alpha in the lowest bit."""
        return sum(1 << k for k, name in enumerate(PARAMETERS) if name not in self.fixed_values)

    def select(self, which: Any) -> BatchFit:
        """Return the fit of the data sets with the indices `which`."""
        values = {name: value[which] for name, value in self.fixed_values.items()}
        return replace(self, fixed_values=values)


class SortedDataSets(NamedTuple):
    """Sorted data sets: set s is x[ends[s, 0]:ends[s, 1]], all on the device."""

    x: Array
    weights: Array  # of the same indices; empty: all 1
    ends: Array
    intervals: Observations | None = None  # the data, if x are only samples like them


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
    return Constants(mcculloch_estimate.surfaces(), table, selection_loops.load_profiles())


def constants(workspace: Workspace) -> Constants:
    """Return the tables in the memory of the device."""
    tables = host_constants()
    return tables if workspace.device.kind == "cpu" else resident_tuple(tables)


def prepare(
    unsorted: UnsortedDataSets, weights: Array, workspace: Workspace, host_workspace: Workspace
) -> PreparedDataSets:
    """Sort data sets on the device, and estimate their parameters by McCulloch's quantiles."""
    from stablegpu._fit.estimators.mcculloch.formulas import ESTIMATE_SIZE

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
    surfaces, stream = constants(workspace).surfaces, workspace.stream
    loops = mcculloch.loops(workspace.device)
    loops.sort((data, weights), sources, ends, longest, (x, w), estimates, stream)
    loops.start(x, w, ends, surfaces, estimates, stream)
    first, ties = np.hsplit(host_workspace.result(estimates, estimates.shape), [4])
    sets = SortedDataSets(x, w, ends)
    return PreparedDataSets(sets, unsorted, np.ascontiguousarray(first), np.ascontiguousarray(ties))


def select(sets: SortedDataSets, which: np.ndarray, host_workspace: Workspace) -> SortedDataSets:
    """Return the data sets with the indices `which`."""
    ends = host_workspace.result(sets.ends, sets.ends.shape)[which]
    intervals = sets.intervals
    if intervals is not None:
        interval_ends = host_workspace.result(intervals.ends, intervals.ends.shape)[which]
        ranges = host_workspace.result(intervals.ranges, intervals.ranges.shape)[which]
        intervals = intervals._replace(
            ends=upload_ends(host_workspace, *interval_ends.T),
            ranges=host_workspace.input("ranges", ranges).reshape(ranges.shape),
        )
    return sets._replace(ends=upload_ends(host_workspace, *ends.T), intervals=intervals)


def make_starts(parameters: np.ndarray, units: np.ndarray, lowest: ArrayLike) -> np.ndarray:
    """Return the records `START` of (sets, 4) parameters, (sets, 2) units and the least alphas."""
    starts = np.zeros(len(units), START)
    starts["parameters"], starts["lowest_alpha"] = parameters, lowest
    starts["unit_loc"], starts["unit_scale"] = units.T
    return starts


def set_choices(starts: np.ndarray, fixed_values: Mapping[str, np.ndarray]) -> None:
    """Set which second starts are possible in records `START`.

    Fixed parameters leave the nearest ones of the table.
    """
    starts["first_alpha"] = _ALPHAS.searchsorted(starts["lowest_alpha"])
    starts["last_alpha"], starts["beta_index"] = len(_ALPHAS) - 1, -1
    if "alpha" in fixed_values:
        nearest = _nearest(np.log(_ALPHAS), np.log(fixed_values["alpha"]))
        starts["first_alpha"] = starts["last_alpha"] = nearest
    if "beta" in fixed_values:
        starts["beta_index"] = _nearest(np.array(BETAS), fixed_values["beta"])


def _nearest(positions: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.abs(positions - values[:, None]).argmin(axis=1)


def maximize(
    sets: SortedDataSets,
    starts: np.ndarray,
    free: int,
    workspace: Workspace,
    host_workspace: Workspace,
    peaks_with: Mapping[str, np.ndarray] | None = None,
) -> np.ndarray:
    """Return the outcomes of the ascents (records `OUTCOME`) from `starts` (records `START`).

    `free` is the bit mask of the free parameters, with `LOC_IN_S1`. With fixed parameters, or an
    empty dict of them, the outcomes have the peaks of the profiles, too, computed in the same call:
    a transfer costs a fit alone as much as an evaluation.
    """
    if peaks_with is not None:
        set_choices(starts, peaks_with)
    tables, stream = constants(workspace), workspace.stream
    records = host_workspace.input("starts", starts.view(np.float64), reuse=True)
    outcomes = host_workspace.output((len(starts) * OUTCOME.itemsize // 8,), reuse="outcomes")
    if peaks_with is not None:
        second_starts.loops(workspace.device).find_peaks(
            sets.x, sets.weights, sets.ends, records, tables.profile, outcomes, stream
        )
    observed = sets.intervals
    if observed is None:
        none = host_workspace.output((0, 0), reuse="no intervals", flat=False)
        observed = Observations(sets.x, sets.weights, none, sets.ends, none)
    likelihood.loops(workspace.device).maximize(
        observed, records, free, tables.table, outcomes, stream
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
