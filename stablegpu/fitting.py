"""Estimation of the parameters of a stable law from data."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping

import numpy as np

from hetero import region, validation
from hetero.arrays import Workspace, as_real
from hetero.devices import device_of, resolve
from stablegpu._fit import datasets
from stablegpu._fit.batch import fit_batch
from stablegpu._fit.estimates import ALPHA_RANGE, at_boundary
from stablegpu._fit.mcculloch import estimate as mcculloch_estimate
from stablegpu._parameters import PARAMETERIZATIONS, Parameters
from stablegpu.fit_results import PARAMETERS, REMEDIES, FitResult, FitResults, message

METHODS = ("ml", "mcculloch", "koutrouvelis", "grid", "grid2")

BREAK_EVEN = {"ml": 1000, "mcculloch": 200_000, "koutrouvelis": 5000, "grid": 100, "grid2": 100}
"""Observations from which data in host memory are moved to a GPU."""

_LEAST = 5  # observations


def fit(
    data,
    *,
    method: str = "ml",
    parameterization: str = "S1",
    fixed=None,
    weights=None,
    device=None,
) -> FitResult | FitResults:
    """Estimate alpha, beta, loc and scale from independent observations.

    Parameters
    ----------
    data : array_like of float
        One dimension: a data set of at least 5 finite values. Two dimensions: a data set a row
        (of a pandas DataFrame too: `frame.T` fits its columns). A list of sequences of different
        lengths: a data set each. Arrays on a GPU stay there.
    method : {"ml", "mcculloch", "koutrouvelis", "grid", "grid2"}
        "ml": maximum likelihood, alpha in [0.1, 2], or from a larger bound on where many data are
        equal (see Notes). "mcculloch": five quantiles (McCulloch 1986), consistent and fast, alpha
        in [0.1, 2]. "koutrouvelis": regression on the empirical
        characteristic function (Koutrouvelis 1980), weighted; nearly as good as "ml" for
        alpha >= 1, without standard errors. "grid" and "grid2": the papers' search for the
        maximum, by a contracting grid in four dimensions, or in alpha and beta with location and
        scale from the quantiles; slower and without standard errors, for comparison.
    parameterization : {"S1", "S0"}
        Of the location in the result, and in `fixed`.
    fixed : dict, optional
        Fixed parameters by name, say {"beta": 0.0}, or one value per data set; only for "ml".
    weights : array_like of float >= 0, of the shape of data, optional
        How often an observation counts; with "ml". What counts 0 times is left out, NaN too, and
        at least 5 values of a set must have a positive weight. Weights are not validated if the
        data or the weights are on a GPU.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    FitResult for one data set, FitResults for several.

    Raises
    ------
    TypeError : data are no real numbers
    ValueError : too few data; for one data set also NaN or infinite data, or half of them equal (no
        scale). Of several sets those get NaN and their `status` says why.
    hetero.DeviceUnavailableError : the device asked for cannot be used

    Notes
    -----
    Maximum likelihood: quasi-Newton ascent with the exact gradient from McCulloch's estimate, by
    sums over nodes (`_fit/likelihood/half_line_formulas.py`), for |alpha - 1| < 0.1 by a table
    (`_fit/likelihood/near_one_formulas.py`); standard errors from the observed information. On a
    GPU a block of
    threads fits a data set from start to end, or a team of blocks where there are few sets. A rough
    profile of the likelihood over alpha tells where else an ascent should start
    (`_fit/second_starts/formulas.py`). For small alpha the likelihood has local maxima near many
    observations; the fit restarts from several of them around the densest region. More than 8192
    observations are gathered in 4096 bins with two points each.

    Where k of n observations are equal, the likelihood has no bound for alpha < k/(n - k). Alpha is
    at least 0.1, 4/3 of 1/(n - 1), and 2k/(n - k) if k > 1; the scale is at least 1e-8 of that of
    the quantiles. The result's `ties` is k, and its `message` says what was left out.

    Examples
    --------
    >>> from stablegpu import stable
    >>> result = fit(stable(1.7, 0.3).rvs(10_000, random_state=1))
    >>> round(result.alpha, 1)
    1.7
    """
    validation.check_choice("method", method, METHODS)
    validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS)
    flat, counts, single = _as_sets("data", data)
    fixed_values = _checked_fixed(fixed, parameterization, method, counts.size)
    weight_source = _as_weights(weights, counts, method)
    if weight_source is not None and device_of(flat) is None and device_of(weight_source) is None:
        flat, weight_source, counts = _that_count(
            flat.reshape(-1), weight_source.reshape(-1), counts
        )
    target_device = resolve(
        device, data, weights, work=int(counts.sum()), break_even=BREAK_EVEN[method]
    )
    with target_device.active(), region("stable fit"):
        work, host = Workspace(target_device, flat), Workspace(target_device)
        if single and method == "mcculloch" and counts[0] > datasets.LONGEST:
            return _mcculloch_fit(flat, parameterization, work, device)
        x = work.input("data", flat)
        w = (
            host.output((0,))
            if weight_source is None
            else Workspace(target_device, weight_source).input("weights", weight_source)
        )
        ends = np.cumsum(counts)
        results = fit_batch(
            x, w, ends - counts, ends, fixed_values, parameterization, method, work, host
        )
    if not single:
        return results
    return _one(results, flat, weight_source, device)


def fit_windows(series, window: int, *, step: int = 1, device=None, **options) -> FitResults:
    """`fit` of every window of a series: series[0:window], series[step:step + window], ...

    Parameters
    ----------
    series : array_like of float, one dimension, on the host or on a GPU
    window, step : int
        Observations of a window, 5 to 8192, and from the start of one to that of the next. Windows
        are not copied.
    options : `method`, `parameterization`, `fixed` of `fit`

    Returns
    -------
    FitResults with a fit for each of the (size - window) // step + 1 windows.
    """
    method = validation.check_choice("method", options.pop("method", "ml"), METHODS)
    parameterization = options.pop("parameterization", "S1")
    validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS)
    fixed = options.pop("fixed", None)
    if options:
        raise TypeError(f"fit_windows got unknown options: {', '.join(map(repr, options))}")
    flat, counts, single = _as_sets("series", series)
    if not single:
        raise ValueError("series must have one dimension")
    size = int(counts[0])
    window, step = (
        validation.check_integer("window", window),
        validation.check_integer("step", step),
    )
    if not _LEAST <= window <= min(size, datasets.LONGEST) or step < 1:
        raise ValueError(
            f"window must lie in [{_LEAST}, {min(size, datasets.LONGEST)}] and step be at least "
            f"1, got window={window} and step={step}"
        )
    starts = np.arange(0, size - window + 1, step)
    fixed_values = _checked_fixed(fixed, parameterization, method, starts.size)
    target_device = resolve(
        device, series, work=starts.size * window, break_even=BREAK_EVEN[method]
    )
    with target_device.active(), region("stable fit"):
        work, host = Workspace(target_device, flat), Workspace(target_device)
        x = work.input("series", flat)
        return fit_batch(
            *(x, host.output((0,)), starts, starts + window),
            *(fixed_values, parameterization, method, work, host),
        )


# ---- arguments ---------------------------------------------------------------------------------


def _as_sets(name: str, data):
    """Flat data, the sizes of the sets, and whether there is one set only."""
    if device_of(data) is None:
        if isinstance(data, list | tuple) and data and all(map(_is_sequence, data)):
            parts = [as_real(name, part).reshape(-1) for part in data]
            data = np.concatenate(parts)
            counts, single = np.array([part.size for part in parts]), False
            return data, _enough(name, counts), single
        data = as_real(name, data)
    if len(data.shape) not in (1, 2):
        raise ValueError(
            f"{name} must have one dimension, or two (a data set a row), got {len(data.shape)}"
        )
    single = len(data.shape) == 1
    rows, columns = (1, data.shape[0]) if single else data.shape
    return data, _enough(name, np.full(rows, columns, np.int64)), single


def _is_sequence(values) -> bool:
    return hasattr(values, "__len__") and getattr(values, "ndim", 1) > 0


def _enough(name: str, counts, kind: str = "values"):
    if not counts.size:
        raise ValueError(f"{name} must hold at least one data set, got none")
    if counts.min() < _LEAST:
        raise ValueError(
            f"{name} must hold at least {_LEAST} {kind} in a set, got {int(counts.min())}"
        )
    return counts.astype(np.int64)


def _that_count(data, weights, counts):
    """Select the data of positive weight; return them, their weights, and the count in each set."""
    counted = weights > 0.0
    if counted.all():
        return data, weights, counts
    counts = np.add.reduceat(counted, np.cumsum(counts) - counts, dtype=np.int64)
    return data[counted], weights[counted], _enough("data", counts, "values of positive weight")


def _as_weights(weights, counts, method: str):
    """Checked weights, flat like the data; None if there are none."""
    if weights is None:
        return None
    if method != "ml":
        raise ValueError(f"weights need method='ml', got method={method!r}")
    if device_of(weights) is not None:  # not looked through, as data on a GPU
        if math.prod(weights.shape) != counts.sum():
            raise ValueError(f"weights must have the shape of data, got {tuple(weights.shape)}")
        return weights
    flat, sizes, _ = _as_sets("weights", weights)
    if sizes.size != counts.size or (sizes != counts).any():
        raise ValueError("weights must have the shape of data")
    if not ((flat >= 0.0) & np.isfinite(flat)).all():
        raise ValueError("weights must be finite and at least 0")
    with np.errstate(over="ignore"):
        totals = np.add.reduceat(flat.reshape(-1), np.cumsum(counts) - counts)
    if (totals <= 0.0).any():
        raise ValueError("weights of a data set must not all be 0")
    if not np.isfinite(totals).all():
        raise ValueError("weights of a data set must have a finite sum: divide them first")
    return flat


_RANGES = {
    "alpha": {"low": ALPHA_RANGE[0], "high": ALPHA_RANGE[1]},
    "beta": {"low": -1.0, "high": 1.0},
    "loc": {"low": -math.inf, "high": math.inf},
    "scale": {"low": 0.0, "high": math.inf, "closed": "neither"},
}


def _checked_fixed(fixed, parameterization: str, method: str, sets: int) -> dict:
    """Fixed parameters by name, checked: an array with an element for each data set."""
    if not isinstance(fixed, Mapping | None):
        raise TypeError(f"fixed must be a dict of parameters by name, got {fixed!r}")
    requested = dict(fixed or {})
    if requested and method != "ml":
        raise ValueError(f"fixed needs method='ml', got method={method!r}")
    if unknown := set(requested) - set(PARAMETERS):
        raise ValueError(
            f"fixed may name {', '.join(PARAMETERS)}, got {', '.join(map(repr, sorted(unknown)))}"
        )
    fixed_values = {}
    for name, values in requested.items():
        if np.ndim(values) and np.shape(values) != (sets,):
            raise ValueError(
                f"fixed {name} must be a number, or one for each of {sets} data sets, got shape "
                f"{np.shape(values)}"
            )
        each = values if np.ndim(values) else [values]
        checked = [validation.check_in_range(f"fixed {name}", v, **_RANGES[name]) for v in each]
        fixed_values[name] = np.broadcast_to(np.array(checked), (sets,))
    near_one = "alpha" not in fixed_values or (abs(fixed_values["alpha"] - 1.0) < 0.01).any()
    in_s1 = (
        parameterization == "S1" and "loc" in fixed_values and np.any(fixed_values.get("beta", 1.0))
    )
    if in_s1 and near_one:
        raise ValueError(
            "a fixed loc of S1 needs a fixed beta of 0, or a fixed alpha away from 1, where S1 "
            "jumps; fix loc with parameterization='S0'"
        )
    return fixed_values


# ---- one set -----------------------------------------------------------------------------------


def _one(results: FitResults, data, weights, device) -> FitResult:
    """The only one of the fits, or an error where its data are bad."""
    result = results[0]
    if result.status in REMEDIES:
        raise ValueError(REMEDIES[result.status])
    return dataclasses.replace(result, device=device, data=_copied(data), weights=_copied(weights))


def _copied(values):
    """Copy an array in host memory: the caller may change it before the result reads it."""
    return values if values is None or device_of(values) else values.copy()


def _mcculloch_fit(data, parameterization: str, work: Workspace, device) -> FitResult:
    """Fit a sample of any size from order statistics that are selected, not sorted."""
    size = math.prod(data.shape)
    clock = time.perf_counter()
    quantiles, ties = mcculloch_estimate.quantiles(work, data, size)
    law = mcculloch_estimate.start(quantiles)
    if 2.0 * ties >= size and np.isfinite(law[0]):
        law = (math.nan,) * 4
    for status, mark in (("constant", math.nan), ("not finite", math.inf), ("too wide", -math.inf)):
        if law[0] == mark or (mark != mark and law[0] != law[0]):
            raise ValueError(REMEDIES[status])
    alpha, beta = law[:2]
    results = Parameters.checked(*law, "S0").converted(parameterization)
    return FitResult(
        results.alpha,
        results.beta,
        results.loc,
        results.scale,
        parameterization,
        "mcculloch",
        size,
        message(at_boundary(np.array([[alpha, beta]]))[0]),
        device=device,
        ties=ties,
        data=_copied(data),
        timings={"start": time.perf_counter() - clock},
    )
