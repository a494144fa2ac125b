"""Estimation of the parameters of a stable distribution from data."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from hetero import Device, region, validation
from hetero.arrays import Workspace
from hetero.devices import device_of, resolve
from hetero.display.progress_bar import loop_progress
from hetero.distributed.engines import Engine
from hetero.distributed.worker_devices import Devices
from stablegpu._fit import datasets
from stablegpu._fit.arguments import (
    as_sets,
    check_fixed,
    check_weights,
    omit_nan,
    select_weighted,
)
from stablegpu._fit.fitted import FittedSets
from stablegpu._fit.frames import series_index
from stablegpu._fit.intervals import intervals_of
from stablegpu._fit.limits import FEWEST_OBSERVATIONS
from stablegpu._fit.outcomes import REMEDIES
from stablegpu._fit.quantile_fit import fit_by_quantiles
from stablegpu._fit.samples import ArraySample
from stablegpu._fit.sharing import SetsToFit, fit_by_engine, fit_on_device
from stablegpu._parameters import PARAMETERIZATIONS
from stablegpu.batch_results import FitResults
from stablegpu.fit_results import FitResult

LOGGER = logging.getLogger(__name__)

METHODS = ("ml", "mcculloch", "koutrouvelis", "grid", "grid2")
NAN_POLICIES = ("raise", "omit")

LARGEST_KEPT = 1 << 21
"""Observations of several sets up to which the fits keep a copy, for intervals and plots of one of
them: 16 MiB of float64, which take some milliseconds to copy."""

BREAK_EVEN = {"ml": 1000, "mcculloch": 200_000, "koutrouvelis": 5000, "grid": 100, "grid2": 100}
"""Observations from which data in host memory are moved to a GPU."""


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
        with "ml".
    rounding : float > 0, optional
        The step to which data were rounded, for example 0.01: each stands for an interval of this
        width around it. Only with "ml".
    truncation : float, optional
        A known threshold: smaller observations were never recorded. Only with "ml".
    quantiles : dict of float by float, optional
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
    (`_fit/second_starts/formulas.py`). For small alpha the likelihood has local maxima near many
    observations; the fit restarts from several of them around the densest region. More than 8192
    observations are gathered in 4096 bins with two points each. With beta fixed at 1 or -1 the
    ascent starts, and stays, with all data in the support; for small alpha it takes the logarithm
    of the distance between the end of the support and the nearest datum for the location.

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
    _refuse_names_of_scipy(others)
    validation.check_choice("method", method, METHODS)
    validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS)
    validation.check_choice("nan_policy", nan_policy, NAN_POLICIES)
    if quantiles is not None:
        from stablegpu._fit.given_quantiles import fit_quantiles

        _leave_out("quantiles", data=data, lower=lower, upper=upper, weights=weights,
                   rounding=rounding, truncation=truncation)  # fmt: skip
        return FitResult.of(fit_quantiles(quantiles, n, parameterization, fixed, device, fit))
    if n is not None:
        raise TypeError("n belongs to quantiles; the number of observations of data is known")
    engine = Engine.create(device, executor, comm)
    with engine.raised_by_all():
        sets, intervals = intervals_of(data, lower, upper, rounding, truncation)
        if intervals is not None and method != "ml":
            raise ValueError(
                f"lower, upper, rounding and truncation need method='ml', got method={method!r}"
            )
        weight_source = check_weights(weights, sets.counts, method, sets.labels)
        if nan_policy == "omit":
            if intervals is not None:
                intervals = intervals.select(~np.isnan(sets.data))
            sets, weight_source = omit_nan("data", sets, weight_source)
        flat, counts, single, labels = sets
        fixed_values = check_fixed(fixed, parameterization, method, counts.size)
        on_host = device_of(flat) is None and device_of(weight_source) is None
        _require_on_host(on_host, engine)
        if weight_source is not None and on_host and intervals is None:
            flat, weight_source, counts = select_weighted(
                flat.reshape(-1), weight_source.reshape(-1), counts
            )
        target = _resolve(engine, method, int(counts.sum()), flat, weight_source)
    own_device = engine.kind if engine.is_elsewhere else engine.local
    title = "fit" if single else f"{counts.size} fits"
    _log_fits(len(counts), sum(counts), method, engine, target)
    if single and method == "mcculloch" and counts[0] > datasets.LARGEST_SORTED_SET:
        with target.active(), region("stable fit"):
            workspace = Workspace(target, flat)
            x = workspace.input("data", flat)
            sample = ArraySample(x, workspace.output((0,)), workspace)
            result = fit_by_quantiles(sample, parameterization)
        result = dataclasses.replace(
            result, label=labels and labels[0], device=own_device, data=_copy(flat)
        )
        return FitResult.of(result)
    if on_host:
        flat = flat.reshape(-1)
    stops = np.cumsum(counts)
    to_fit = SetsToFit(
        *(flat, weight_source, stops - counts, stops, method, parameterization, fixed_values),
        intervals,
    )
    results = _fit_sets(to_fit, engine, target, title, progress)
    if not single:
        return _with_data(results, to_fit, labels)
    if labels is not None:
        results = dataclasses.replace(results, labels=labels)
    return _single_result(results, to_fit, own_device)


def _leave_out(chosen: str, **others: Any) -> None:
    """Raise TypeError if arguments are given that have no meaning beside the chosen one."""
    for name, value in others.items():
        if value is not None:
            raise TypeError(f"fit() takes {chosen} or {name}, not both")


def _refuse_names_of_scipy(others: Mapping[str, Any]) -> None:
    """Raise TypeError for arguments that `fit` does not have, with what SciPy's names are here."""
    for name in others:
        meant = _SCIPY_NAMES.get(name)
        remedy = f"; use fixed={{'{meant}': ...}}" if meant else ""
        raise TypeError(f"fit() got an unexpected keyword argument {name!r}{remedy}")


