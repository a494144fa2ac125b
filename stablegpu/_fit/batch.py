"""Fits of many data sets at once: from data on a device to results."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hetero.arrays import Array
from stablegpu._fit import datasets
from stablegpu._fit.arguments import BatchFit
from stablegpu._fit.ascents import find_outcomes
from stablegpu._fit.datasets import PreparedDataSets, UnsortedDataSets
from stablegpu._fit.estimates import at_boundary, covariances_of, parameters_of
from stablegpu._fit.fitted import FittedSets
from stablegpu._fit.intervals import Intervals, gather
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._fit.mcculloch import estimate as mcculloch_estimate
from stablegpu._fit.outcomes import STATUSES
from stablegpu._fit.records import missing_outcomes
from stablegpu._fit.samples import ArraySample, Sample
from stablegpu._parameters import PARAMETERS

_STAGES = ("start", "ascent", "results")

_STATUS_TEXTS = np.array(STATUSES)


def fit_batch(
    x: Array, weights: Array, starts: np.ndarray, stops: np.ndarray, batch: BatchFit
) -> FittedSets:
    """Fit the data sets x[starts[s]:stops[s]]; x and weights are on the device."""
    if (stops - starts).max() > datasets.LARGEST_SORTED_SET:
        return _fit_one_by_one(x, weights, starts, stops, batch)
    clock = [time.perf_counter()]
    unsorted = UnsortedDataSets(x, starts, stops)
    return fit_prepared(_prepare(unsorted, weights, batch), batch, clock)


def fit_intervals(
    intervals: Intervals,
    weights: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    batch: BatchFit,
) -> FittedSets:
    """Fit data sets whose observations lie in intervals; these and the weights are on the host."""
    clock = [time.perf_counter()]
    gathered, samples, ties = gather(intervals, weights, starts, stops, batch.host_workspace)
    x = batch.host_workspace.input("data", samples)
    rows = np.arange(len(samples)) * samples.shape[1]
    unsorted = UnsortedDataSets(x, rows, rows + samples.shape[1])
    none = batch.host_workspace.output((0,), reuse="none")
    # The samples are arrays of the host, whatever kind the data are.
    prepared = _prepare(unsorted, none, replace(batch, workspace=batch.host_workspace))
    prepared = prepared._replace(
        sorted=prepared.sorted._replace(intervals=gathered),
        ties=ties,
    )
    fits = fit_prepared(prepared, batch, clock)
    return replace(fits, size=stops - starts, ties=np.maximum(fits.ties, 1.0))


def _fit_one_by_one(
    x: Array, weights: Array, starts: np.ndarray, stops: np.ndarray, batch: BatchFit
) -> FittedSets:
    """Fit data sets one by one if some are too large for the batched kernel."""
    results = []
    for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        clock = [time.perf_counter()]
        unsorted = UnsortedDataSets(x[start:stop], np.zeros(1, int), np.array([stop - start]))
        own_weights = weights[start:stop] if weights.size else weights
        prepare = _gather if stop - start > datasets.LARGEST_SORTED_SET else _prepare
        prepared = prepare(unsorted, own_weights, batch)
        results.append(fit_prepared(prepared, batch.select(slice(k, k + 1)), clock))
    return join_results(results)


def _prepare(unsorted: UnsortedDataSets, weights: Array, batch: BatchFit) -> PreparedDataSets:
    """Sort data sets, and estimate their parameters by McCulloch's quantiles."""
    workspaces = batch.workspace, batch.host_workspace
    sets, table = datasets.sort_sets(unsorted, weights, *workspaces)
    estimates, ties = datasets.estimate(sets, table, *workspaces)
    return PreparedDataSets(sets, unsorted, estimates, ties)


def _gather(unsorted: UnsortedDataSets, weights: Array, batch: BatchFit) -> PreparedDataSets:
    """Gather one large set in bins, and estimate its parameters by McCulloch's quantiles."""
    return gather_sample(ArraySample(unsorted.x, weights, batch.workspace), unsorted, batch)


