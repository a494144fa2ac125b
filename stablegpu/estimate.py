"""Estimation of the parameters of a stable law from data."""

from __future__ import annotations

import math
import time

import numpy as np

from hetero import errors, region
from hetero.arrays import Workspace, as_real, device_of
from hetero.devices import resolve
from hetero.jit import twin
from stablegpu import _fit_sets, _mcculloch
from stablegpu._fit_states import ALPHA_RANGE, at_boundary, covariances_of, parameters_of
from stablegpu._parameters import PARAMETERIZATIONS, Parameters
from stablegpu.fit_result import PARAMETERS, STATUSES, FitResult, FitResults

METHODS = ("ml", "mcculloch", "grid", "grid2")

BREAK_EVEN = {"ml": 1000, "mcculloch": 200_000, "grid": 100, "grid2": 100}
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
        One dimension: a data set of at least 5 finite values. Two dimensions: a data set a row.
        A list of sequences of different lengths: a data set each. Arrays on a GPU stay there.
    method : {"ml", "mcculloch", "grid", "grid2"}
        "ml": maximum likelihood, alpha in [0.1, 2]. "mcculloch": five quantiles (McCulloch 1986),
        consistent and fast, alpha in [0.1, 2]. "grid" and "grid2": the papers' search for the
        maximum, by a contracting grid in four dimensions, or in alpha and beta with location and
        scale from the quantiles; slower and without standard errors, for comparison.
    parameterization : {"S1", "S0"}
        Of the location in the result, and in `fixed`.
    fixed : dict, optional
        Parameters that are known, by name, say {"beta": 0.0}; with "ml".
    weights : array_like of float >= 0, of the shape of data, optional
        How often an observation counts; with "ml".
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
    sums over nodes (`_fit_law_math.py`), for |alpha - 1| < 0.1 by a table
    (`_fit_near_one_math.py`); standard errors from the observed information. On a GPU a block of
    threads fits a data set from start to end. The likelihood is unbounded as alpha -> 0: 0.1 is the
    least value here. For small alpha it has a maximum near many a datum; the best of those around
    the densest place is taken. More than 8192 observations are gathered in 4096 bins with two
    points each.

    Examples
    --------
    >>> from stablegpu import stable
    >>> result = fit(stable(1.7, 0.3).rvs(10_000, random_state=1))
    >>> round(result.alpha, 1)
    1.7
    """
    errors.one_of("method", method, METHODS)
    errors.one_of("parameterization", parameterization, PARAMETERIZATIONS)
    known = _checked_fixed(fixed, parameterization, method)
    flat, counts, single = _as_sets("data", data)
    own = _as_weights(weights, data, counts, method)
    place = resolve(device, data, work=int(counts.sum()), break_even=BREAK_EVEN[method])
    with place.active(), region("stable fit"):
        work, host = Workspace(place, flat), Workspace(place)
        if single and method == "mcculloch":
            return _mcculloch_fit(flat, parameterization, work, device)
        x = work.input("data", flat)
        w = host.output((0,)) if own is None else work.input("weights", own)
        ends = np.cumsum(counts)
        found = _fit_sets_of(x, w, ends - counts, ends, known, parameterization, method, work, host)
    if not single:
        return found
    return _one(found, data, weights, parameterization, device)


def fit_windows(series, window: int, *, step: int = 1, device=None, **options) -> FitResults:
    """`fit` of every window of a series: series[0:window], series[step:step + window], ...

    Parameters
    ----------
    series : array_like of float, one dimension, on the host or on a GPU
    window, step : int
        Observations of a window, and from the start of one to that of the next. Windows are not
        copied.
    options : `method`, `parameterization`, `fixed` of `fit`

    Returns
    -------
    FitResults with a fit for each of the (size - window) // step + 1 windows.
    """
    method = errors.one_of("method", options.pop("method", "ml"), METHODS)
    parameterization = options.pop("parameterization", "S1")
    errors.one_of("parameterization", parameterization, PARAMETERIZATIONS)
    known = _checked_fixed(options.pop("fixed", None), parameterization, method)
    if options:
        raise TypeError(f"fit_windows got unknown options: {', '.join(map(repr, options))}")
    flat, counts, single = _as_sets("series", series)
    if not single:
        raise ValueError("series must have one dimension")
    size = int(counts[0])
    window, step = int(window), int(step)
    if not _LEAST <= window <= min(size, _fit_sets.LONGEST) or step < 1:
        raise ValueError(
            f"window must lie in [{_LEAST}, {min(size, _fit_sets.LONGEST)}] and step be at least "
            f"1, got window={window} and step={step}"
        )
    starts = np.arange(0, size - window + 1, step)
    place = resolve(device, series, work=starts.size * window, break_even=BREAK_EVEN[method])
    with place.active(), region("stable fit"):
        work, host = Workspace(place, flat), Workspace(place)
        x = work.input("series", flat)
        return _fit_sets_of(
            *(x, host.output((0,)), starts, starts + window),
            *(known, parameterization, method, work, host),
        )


# ---- arguments ---------------------------------------------------------------------------------


def _as_sets(name: str, data):
    """Flat data, the sizes of the sets, and whether there is one set only."""
    if device_of(data) is None:
        if isinstance(data, list | tuple) and data and all(hasattr(v, "__len__") for v in data):
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


def _enough(name: str, counts):
    if not counts.size or counts.min() < _LEAST:
        least = int(counts.min()) if counts.size else 0
        raise ValueError(f"{name} must hold at least {_LEAST} values in a set, got {least}")
    return counts.astype(np.int64)


def _as_weights(weights, data, counts, method: str):
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
    if (np.add.reduceat(flat.reshape(-1), np.cumsum(counts) - counts) <= 0.0).any():
        raise ValueError("weights of a data set must not all be 0")
    return flat


def _checked_fixed(fixed, parameterization: str, method: str) -> dict:
    """Fixed parameters by name, checked."""
    known = dict(fixed or {})
    if known and method != "ml":
        raise ValueError(f"fixed needs method='ml', got method={method!r}")
    if unknown := set(known) - set(PARAMETERS):
        raise ValueError(
            f"fixed may name {', '.join(PARAMETERS)}, got {', '.join(map(repr, sorted(unknown)))}"
        )
    if "alpha" in known:
        known["alpha"] = errors.within("fixed alpha", known["alpha"], *ALPHA_RANGE)
    if "beta" in known:
        known["beta"] = errors.within("fixed beta", known["beta"], -1.0, 1.0)
    if "loc" in known:
        known["loc"] = errors.real("fixed loc", known["loc"])
    if "scale" in known:
        known["scale"] = errors.within(
            "fixed scale", known["scale"], 0.0, math.inf, closed="neither"
        )
    if parameterization == "S1" and "loc" in known and known.get("beta") != 0.0:
        alpha = known.get("alpha")
        if alpha is None or abs(alpha - 1.0) < 0.01:
            raise ValueError(
                "a fixed loc of S1 needs a fixed beta of 0, or a fixed alpha away from 1, where S1 "
                "jumps; fix loc with parameterization='S0'"
            )
    return known


# ---- many sets ---------------------------------------------------------------------------------


def _fit_sets_of(x, w, starts, stops, known, parameterization, method, work, host) -> FitResults:
    """Fits of data[starts[s]:stops[s]], on the device."""
    clock = [time.perf_counter()]
    counts = stops - starts
    if counts.max() > _fit_sets.LONGEST:
        return _in_bins(x, w, starts, stops, known, parameterization, method, work, host)
    sets = _fit_sets.sorted_sets(x, w, starts, stops, work, host)
    laws = _fit_sets.starts_of(sets, work, host)
    clock.append(time.perf_counter())
    return _from_starts(sets, laws, counts, known, parameterization, method, work, host, clock)


def _from_starts(sets, laws, counts, known, parameterization, method, work, host, clock):
    """Fits of sorted sets from McCulloch's estimates."""
    from stablegpu._fit_optimum_math import EVALUATIONS, LOC_IN_S1, STATE, STATUS, VALUE, X

    bad = np.select(
        [np.isnan(laws[:, 0]), laws[:, 0] == np.inf, laws[:, 0] == -np.inf],
        [STATUSES.index(s) for s in ("constant", "not finite", "too wide")],
        -1,
    )
    laws = np.where(bad[:, None] >= 0, [1.5, 0.0, 0.0, 1.0], laws)
    units = np.ascontiguousarray(laws[:, 2:])
    free = sum(1 << k for k, name in enumerate(PARAMETERS) if name not in known)
    if method in ("grid", "grid2"):
        states = _by_grid(sets, laws, units, 4 if method == "grid" else 2, work, host)
    elif method == "ml":
        initial, in_s1 = _initial(laws, units, known, parameterization)
        mode = free | (LOC_IN_S1 if in_s1 else 0)
        states = _fit_sets.maximized(sets, initial, units, mode, work, host)
    else:
        states = np.zeros((len(laws), STATE))
        states[:, X], states[:, X + 1] = laws[:, 0], laws[:, 1]
        states[:, VALUE] = np.nan
    clock.append(time.perf_counter())
    parameters, slope = parameters_of(states, units, parameterization)
    covariance = np.full((len(laws), 4, 4), np.nan)
    if method == "ml":
        covariance = covariances_of(states, slope, free)
    parameters[bad >= 0] = np.nan
    covariance[bad >= 0] = np.nan
    loglik = np.where(bad >= 0, np.nan, states[:, VALUE])
    status = np.where(bad >= 0, bad, states[:, STATUS].astype(int))
    clock.append(time.perf_counter())
    stages = ("start", "ascent", "results")
    timings = dict(zip(stages, np.diff(clock).tolist(), strict=True))
    return FitResults(
        *parameters.T,
        loglik,
        covariance,
        status,
        states[:, EVALUATIONS].astype(int),
        counts,
        at_boundary(parameters),
        parameterization,
        method,
        len(PARAMETERS) - len(known),
        timings,
    )


