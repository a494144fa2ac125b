"""Estimation of the parameters of a stable distribution from data."""

from __future__ import annotations

import dataclasses
import logging
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from hetero import Device, region, validation
from hetero.arrays import Workspace
from hetero.devices import device_of, resolve
from hetero.display.progress_bar import loop_progress
from hetero.frames import series_index
from stablegpu._fit import datasets
from stablegpu._fit.arguments import (
    BatchFit,
    as_sets,
    check_fixed,
    check_weights,
    select_weighted,
)
from stablegpu._fit.batch import fit_batch
from stablegpu._fit.estimates import at_boundary
from stablegpu._fit.limits import FEWEST_OBSERVATIONS
from stablegpu._fit.mcculloch import estimate as mcculloch_estimate
from stablegpu._fit.outcomes import REMEDIES, outcome_message
from stablegpu._parameters import PARAMETERIZATIONS, Parameters
from stablegpu.batch_results import FitResults
from stablegpu.fit_results import FitResult

LOGGER = logging.getLogger(__name__)

METHODS = ("ml", "mcculloch", "koutrouvelis", "grid", "grid2")

BREAK_EVEN = {"ml": 1000, "mcculloch": 200_000, "koutrouvelis": 5000, "grid": 100, "grid2": 100}
"""Observations from which data in host memory are moved to a GPU."""


class FitOptions(TypedDict, total=False):
    """Keyword arguments of `fit`."""

    method: str
    parameterization: str
    fixed: Mapping[str, Any] | None
    weights: Any
    progress: bool
    device: str | Device | None


@overload
def fit(data: Mapping[Any, Any], **options: Unpack[FitOptions]) -> FitResults: ...
@overload
def fit(
    data: Sequence[float] | np.ndarray[tuple[int], Any], **options: Unpack[FitOptions]
) -> FitResult: ...
@overload
def fit(
    data: Sequence[Sequence[float]] | Sequence[np.ndarray] | np.ndarray[tuple[int, int], Any],
    **options: Unpack[FitOptions],
) -> FitResults: ...
@overload
def fit(data: Any, **options: Unpack[FitOptions]) -> Any: ...  # the dimension is not in the type


