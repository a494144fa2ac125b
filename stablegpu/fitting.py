"""Estimation of the parameters of a stable distribution from data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from hetero import validation
from hetero.devices import device_of
from hetero.distributed.engines import Engine
from hetero.distributed.worker_devices import Devices
from stablegpu._fit import arguments
from stablegpu._fit.batch import SetsToFit, fit_sets
from stablegpu._fit.datasets import LARGEST_SORTED_SET
from stablegpu._fit.fitted import FittedSets, keep_copy, single_fit
from stablegpu._fit.limits import FEWEST_OBSERVATIONS
from stablegpu._fit.observations.intervals import (
    observed_intervals,
    require_likelihood,
    require_observations,
    widened,
)
from stablegpu.results import FitResult, FitResults

LARGEST_KEPT = 1 << 21
"""Observations of several sets up to which the fits keep a copy, for intervals and plots of one of
them: 16 MiB of float64, which take some milliseconds to copy."""


class FitOptions(TypedDict, total=False):
    """Keyword arguments of `fit`."""

    method: str
    parameterization: str
    fixed: Mapping[str, Any] | None
    weights: Any
    nan_policy: str
    lower: Any
    upper: Any
    rounding: float | None
    truncation: float | None
    quantiles: Mapping[float, float] | None
    n: int | None
    progress: bool
    executor: Executor | None
    comm: Any
    device: Devices


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
def fit(
    data: Any = None, **options: Unpack[FitOptions]
) -> Any: ...  # the dimension is not in the type


def fit(
    data: Any = None,
    *,
    method: str = "ml",
    parameterization: str = "S1",
    fixed: Mapping[str, Any] | None = None,
    weights: Any = None,
    nan_policy: str = "raise",
    lower: Any = None,
    upper: Any = None,
    rounding: float | None = None,
    truncation: float | None = None,
    quantiles: Mapping[float, float] | None = None,
    n: int | None = None,
    progress: bool = False,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
    **others: Any,
) -> FitResult | FitResults:
    """Estimate alpha, beta, loc and scale from independent observations.

    Parameters
    ----------
    data : array_like of float, series, frame or mapping
        One dimension: a data set of at least 5 finite values. Two dimensions: each row is a data
        set. A list of sequences of different lengths: each is a data set. A frame of pandas, polars
        or pyarrow: each column is a data set, and so is each value of a dict; the result has their
        labels. Arrays on a GPU stay there. Or a `scipy.stats.CensoredData`.
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
    nan_policy : {"raise", "omit"}
        "omit" leaves NaN out, as in the first row of a frame's differences. With "raise" one set
        with NaN is an error, and the fits of several have the status "not finite".
    lower, upper : array_like of float, of the shapes that data may have, optional
        Ends of the intervals in which the observations lie, in place of data: infinite for censored
        observations, equal for exact ones; with `weights` as counts the bins of a histogram. Only
        with "ml". Intervals that share a point, such as data that are all censored on one side, are
        refused: they tell no scale.
    rounding : float > 0, optional
        The step to which data were rounded, for example 0.01: each stands for an interval of this
        width around it. Only with "ml".
    truncation : float, optional
        A known threshold: smaller observations were never recorded. Only with "ml". Of an interval
        that holds it, the part above counts.
    quantiles : dict or series of float by float, optional
        Quantiles by their probabilities, at least as many as free parameters, in place of data:
        {0.05: -1.9, 0.25: -0.7, ...}. They are fitted by generalized least squares with the
        asymptotic covariance of order statistics.
    n : int, optional
        Number of observations that `quantiles` come from; without it standard errors are NaN.
    progress : bool
        Show how far long computations on the CPU are; a GPU takes milliseconds.
    executor : concurrent.futures.Executor, optional
        Fits parts of many data sets in its workers, each of which takes a GPU of its own if there
        is one: `ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))`,
        `mpi4py.futures.MPIPoolExecutor`, or Dask's `Client(...).get_executor()`.
    comm : communicator of mpi4py, optional
        All its ranks call `fit` with the same data, share the sets, and get the same result.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        Several, such as ["cuda:0", "cuda:1"] or "cuda:all", fit side by side. With an executor or
        `comm`, "cpu" or "cuda": what each worker takes.

    Returns
    -------
    FitResult for one data set, FitResults for several.

    Raises
    ------
    TypeError : data are not real numbers, or are on a GPU that others should fit
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
    (`_fit/likelihood/second_starts/formulas.py`). For small alpha the likelihood has local maxima
    near many observations; the fit restarts from several around the densest region, and settles
    spikes at observations (`_fit/spikes.py`). More than 8192 observations are gathered in 4096 bins
    with two points each. With beta fixed at 1 or -1 the ascent starts, and stays, with all data in
    the support; for small alpha it takes the logarithm of the distance between the end of the
    support and the nearest datum for the location.

    The likelihood of observations in intervals is a product of probabilities, which are integrals
    of the density (`_fit/likelihood/interval_formulas.py`). They are sorted, and equal ones merged,
    on the host, also for fits on a GPU. This likelihood is bounded.

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
    if others:
        arguments.refuse_unknown(others)
    arguments.check_settings(method, parameterization, nan_policy)
    if quantiles is not None:
        from stablegpu._fit.observations.given_quantiles import fit_quantiles

        _leave_out("quantiles", data=data, lower=lower, upper=upper, weights=weights,
                   rounding=rounding, truncation=truncation,
                   method=None if method == "ml" else method)  # fmt: skip
        of_quantiles: FitResult = fit_quantiles(quantiles, n, parameterization, fixed, device, fit)
        return of_quantiles
    if n is not None:
        raise TypeError("n belongs to quantiles; the number of observations of data is known")
    has_ends = data is None or type(data).__name__ == "CensoredData"
    has_ends = has_ends or lower is not None or upper is not None
    engine = Engine.create(device, executor, comm)
    own_device = engine.kind if engine.is_elsewhere else engine.local
    with engine.raised_by_all():
        if not (has_ends or rounding is not None or truncation is not None):
            sets, intervals = arguments.as_sets("data", data), None
        else:
            sets, intervals = observed_intervals(data, lower, upper, rounding, truncation)
            require_likelihood(method)
        weights = arguments.check_weights(weights, sets.counts, method, sets.labels)
        if nan_policy == "omit":
            if intervals is not None:
                intervals = intervals.select(~np.isnan(sets.data))
            sets, weights = arguments.omit_nan("data", sets, weights)
        if intervals is not None:
            require_observations(sets.counts, weights)
        flat, counts, single, labels = sets
        fixed_values = arguments.check_fixed(fixed, parameterization, method, counts.size)
        if device_of(flat) is None and device_of(weights) is None:
            flat = flat.reshape(-1)
            if weights is not None and intervals is None:
                flat, weights, counts = arguments.select_weighted(flat, weights.reshape(-1), counts)
    stops = np.cumsum(counts)
    to_fit = SetsToFit(
        *(flat, weights, stops - counts, stops, method, parameterization, fixed_values, intervals)
    )
    fits = fit_sets(to_fit, engine, progress)
    if labels is not None:
        fits = dataclasses.replace(fits, labels=labels)
    if not single:
        return _with_data(fits, to_fit)
    result = single_fit(fits, FitResult, own_device)
    observed = {"data": keep_copy(flat), "weights": keep_copy(weights), "intervals": intervals}
    # Without the ascent's log-likelihood, in place of which comes that of the exact density.
    return dataclasses.replace(result, **observed)