def _by_grid(sets, laws, units, dimensions: int, work, host):
    """States of the best laws on contracting grids, a set at a time."""
    from stablegpu._fit_grid import search
    from stablegpu._fit_optimum_math import EVALUATIONS

    firsts, lasts = (host.result(v, v.shape) for v in (sets.firsts, sets.lasts))
    states = []
    for k, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
        own = sets.weights[first:last] if sets.weights.size else sets.weights
        alone = sets._replace(x=sets.x[first:last], weights=own)
        best, evaluations = search(alone, laws[k], units[k], dimensions, work, host)
        best[EVALUATIONS] = evaluations
        states.append(best)
    return np.array(states)


def _initial(laws, units, known: dict, parameterization: str):
    """Where the ascent starts, in units, and whether its location is that of S1."""
    alpha = np.clip(laws[:, 0], ALPHA_RANGE[0], 1.95)
    beta = np.clip(laws[:, 1], -0.9, 0.9)
    alpha = np.full_like(alpha, known["alpha"]) if "alpha" in known else alpha
    beta = np.full_like(beta, known["beta"]) if "beta" in known else beta
    loc, log_scale = np.zeros_like(alpha), np.zeros_like(alpha)
    if "scale" in known:
        log_scale = np.log(known["scale"] / units[:, 1])
    in_s1 = False
    if "loc" in known:
        loc = (known["loc"] - units[:, 0]) / units[:, 1]
        in_s1 = parameterization == "S1" and known.get("beta") != 0.0
    return np.stack([alpha, beta, loc, log_scale], axis=1), in_s1