def fit(
    data: Any,
    *,
    method: str = "ml",
    parameterization: str = "S1",
    fixed: Mapping[str, Any] | None = None,
    weights: Any = None,
    progress: bool = False,
    device: str | Device | None = None,
) -> FitResult | FitResults:
    """Estimate alpha, beta, loc and scale from independent observations.

    Parameters
    ----------
    data : array_like of float, series, frame or mapping
        One dimension: a data set of at least 5 finite values. Two dimensions: each row is a data
        set. A list of sequences of different lengths: each is a data set. A frame of pandas, polars
        or pyarrow: each column is a data set, and so is each value of a dict; the result has their
        labels. Arrays on a GPU stay there.
    method : {"ml", "mcculloch", "koutrouvelis", "grid", "grid2"}
        "ml": maximum likelihood for alpha in [0.1, 2]; the lower bound is larger if many data are
        equal (see Notes). "mcculloch": five quantiles (McCulloch 1986), consistent and fast, for
        alpha in [0.1, 2]. "koutrouvelis": weighted regression on the empirical characteristic
        function (Koutrouvelis 1980), nearly as precise as "ml" for alpha >= 1, without standard
        errors. "grid" and "grid2": a search for the largest likelihood by a contracting grid
        (Julian-Moreno et al. 2016, section 3.5) in four dimensions, or in alpha and beta with
        location and scale from the quantiles. Both are slower, give no standard errors, and serve
        for comparison.
    parameterization : {"S1", "S0"}
        Parameterization of the location, in the result and in `fixed`.
    fixed : dict, optional
        Fixed parameters by name, for example {"beta": 0.0}, with one value for all data sets or
        one for each; only with "ml".
    weights : array_like of float >= 0, of the shape of data, optional
        How often each observation counts; only with "ml". Observations of weight 0 are left out,
        also if they are NaN, and at least 5 values of a set must have a positive weight. Weights
        are not checked if the data or the weights are on a GPU.
    progress : bool
        Show how far long computations on the CPU are; a GPU takes milliseconds.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    FitResult for one data set, FitResults for several.

    Raises
    ------
    TypeError : data are not real numbers
    ValueError : too few data; for one data set also NaN or infinite data, or half of them equal (no
        scale). Among several sets, the results of bad ones are NaN, and `status` says why.
    hetero.DeviceUnavailableError : the device asked for cannot be used

    Notes
    -----
    Maximum likelihood is a quasi-Newton ascent from McCulloch's estimate. Sums over nodes give the
    likelihood and its exact gradient (`_fit/likelihood/half_line_formulas.py`), or a table does for
    |alpha - 1| < 0.1 (`_fit/likelihood/near_one_formulas.py`). Standard errors come from the
    observed information. On a
    GPU a block of threads fits a data set from start to end, or a team of blocks if there are few
    sets. A rough profile of the likelihood over alpha tells where else an ascent should start
    (`_fit/second_starts/formulas.py`). For small alpha the likelihood has local maxima near many
    observations; the fit restarts from several of them around the densest region. More than 8192
    observations are gathered in 4096 bins with two points each.

    Where k of n observations are equal, the likelihood has no bound for alpha < k/(n - k). So alpha
    is at least 0.1, (4/3)/(n - 1), and 2k/(n - k) if k > 1; the scale is at least 1e-8 of that of
    the quantiles. The result's `ties` is k, and `message` mentions the bound if it is above 0.1.

    Examples
    --------
    >>> from stablegpu import stable
    >>> result = fit(stable(1.7, 0.3).rvs(10_000, rng=1))
    >>> round(result.alpha, 1)
    1.7
    """
    validation.check_choice("method", method, METHODS)
    validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS)
    flat, counts, single, labels = as_sets("data", data)
    fixed_values = check_fixed(fixed, parameterization, method, counts.size)
    weight_source = check_weights(weights, counts, method, labels)
    if weight_source is not None and device_of(flat) is None and device_of(weight_source) is None:
        flat, weight_source, counts = select_weighted(
            flat.reshape(-1), weight_source.reshape(-1), counts
        )
    target = resolve(
        device, flat, weight_source, work=int(counts.sum()), break_even=BREAK_EVEN[method]
    )
    bar = loop_progress("fit" if single else f"{counts.size} fits", enabled=progress)
    _log_fits(len(counts), sum(counts), method, target)
    with target.active(), region("stable fit"), bar:
        workspace, host_workspace = Workspace(target, flat), Workspace(target)
        if single and method == "mcculloch" and counts[0] > datasets.LARGEST_SORTED_SET:
            result = _fit_by_quantiles(flat, parameterization, workspace, device)
            return dataclasses.replace(result, label=labels and labels[0])
        x = workspace.input("data", flat)
        if weight_source is None:
            flat_weights = host_workspace.output((0,))
        else:
            flat_weights = Workspace(target, weight_source).input("weights", weight_source)
        stops = np.cumsum(counts)
        batch = BatchFit(method, parameterization, fixed_values, workspace, host_workspace)
        results = fit_batch(x, flat_weights, stops - counts, stops, batch)
    results = dataclasses.replace(results, labels=labels)
    if not single:
        return results
    return _single_result(results, flat, weight_source, device)