def gather_sample(sample: Sample, unsorted: UnsortedDataSets, batch: BatchFit) -> PreparedDataSets:
    """Gather a sample in bins, and estimate its parameters by McCulloch's quantiles."""
    from stablegpu._fit.mcculloch.formulas import ESTIMATE_SIZE

    quantiles, equal = mcculloch_estimate.quantiles(sample)
    estimates, ends = np.array([mcculloch_estimate.start(quantiles)]), (quantiles[0], quantiles[-1])
    ties = np.array([[equal, float(sample.size)]])
    sets = None
    spread = quantiles[4] - quantiles[2]
    if sample.is_weighted and np.isnan(estimates).any():  # those of large weight may vary
        spread = ends[1] - ends[0]
    if spread > 0.0 and not np.isinf(estimates).any():
        width = datasets.bin_width(spread, ends)
        bins, ties = datasets.bin_set(sample, quantiles[3], width, ends, batch.host_workspace)
        if sample.is_weighted:
            table = batch.host_workspace.input("estimates", np.zeros((1, ESTIMATE_SIZE))).reshape(
                1, ESTIMATE_SIZE
            )
            estimates, _ = datasets.estimate(bins, table, batch.workspace, batch.host_workspace)
        # Without an estimate there is nothing to fit, and the estimate says why.
        if not sample.is_weighted or np.isfinite(estimates).all():
            sets = bins
    return PreparedDataSets(sets, unsorted, estimates, ties)


def fit_prepared(prepared: PreparedDataSets, batch: BatchFit, clock: list[float]) -> FittedSets:
    """Fit data sets from McCulloch's estimates; `clock` has the time of the first stage's start."""
    from stablegpu._fit.set_loops import examine_sets

    clock.append(time.perf_counter())
    count = len(prepared.estimates)
    bad, lowest = np.empty(count, np.int64), np.empty(count)
    some_are_bad = examine_sets(prepared.estimates, prepared.ties, bad, lowest)
    if batch.method != "ml" or "alpha" in batch.fixed_values:
        lowest[:] = ALPHA_RANGE[0]
    if some_are_bad:
        outcomes, units = _outcomes_of_good_sets(prepared, np.flatnonzero(bad < 0), lowest, batch)
    else:
        outcomes, units = find_outcomes(prepared, lowest, batch)
    clock.append(time.perf_counter())
    parameters, slope = parameters_of(outcomes, units, batch.parameterization)
    if batch.method == "ml":
        covariance, errors = covariances_of(outcomes, slope, parameters, batch.free)
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
        at_boundary=at_boundary(parameters, outcomes, lowest),
        ties=prepared.ties[:, 0],
        smallest_alpha=lowest,
        nobs=prepared.ties[:, 1],
        parameterization=batch.parameterization,
        method=batch.method,
        fixed=dict(batch.fixed_values),
        timings={
            stage: end - start
            for stage, (start, end) in zip(_STAGES, itertools.pairwise(clock), strict=True)
        },
    )


def _outcomes_of_good_sets(
    prepared: PreparedDataSets, good: np.ndarray, lowest: np.ndarray, batch: BatchFit
) -> tuple[np.ndarray, np.ndarray]:
    """Return what `find_outcomes` does if only the sets with the indices `good` can be fitted."""
    count = len(prepared.estimates)
    outcomes, units = missing_outcomes(count), np.ones((count, 2))
    if good.size:
        chosen = prepared.select(good, batch.host_workspace)
        outcomes[good], units[good] = find_outcomes(chosen, lowest[good], batch.select(good))
    return outcomes, units


def join_results(results: Sequence[FittedSets]) -> FittedSets:
    """Join fits of one kind as if they came from one call."""
    if len(results) == 1:
        return results[0]
    first = results[0]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(r, name) for r in results])
        for name in FittedSets.__dataclass_fields__
        if name not in _COMMON_FIELDS
    }
    return FittedSets(
        **arrays,
        parameterization=first.parameterization,
        method=first.method,
        fixed={name: np.concatenate([r.fixed[name] for r in results]) for name in first.fixed},
        timings={stage: sum(r.timings[stage] for r in results) for stage in first.timings},
    )


_COMMON_FIELDS = ("parameterization", "method", "fixed", "timings",
                  "labels", "data", "weights", "starts", "intervals")  # fmt: skip
