"""Fits of prepared data sets by each method: from first estimates to results."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from hetero.arrays import on_host
from hetero.jit import serial
from stablegpu._fit import datasets, set_loops
from stablegpu._fit.datasets import BatchFit, PreparedDataSets, make_starts
from stablegpu._fit.estimators.grid_search import search
from stablegpu._fit.estimators.koutrouvelis.estimate import improve_estimates
from stablegpu._fit.fitted import FittedSets
from stablegpu._fit.likelihood.second_starts import selection_loops
from stablegpu._fit.limits import ALPHA_RANGE, LARGEST_START_ALPHA
from stablegpu._fit.records import LOC_IN_S1, STATUSES, missing_outcomes
from stablegpu._fit.spikes import SpikeSearch
from stablegpu._parameters import PARAMETERS

_STAGES = ("start", "ascent", "results")

_STATUS_TEXTS = np.array(STATUSES)

_GRID_DIMENSIONS = {"grid": 4, "grid2": 2}

_LARGEST_START_BETA = 0.9  # ascents start away from |beta| = 1, where a step may end; not tuned


OVER_SPIKE, OVER_SPIKE_OF_TIES = 4.0 / 3.0, 2.0
"""Least alpha over the bound above which the likelihood is bounded, without equal data and with
them. At the bound itself a spike is as likely at any scale, and a little above it still more likely
than a distribution that fits: with a fifth of zeros among draws of alpha = 1.5 up to twice the
bound."""

_LEAST_ALPHA, _LARGEST_ALPHA = ALPHA_RANGE
_CONSTANT, _NOT_FINITE, _TOO_WIDE = map(STATUSES.index, ("constant", "not finite", "too wide"))


@serial
def examine_sets(
    estimates: np.ndarray, ties: np.ndarray, codes: np.ndarray, lowest: np.ndarray
) -> bool:
    """Write which sets cannot be fitted, and the least alpha of each; return if any cannot.

    `estimates` and `ties` are those of `PreparedDataSets`. `codes` is the index in STATUSES of the
    reason why a set cannot be fitted, or -1.
    """
    some_are_bad = False
    for s in range(codes.size):
        alpha, most_equal, total = estimates[s, 0], ties[s, 0], ties[s, 1]
        codes[s] = -1
        if alpha == np.inf:
            codes[s] = _NOT_FINITE
        elif alpha == -np.inf:
            codes[s] = _TOO_WIDE
        elif np.isnan(alpha) or most_equal >= 0.5 * total:
            codes[s] = _CONSTANT
        some_are_bad = some_are_bad or codes[s] >= 0
        # If the mode is on k equal ones of n data, the likelihood has no bound for alpha below
        # k/(n - k), as the scale goes to 0.
        share = most_equal / total
        least = (OVER_SPIKE_OF_TIES if most_equal > 1.0 else OVER_SPIKE) * share / (1.0 - share)
        if np.isnan(least):
            least = np.inf
        lowest[s] = min(max(least, _LEAST_ALPHA), _LARGEST_ALPHA)
    return some_are_bad


def fit_prepared(prepared: PreparedDataSets, batch: BatchFit, clock: list[float]) -> FittedSets:
    """Fit data sets from McCulloch's estimates; `clock` has the time of the first stage's start."""
    clock.append(time.perf_counter())
    count = len(prepared.estimates)
    bad, lowest = np.empty(count, np.int64), np.empty(count)
    some_are_bad = examine_sets(prepared.estimates, prepared.ties, bad, lowest)
    if batch.method != "ml" or "alpha" in batch.fixed_values:
        lowest[:] = ALPHA_RANGE[0]
    if some_are_bad:
        outcomes, units = _outcomes_of_good_sets(prepared, np.flatnonzero(bad < 0), lowest, batch)
    else:
        outcomes, units = _find_outcomes(prepared, lowest, batch)
    clock.append(time.perf_counter())
    parameters, slope = set_loops.parameters_of(outcomes, units, batch.parameterization)
    if batch.method == "ml":
        covariance, errors = set_loops.covariances_of(outcomes, slope, parameters, batch.free)
    else:
        covariance, errors = np.full((count, 4, 4), np.nan), np.full((count, 4), np.nan)
    parameters[parameters[:, 0] == ALPHA_RANGE[1], 1] = 0.0  # normal: beta has no meaning
    for name, values in batch.fixed_values.items():
        parameters[:, PARAMETERS.index(name)] = values
    codes = outcomes["status"]
    if some_are_bad:
        for array in (parameters, covariance, errors):
            array[bad >= 0] = np.nan
        codes = np.where(bad >= 0, bad, codes)
    clock.append(time.perf_counter())
    alpha, beta, loc, scale = parameters.T
    return FittedSets(
        alpha,
        beta,
        loc,
        scale,
        loglik=outcomes["loglik"],
        covariance=covariance,
        errors=errors,
        status=_STATUS_TEXTS[codes],
        evaluations=outcomes["evaluations"],
        size=prepared.unsorted.stops - prepared.unsorted.starts,
        at_boundary=set_loops.at_boundary(parameters, outcomes, lowest),
        ties=prepared.ties[:, 0],
        smallest_alpha=lowest,
        nobs=prepared.ties[:, 1],
        parameterization=batch.parameterization,
        method=batch.method,
        fixed=dict(batch.fixed_values),
        timings=dict(zip(_STAGES, np.diff(clock).tolist(), strict=True)),
    )


def _outcomes_of_good_sets(
    prepared: PreparedDataSets, good: np.ndarray, lowest: np.ndarray, batch: BatchFit
) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes and units if only the sets with the indices `good` can be fitted."""
    count = len(prepared.estimates)
    outcomes, units = missing_outcomes(count), np.ones((count, 2))
    if good.size:
        chosen = prepared.select(good, batch.host_workspace)
        outcomes[good], units[good] = _find_outcomes(chosen, lowest[good], batch.select(good))
    return outcomes, units