def fit_windows(
    series: Any,
    window: int,
    *,
    step: int = 1,
    index: Any = None,
    method: str = "ml",
    parameterization: str = "S1",
    fixed: Mapping[str, Any] | None = None,
    progress: bool = False,
    device: str | Device | None = None,
) -> FitResults:
    """Fit every window of a series: series[0:window], series[step:step + window], ...

    Parameters
    ----------
    series : array_like of float or series, one dimension, on the host or on a GPU
    window, step : int
        Number of observations of a window, 5 to 8192, and distance from the start of one to that of
        the next. Windows are not copied.
    index : sequence, optional
        What each observation is labelled with, such as its date; by default the index of a pandas
        series. The result's `labels` are those of the last observation of each window.
    method, parameterization, fixed, progress, device : as for `fit`

    Returns
    -------
    FitResults with a fit for each of the (size - window) // step + 1 windows.
    """
    validation.check_choice("method", method, METHODS)
    validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS)
    flat, counts, single, _ = as_sets("series", series)
    if not single:
        raise ValueError("series must have one dimension; of a frame pass one column")
    size = int(counts[0])
    index = series_index(series) if index is None else index
    if index is not None:
        validation.require_iterable("index", index, "labels")
        index = list(index)
        if len(index) != size:
            raise ValueError(f"index must have a label for each of {size} values, got {len(index)}")
    window = validation.check_integer("window", window)
    step = validation.check_integer("step", step)
    longest = min(size, datasets.LARGEST_SORTED_SET)
    if not FEWEST_OBSERVATIONS <= window <= longest or step < 1:
        raise ValueError(
            f"window must lie in [{FEWEST_OBSERVATIONS}, {longest}] and step be at least 1, got "
            f"window={window} and step={step}"
        )
    starts = np.arange(0, size - window + 1, min(step, size))
    fixed_values = check_fixed(fixed, parameterization, method, starts.size)
    work = starts.size * window
    target = resolve(device, flat, work=work, break_even=BREAK_EVEN[method])
    bar = loop_progress(f"{starts.size} fits", enabled=progress)
    _log_fits(starts.size, work, method, target)
    with target.active(), region("stable fit"), bar:
        workspace, host_workspace = Workspace(target, flat), Workspace(target)
        x = workspace.input("series", flat)
        batch = BatchFit(method, parameterization, fixed_values, workspace, host_workspace)
        results = fit_batch(x, host_workspace.output((0,)), starts, starts + window, batch)
    labels = None if index is None else tuple(index[k] for k in (starts + window - 1).tolist())
    return dataclasses.replace(results, labels=labels)


def _log_fits(sets: int, observations: int, method: str, device: Device) -> None:
    """Tell Python's `logging` what is about to be fitted, and where."""
    LOGGER.info("%d sets, %d observations in all, by %s, on %s", sets, observations, method, device)


def _single_result(
    results: FitResults, data: Any, weights: Any, device: str | Device | None
) -> FitResult:
    """Return the only one of the fits with its data; raise ValueError if they cannot be fitted."""
    result = results[0]
    if result.status in REMEDIES:
        raise ValueError(REMEDIES[result.status])
    return dataclasses.replace(result, device=device, data=_copy(data), weights=_copy(weights))


def _copy(values: Any) -> Any:
    """Copy an array in host memory: the caller may change it before the result reads it."""
    return values if values is None or device_of(values) else values.copy()


def _fit_by_quantiles(
    data: Any, parameterization: str, workspace: Workspace, device: str | Device | None
) -> FitResult:
    """Fit a data set of any size by order statistics that are selected, not sorted."""
    size = math.prod(data.shape)
    start = time.perf_counter()
    quantiles, ties = mcculloch_estimate.quantiles(workspace, data, size)
    estimate = mcculloch_estimate.start(quantiles)
    alpha, beta, loc, scale = estimate
    if math.isnan(alpha) or (2.0 * ties >= size and math.isfinite(alpha)):
        raise ValueError(REMEDIES["constant"])
    if math.isinf(alpha):
        raise ValueError(REMEDIES["not finite" if alpha > 0.0 else "too wide"])
    result = Parameters.checked(alpha, beta, loc, scale, "S0").converted(parameterization)
    return FitResult(
        result.alpha,
        result.beta,
        result.loc,
        result.scale,
        parameterization=parameterization,
        method="mcculloch",
        size=size,
        message=outcome_message(at_boundary(np.array([[alpha, beta]]))[0]),
        device=device,
        ties=ties,
        data=_copy(data),
        nobs=float(size),
        timings={"start": time.perf_counter() - start},
    )