def _in_bins(x, w, starts, stops, known, parameterization, method, work, host) -> FitResults:
    """Fits of sets of which some are large, one after another."""
    found = []
    for start, stop in zip(starts, stops, strict=True):
        clock = [time.perf_counter()]
        part, own, size = x[start:stop], w[start:stop] if w.size else w, np.array([stop - start])
        if size[0] <= _fit_sets.LONGEST:
            sets = _fit_sets.sorted_sets(part, own, np.zeros(1, int), size, work, host)
            laws = _fit_sets.starts_of(sets, work, host)
        else:
            quantiles = _quantiles(work, part, int(size[0]))
            laws = np.array([_start(quantiles)])
            if not np.isfinite(laws).all():  # nothing to fit; the law says why
                part, own = host.input("nothing", np.arange(5.0)), host.output((0,))
                sets = _fit_sets.sorted_sets(part, own, *np.array([[0], [5]]), work, host)
            else:
                width = 1e-3 * (quantiles[4] - quantiles[2])
                ends = quantiles[0], quantiles[-1]
                sets = _fit_sets.binned(part, own, quantiles[3], width, ends, work, host)
        clock.append(time.perf_counter())
        found.append(
            _from_starts(sets, laws, size, known, parameterization, method, work, host, clock)
        )
    return found[0] if len(found) == 1 else _joined(found)