def _find_outcomes(
    prepared: PreparedDataSets, lowest: np.ndarray, batch: BatchFit
) -> tuple[np.ndarray, np.ndarray]:
    """Return the outcomes at the estimates, and the units of location and scale.

    Both have a row for each set that can be fitted. `lowest` is the least alpha of each set.
    """
    workspaces = batch.workspace, batch.host_workspace
    estimates = prepared.estimates
    if batch.method == "koutrouvelis":
        estimates = improve_estimates(prepared.unsorted, estimates, *workspaces)
    units = np.ascontiguousarray(estimates[:, 2:])
    if batch.method in _GRID_DIMENSIONS:
        dimensions = _GRID_DIMENSIONS[batch.method]
        return search(prepared.sorted, estimates, units, dimensions, *workspaces), units
    if batch.method == "ml":
        return _maximize_likelihoods(prepared, units, lowest, batch), units
    outcomes = missing_outcomes(len(estimates))
    outcomes["parameters"] = 0.0
    outcomes["parameters"][:, :2] = estimates[:, :2]
    return outcomes, units


def _maximize_likelihoods(
    prepared: PreparedDataSets, units: np.ndarray, lowest: np.ndarray, batch: BatchFit
) -> np.ndarray:
    """Return the outcomes at the largest likelihoods, after ascents from one start or several."""
    workspaces = batch.workspace, batch.host_workspace
    initial, in_s1 = _initial_points(prepared.estimates, units, batch)
    starts = make_starts(initial, units, lowest)
    free = batch.free | (LOC_IN_S1 if in_s1 else 0)
    if "loc" in batch.fixed_values or "scale" in batch.fixed_values:
        return datasets.maximize(prepared.sorted, starts, free, *workspaces)
    peaks_with = batch.fixed_values
    outcomes = datasets.maximize(prepared.sorted, starts, free, *workspaces, peaks_with=peaks_with)
    selected = selection_loops.select_starts(outcomes, prepared.ties, units)
    spikes = SpikeSearch(prepared.sorted, prepared.ties[:, 1], units, lowest, batch)
    spikes.collect(np.arange(len(units)), outcomes)
    further = _FurtherAscents(outcomes, prepared, units, lowest, batch, spikes)
    if selected is not None:
        further.from_peaks(*selected)
    if prepared.sorted.intervals is not None:
        further.from_other_skewness()
    further.from_skewed_starts()
    further.from_unfinished_ends()
    further.from_spikes()
    return outcomes