def _leave_out(chosen: str, **others: Any) -> None:
    """Raise TypeError if arguments are given that have no meaning beside the chosen one."""
    for name, value in others.items():
        if value is not None:
            raise TypeError(f"fit() takes {chosen} or {name}, not both")


def fit_windows(
    series: Any,
    window: int,
    *,
    step: int = 1,
    index: Any = None,
    method: str = "ml",
    parameterization: str = "S1",
    fixed: Mapping[str, Any] | None = None,
    nan_policy: str = "raise",
    rounding: float | None = None,
    progress: bool = False,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> FitResults:
    """Fit every window of a series: series[0:window], series[step:step + window], ...

    Parameters
    ----------
    series : array_like of float or series, one dimension, on the host or on a GPU
    window, step : int
        Number of observations of a window, 5 to 8192, and distance from the start of one to that of
        the next. Windows are not copied, unless the data were rounded.
    index : sequence, optional
        What each observation is labelled with, such as its date; by default the index of a pandas
        series. The result's `labels` are those of the last observation of each window.
    nan_policy : {"raise", "omit"}
        "omit" leaves NaN out before windows are formed, so that each has `window` observations;
        with "raise" the status of a window with NaN is "not finite".
    method, parameterization, fixed, rounding, progress, executor, comm, device : as for `fit`

    Returns
    -------
    FitResults with a fit for each of the (size - window) // step + 1 windows.
    """
    arguments.check_settings(method, parameterization, nan_policy)
    sets = arguments.as_sets("series", series)
    if not sets.single:
        raise ValueError("series must have one dimension; of a frame pass one column")
    size = int(sets.counts[0])
    index = arguments.series_index(series) if index is None else index
    if index is not None:
        validation.require_iterable("index", index, "labels")
        index = list(index)
        if len(index) != size:
            raise ValueError(f"index must have a label for each of {size} values, got {len(index)}")
    if nan_policy == "omit":
        everything = sets.data
        sets, _ = arguments.omit_nan("series", sets, None)
        if index is not None:
            index = [index[k] for k in np.flatnonzero(~np.isnan(everything))]
        size = int(sets.counts[0])
    intervals = None if rounding is None else widened("series", sets, rounding)
    if intervals is not None:
        require_likelihood(method)
    longest = min(size, LARGEST_SORTED_SET)
    window = validation.check_integer("window", window, FEWEST_OBSERVATIONS, longest)
    step = validation.check_integer("step", step, 1)
    starts = np.arange(0, size - window + 1, min(step, size))
    fixed_values = arguments.check_fixed(fixed, parameterization, method, starts.size)
    to_fit = SetsToFit(
        *(sets.data, None, starts, starts + window),
        *(method, parameterization, fixed_values, intervals),
    )
    fits = fit_sets(to_fit, Engine.create(device, executor, comm), progress)
    labels = None if index is None else tuple(index[k] for k in (to_fit.stops - 1).tolist())
    return _with_data(dataclasses.replace(fits, labels=labels), to_fit)


def _with_data(fits: FittedSets, sets: SetsToFit) -> FitResults:
    """Return results of several sets, with their data unless these are many."""
    values = {field.name: getattr(fits, field.name) for field in dataclasses.fields(fits)}
    if math.prod(sets.data.shape) <= LARGEST_KEPT:
        values |= {"data": keep_copy(sets.data), "weights": keep_copy(sets.weights)}
        values |= {"starts": sets.starts, "intervals": sets.intervals}
    return FitResults(**values)