def _joined(found: list[FitResults]) -> FitResults:
    arrays = (f for f in FitResults.__dataclass_fields__ if f not in _OF_ALL)
    joined = {f: np.concatenate([getattr(r, f) for r in found]) for f in arrays}
    timings = {k: sum(r.timings[k] for r in found) for k in found[0].timings}
    same = {f: getattr(found[0], f) for f in ("parameterization", "method", "free")}
    return FitResults(**joined, **same, timings=timings)


_OF_ALL = ("parameterization", "method", "free", "timings")


# ---- one set -----------------------------------------------------------------------------------

_REMEDIES = {
    "constant": "data must vary: at least half of the values are equal, so the quartiles give no "
    "scale",
    "not finite": "data must be finite: remove NaN and infinite values first",
    "too wide": "data must span less than the range of float64: rescale them first",
}


def _one(found: FitResults, data, weights, parameterization: str, device) -> FitResult:
    """The only one of the fits, or an error where its data are bad."""
    status = STATUSES[found.status[0]]
    if status in _REMEDIES:
        raise ValueError(_REMEDIES[status])
    return FitResult(
        *(float(getattr(found, name)[0]) for name in PARAMETERS),
        parameterization,
        found.method,
        int(found.sizes[0]),
        _message(found.at_boundary[0], status),
        status,
        found.covariance[0],
        int(found.evaluations[0]),
        found.timings,
        found.free,
        device,
        data if device_of(data) is not None else as_real("data", data),
        weights if weights is None or device_of(weights) else as_real("weights", weights),
    )


def _message(at_boundary, status: str = "converged") -> str:
    """What is worth knowing of a fit."""
    ends = [name for name, is_at in zip(("alpha", "|beta|"), at_boundary, strict=True) if is_at]
    said = [f"at the boundary of the estimator's range: {', '.join(ends)}"] if ends else []
    if status == "exhausted":
        said.append("the ascent did not converge within its evaluations")
    if status == "impossible":
        said.append("the data have no likelihood under the fixed parameters")
    return "; ".join(said)


def _mcculloch_fit(data, parameterization: str, work: Workspace, device) -> FitResult:
    """From order statistics that are selected, not sorted: for samples of any size."""
    size = math.prod(data.shape)
    clock = time.perf_counter()
    law = _start(_quantiles(work, data, size))
    for status, mark in (("constant", math.nan), ("not finite", math.inf), ("too wide", -math.inf)):
        if law[0] == mark or (mark != mark and law[0] != law[0]):
            raise ValueError(_REMEDIES[status])
    alpha, beta = law[:2]
    found = Parameters.checked(*law, "S0").converted(parameterization)
    return FitResult(
        found.alpha,
        found.beta,
        found.loc,
        found.scale,
        parameterization,
        "mcculloch",
        size,
        _message(at_boundary(np.array([[alpha, beta]]))[0]),
        device=device,
        data=data,
        timings={"start": time.perf_counter() - clock},
    )


def _start(quantiles):
    """McCulloch's estimate from minimum, quantiles, maximum, or what is wrong (`start_of`)."""
    from stablegpu._fit_start_math import estimate_within

    low, *five, high = quantiles
    return estimate_within(low, *five, high, _mcculloch.surfaces())


def _quantiles(work: Workspace, data, size: int) -> list[float]:
    """Minimum, the five quantiles of McCulloch, maximum.

    Between order statistics at probabilities (i - 1/2)/n, linearly: his correction for continuity.
    """
    position = np.clip(size * np.array(_mcculloch.PROBABILITIES) - 0.5, 0.0, size - 1.0)
    below = position.astype(np.int64)
    ranks = np.concatenate(([0], below, np.minimum(below + 1, size - 1), [size - 1]))
    select = twin("stablegpu._order", work.device).select
    values = select(work.input("data", data), ranks, work.stream)
    lower, upper = values[1:6], values[6:11]
    with np.errstate(invalid="ignore"):  # infinite data: refused by the caller
        middle = lower + (position - below) * (upper - lower)
    return [float(values[0]), *map(float, middle), float(values[-1])]