_OTHER_STARTS = ((1.2, -0.7), (1.2, 0.7), (1.7, -0.7), (1.7, 0.7), (0.8, -0.5), (0.8, 0.5))
"""alpha and beta from which truncated data are fitted, too."""

_SKEWED_STARTS = ((0.6, -0.95), (0.9, -0.95), (0.9, 0.95), (1.2, -0.95))
"""alpha and beta from which few data are fitted, too; with the other sign if a fit has beta < 0."""

_FEW, _SEVERAL, _LARGEST_ENDED_ALPHA = 40, 100, 1.6
"""Observations up to which fits start from all of these, and from the alpha of the first ascent
with |beta| = 0.95; and alpha up to which fits that end at |beta| = 1 start there. Samples that are
larger have hardly any other maxima."""

_MOST_REPEATS = 3
"""Repeats of an ascent that has stopped early."""


class _FurtherAscents(NamedTuple):
    """Ascents of some sets from other points, of which the better `outcomes` are kept."""

    outcomes: np.ndarray
    prepared: PreparedDataSets
    units: np.ndarray
    lowest: np.ndarray
    batch: BatchFit
    spikes: SpikeSearch

    def from_peaks(self, which: np.ndarray, peaks: np.ndarray) -> None:
        """Climb `peaks` of rough profiles of the sets `which`, which first ascents missed."""
        from stablegpu._fit.likelihood.optimizer.state import TO_S0, TO_S1

        fixed_values, units = self.batch.fixed_values, self.units[which]
        alpha, beta = np.minimum(peaks["alpha"], LARGEST_START_ALPHA), peaks["beta"]
        if "alpha" in fixed_values:
            alpha = fixed_values["alpha"][which]
        if "beta" in fixed_values:
            beta = fixed_values["beta"][which]
        shift = peaks["beta"] * peaks["scale"] * np.tan(0.5 * np.pi * peaks["alpha"])
        log_scale = np.log(peaks["scale"] / units[:, 1])
        # A location in S1 is the first to be tried; in place of one in S0 a small alpha first tries
        # the data that lie closest.
        in_s1 = (alpha < TO_S0) | ("alpha" not in fixed_values)
        are_many = self.prepared.ties[which, 1] >= selection_loops.MANY
        in_s0 = ~in_s1 | ((alpha < TO_S1) & are_many)
        for has_s1, chosen in ((True, in_s1), (False, in_s0)):
            loc = (peaks["loc"] - shift * has_s1 - units[:, 0]) / units[:, 1]
            parameters = np.stack([alpha, beta, loc, log_scale], axis=1)
            self._climb(which[chosen], parameters[chosen], has_s1)

    def from_other_skewness(self) -> None:
        """Climb from other points, and once more from the best one, where data are truncated.

        The quantiles of what is left say little about alpha and beta of the whole.
        """
        ranges = on_host(self.prepared.sorted.intervals.ranges).reshape(len(self.units), -1)
        which = np.flatnonzero(ranges[:, -1] > 0.0)
        parameters = np.zeros((which.size, 4))
        for start in _OTHER_STARTS:
            parameters[:, :2] = start
            parameters[:, 0] = np.maximum(parameters[:, 0], self.lowest[which])
            self._climb(which, parameters, False)
        self._climb(which, self.outcomes["parameters"][which], False)

    def from_skewed_starts(self) -> None:
        """Climb from large skewness in small samples, and where an ascent ended at beta = 1 or -1.

        Data that may lie in a light tail or not give one maximum at the end and one beside it.
        """
        if "beta" in self.batch.fixed_values:
            return
        alpha, beta = self.outcomes["parameters"][:, :2].T.copy()
        size = self.prepared.ties[:, 1]
        again = (np.abs(beta) > 1.0 - set_loops.SNAP) & (alpha < _LARGEST_ENDED_ALPHA)
        again |= size <= _SEVERAL
        if not again.any():
            return
        first = np.clip(alpha, self.lowest, LARGEST_START_ALPHA)
        self._climb_from_skewness(np.flatnonzero(again), first, np.copysign(0.95, beta))
        few = np.flatnonzero(size <= _FEW)
        for start_alpha, start_beta in _SKEWED_STARTS:
            first = np.maximum(start_alpha, self.lowest)
            self._climb_from_skewness(few, first, start_beta * np.copysign(1.0, beta))

    def _climb_from_skewness(self, which: np.ndarray, alpha: np.ndarray, beta: np.ndarray) -> None:
        """Climb from alpha and beta, given for all sets, with McCulloch's location and scale."""
        parameters = np.zeros((alpha.size, 4))
        parameters[:, 0], parameters[:, 1] = alpha, beta
        self._climb(which, parameters[which], False)

    def from_unfinished_ends(self) -> None:
        """Climb again where an ascent has stopped although its gradient promises a gain.

        Next to beta = 1 and -1 scores may be so large that an ascent no longer moves beta.
        """
        unfinished = np.empty(len(self.units), bool)
        for _ in range(_MOST_REPEATS):
            if not set_loops.find_unfinished(self.outcomes, self.batch.free, unfinished):
                break
            which = np.flatnonzero(unfinished)
            ends, in_s1 = self.outcomes["parameters"][which], self.outcomes["in_s1"][which]
            for has_s1 in (False, True):
                chosen = in_s1 == has_s1
                self._climb(which[chosen], ends[chosen], has_s1)
            chosen = ~in_s1 & (np.abs(ends[:, 1]) > _LARGEST_START_BETA)
            ends[:, 1] = np.sign(ends[:, 1])
            self._climb(which[chosen], ends[chosen], False)

    def from_spikes(self) -> None:
        """Settle narrow spikes, and climb from other observations with wide ones."""
        self._climb(*self.spikes.settle(self.outcomes), True)

    def _climb(self, which: np.ndarray, parameters: np.ndarray, loc_in_s1: bool) -> None:
        """Climb from points of the sets `which`, with fixed parameters at their values."""
        if not which.size:
            return
        batch, parameters = self.batch, parameters.copy()
        for column, name in enumerate(("alpha", "beta")):
            if name in batch.fixed_values:
                parameters[:, column] = batch.fixed_values[name][which]
        new_outcomes = datasets.maximize(
            datasets.select(self.prepared.sorted, which, batch.host_workspace),
            make_starts(parameters, self.units[which], self.lowest[which]),
            batch.free | (LOC_IN_S1 if loc_in_s1 else 0),
            *(batch.workspace, batch.host_workspace),
        )
        self.spikes.collect(which, new_outcomes)
        set_loops.keep_better(self.outcomes, which, new_outcomes)


def _initial_points(
    estimates: np.ndarray, units: np.ndarray, batch: BatchFit
) -> tuple[np.ndarray, bool]:
    """Return the initial points of the ascents, in units, and whether their location is S1's."""
    fixed_values = batch.fixed_values
    initial, in_s1 = np.zeros((len(estimates), 4)), False
    initial[:, 0] = np.minimum(np.maximum(estimates[:, 0], ALPHA_RANGE[0]), LARGEST_START_ALPHA)
    most = _LARGEST_START_BETA
    initial[:, 1] = np.minimum(np.maximum(estimates[:, 1], -most), most)
    for column, name in enumerate(("alpha", "beta")):
        if name in fixed_values:
            initial[:, column] = fixed_values[name]
    if "scale" in fixed_values:
        initial[:, 3] = np.log(fixed_values["scale"] / units[:, 1])
    if "loc" in fixed_values:
        initial[:, 2] = (fixed_values["loc"] - units[:, 0]) / units[:, 1]
        may_be_skewed = bool(np.any(fixed_values.get("beta", 1.0)))
        in_s1 = batch.parameterization == "S1" and may_be_skewed
    return initial, in_s1