_SCIPY_NAMES = {
    **{"floc": "loc", "fscale": "scale", "fix_loc": "loc", "fix_scale": "scale"},
    **{"f0": "alpha", "fa": "alpha", "falpha": "alpha", "fix_alpha": "alpha"},
    **{"f1": "beta", "fb": "beta", "fbeta": "beta", "fix_beta": "beta"},
}
"""Parameters by the arguments that fix them in SciPy."""


def _require_on_host(is_on_host: bool, engine: Engine) -> None:
    """Raise TypeError for data on a GPU that others than that GPU should fit."""
    if not is_on_host and not engine.is_single:
        raise TypeError(
            "data on a GPU are fitted there: pass arrays in host memory with several devices, an "
            "executor or comm, or leave these out"
        )


def _resolve(engine: Engine, method: str, work: int, *arrays: Any) -> Device:
    """Return the device of this process that fits; that of arrays, if they are on a GPU."""
    return resolve(engine.local, *arrays, work=work, break_even=BREAK_EVEN[method])


def _fit_sets(
    sets: SetsToFit, engine: Engine, target: Device, title: str, show_progress: bool
) -> FittedSets:
    """Fit data sets by an engine, or on the device `target`."""
    if not engine.is_single:
        return fit_by_engine(sets, engine, show_progress, title)
    with loop_progress(title, enabled=show_progress):
        return fit_on_device(sets, target)


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
        the next. Windows are not copied.
    index : sequence, optional
        What each observation is labelled with, such as its date; by default the index of a pandas
        series. The result's `labels` are those of the last observation of each window.
    nan_policy : {"raise", "omit"}
        "omit" leaves NaN out before windows are formed, so that each has `window` observations;
        with "raise" the status of a window with NaN is "not finite".
    method, parameterization, fixed, progress, executor, comm, device : as for `fit`

    Returns
    -------
    FitResults with a fit for each of the (size - window) // step + 1 windows.
    """
    validation.check_choice("method", method, METHODS)
    validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS)
    validation.check_choice("nan_policy", nan_policy, NAN_POLICIES)
    sets = as_sets("series", series)
    if not sets.single:
        raise ValueError("series must have one dimension; of a frame pass one column")
    size = int(sets.counts[0])
    index = series_index(series) if index is None else index
    if index is not None:
        validation.require_iterable("index", index, "labels")
        index = list(index)
        if len(index) != size:
            raise ValueError(f"index must have a label for each of {size} values, got {len(index)}")
    if nan_policy == "omit":
        everything = sets.data
        sets, _ = omit_nan("series", sets, None)
        if index is not None:
            index = [index[k] for k in np.flatnonzero(~np.isnan(everything))]
        size = int(sets.counts[0])
    flat = sets.data
    longest = min(size, datasets.LARGEST_SORTED_SET)
    window = validation.check_integer("window", window, FEWEST_OBSERVATIONS, longest)
    step = validation.check_integer("step", step, 1)
    starts = np.arange(0, size - window + 1, min(step, size))
    fixed_values = check_fixed(fixed, parameterization, method, starts.size)
    work = starts.size * window
    engine = Engine.create(device, executor, comm)
    _require_on_host(device_of(flat) is None, engine)
    target = _resolve(engine, method, work, flat)
    _log_fits(starts.size, work, method, engine, target)
    to_fit = SetsToFit(flat, None, starts, starts + window, method, parameterization, fixed_values)
    results = _fit_sets(to_fit, engine, target, f"{starts.size} fits", progress)
    labels = None if index is None else tuple(index[k] for k in (starts + window - 1).tolist())
    return _with_data(results, to_fit, labels)


def _with_data(fits: FittedSets, sets: SetsToFit, labels: tuple[Any, ...] | None) -> FitResults:
    """Return fits of several sets with their labels, and with their data unless these are many."""
    results = dataclasses.replace(FitResults.of(fits), labels=labels)
    if math.prod(sets.data.shape) > LARGEST_KEPT:
        return results
    return dataclasses.replace(
        results,
        data=_copy(sets.data),
        weights=_copy(sets.weights),
        starts=sets.starts,
        intervals=sets.intervals,
    )


def _log_fits(sets: int, observations: int, method: str, engine: Engine, device: Device) -> None:
    """Tell Python's `logging` what is about to be fitted, and where."""
    where = device if engine.is_single else ", ".join(map(str, engine.devices)) or "workers"
    LOGGER.info("%d sets, %d observations in all, by %s, on %s", sets, observations, method, where)


def _single_result(fits: FittedSets, sets: SetsToFit, device: str | Device | None) -> FitResult:
    """Return the only one of the fits with its data; raise ValueError if they cannot be fitted."""
    status = str(fits.status[0])
    if status in REMEDIES:
        raise ValueError(REMEDIES[status])
    one = dataclasses.replace(
        fits.one(0, device),
        data=_copy(sets.data),
        weights=_copy(sets.weights),
        intervals=sets.intervals,
    )
    return FitResult.of(one)


def _copy(values: Any) -> Any:
    """Copy an array in host memory: the caller may change it before the result reads it."""
    return values if values is None or device_of(values) else values.copy()
