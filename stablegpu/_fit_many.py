"""Fits of many data sets at once: from data on a device to results."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from hetero.jit import twin
from stablegpu import _fit_profile, _fit_sets, _mcculloch
from stablegpu._fit_states import ALPHA_RANGE, at_boundary, covariances_of, parameters_of
from stablegpu.fit_result import PARAMETERS, STATUSES, FitResults

OVER_SPIKE, OVER_SPIKE_OF_TIES = 4.0 / 3.0, 2.0
"""Least alpha over that from which on the likelihood is bounded, without equal data and with them.
At the bound itself a spike is as likely at any scale, and a little above it still more likely than
a law that fits: with a fifth of zeros among draws of alpha = 1.5 up to twice the bound."""

_PART = 1 << 16  # observations whose characteristic function one block of threads adds up


def fit_batch(
    x, w, starts, stops, fixed_values, parameterization, method, work, host
) -> FitResults:
    """Fits of x[starts[s]:stops[s]] with weights w, all on the device.

    `fixed_values` holds fixed parameters by name, a value for each set.
    """
    clock = [time.perf_counter()]
    counts = stops - starts
    if counts.max() > _fit_sets.LONGEST:
        return fit_large_sets(
            x, w, starts, stops, fixed_values, parameterization, method, work, host
        )
    whole = _UnsortedSets(x, starts, stops)
    sets, table = _fit_sets.sorted_sets(x, w, starts, stops, work, host)
    laws, ties = _fit_sets.starts_of(sets, table, work, host)
    clock.append(time.perf_counter())
    return _from_starts(
        sets, whole, laws, ties, fixed_values, parameterization, method, work, host, clock
    )


class _UnsortedSets(NamedTuple):
    """Data sets as they came: x[starts[s]:stops[s]], x on the device."""

    x: Any
    starts: Any
    stops: Any

    def select(self, which) -> _UnsortedSets:
        return self._replace(starts=self.starts[which], stops=self.stops[which])


def _from_starts(
    sets, whole, laws, ties, fixed_values, parameterization, method, work, host, clock
):
    """Fits of sorted sets from McCulloch's estimates; ties: a row of the weight of equal data and
    that of all for each set."""
    from stablegpu._fit_state_math import EVALUATIONS, RESULT, STATUS, VALUE

    sizes = whole.stops - whole.starts
    bad = np.select(
        [
            laws[:, 0] == np.inf,
            laws[:, 0] == -np.inf,
            np.isnan(laws[:, 0]) | (ties[:, 0] >= 0.5 * ties[:, 1]),
        ],
        [STATUSES.index(s) for s in ("not finite", "too wide", "constant")],
        -1,
    )
    lowest = np.full(len(laws), ALPHA_RANGE[0])
    if method == "ml" and "alpha" not in fixed_values:
        lowest = lowest_alphas(ties)
    free = sum(1 << k for k, name in enumerate(PARAMETERS) if name not in fixed_values)
    states, units = np.full((len(laws), RESULT), np.nan), np.ones((len(laws), 2))
    good = np.flatnonzero(bad < 0)
    if 0 < good.size < len(laws):
        sets, whole = _fit_sets.select(sets, good, host), whole.select(good)
    if good.size:
        mine = {name: values[good] for name, values in fixed_values.items()}
        states[good], units[good] = _states(
            *(sets, whole, laws[good], ties[good, 1], lowest[good], free, mine),
            *(parameterization, method, work, host),
        )
    clock.append(time.perf_counter())
    parameters, slope = parameters_of(states, units, parameterization)
    covariance, stderr = np.full((len(laws), 4, 4), np.nan), np.full((len(laws), 4), np.nan)
    if method == "ml":
        covariance, stderr = covariances_of(states, slope, parameters[:, 3], free)
    parameters[parameters[:, 0] == ALPHA_RANGE[1], 1] = 0.0  # the normal law has no beta
    for name, values in fixed_values.items():
        parameters[:, PARAMETERS.index(name)] = values
    for values in (parameters, covariance, stderr):
        values[bad >= 0] = np.nan
    status = np.where(bad >= 0, bad, np.nan_to_num(states[:, STATUS])).astype(int)
    clock.append(time.perf_counter())
    stages = ("start", "ascent", "results")
    timings = dict(zip(stages, np.diff(clock).tolist(), strict=True))
    return FitResults(
        *parameters.T,
        states[:, VALUE],
        covariance,
        stderr,
        status,
        np.nan_to_num(states[:, EVALUATIONS]).astype(int),
        sizes,
        at_boundary(parameters, states, lowest),
        ties[:, 0],
        lowest,
        parameterization,
        method,
        tuple(fixed_values),
        timings,
    )


def _states(
    sets, whole, laws, weights, lowest, free, fixed_values, parameterization, method, work, host
):
    """States at the estimates of sets that can be fitted, and the units of location and scale."""
    from stablegpu._fit_state_math import LOC_IN_S1, RESULT, VALUE, X

    if method == "koutrouvelis":
        laws = _by_regression(whole, laws, work, host)
    units = np.ascontiguousarray(laws[:, 2:])
    if method in ("grid", "grid2"):
        return _by_grid(sets, laws, units, 4 if method == "grid" else 2, work, host), units
    if method == "ml":
        initial, in_s1 = _initial(laws, units, fixed_values, parameterization)
        mode = free | (LOC_IN_S1 if in_s1 else 0)
        if "loc" in fixed_values or "scale" in fixed_values:
            return _fit_sets.maximized(sets, initial, units, lowest, mode, work, host), units
        choices = _fit_profile.choices(lowest, fixed_values)
        result = _fit_sets.maximized(sets, initial, units, lowest, mode, work, host, choices)
        states, peaks = result[:, :RESULT], result[:, RESULT:]
        _climb_other_peaks(
            states, peaks, sets, weights, units, lowest, free, fixed_values, work, host
        )
        return states, units
    states = np.zeros((len(laws), RESULT))
    states[:, X], states[:, X + 1] = laws[:, 0], laws[:, 1]
    states[:, VALUE] = np.nan
    return states, units


def _climb_other_peaks(
    states, peaks, sets, weights, units, lowest, free, fixed_values, work, host
) -> None:
    """Ascents from peaks of a rough profile that the first ones have not reached; the better of
    the final states is kept."""
    from stablegpu._fit_profile_math import ALPHA, BETA, LOC, SCALE
    from stablegpu._fit_state_math import EVALUATIONS, LOC_IN_S1, TO_S0, TO_S1, VALUE

    which, begins = _fit_profile.worth_while(peaks, weights, states, units)
    if not which.size:
        return
    alpha = (
        fixed_values["alpha"][which]
        if "alpha" in fixed_values
        else np.minimum(begins[:, ALPHA], 1.95)
    )
    beta = fixed_values["beta"][which] if "beta" in fixed_values else begins[:, BETA]
    shift = begins[:, BETA] * begins[:, SCALE] * np.tan(0.5 * np.pi * begins[:, ALPHA])
    # A location in S1 is the first to be tried; in place of one in S0 a small alpha first tries the
    # data that lie closest.
    in_s1 = (alpha < TO_S0) | ("alpha" not in fixed_values)
    in_s0 = ~in_s1 | ((alpha < TO_S1) & (weights[which] >= _fit_profile.MANY))
    for mode, chosen in ((free | LOC_IN_S1, in_s1), (free, in_s0)):
        some = which[chosen]
        if not some.size:
            continue
        loc = begins[chosen, LOC] - (shift[chosen] if mode & LOC_IN_S1 else 0.0)
        initial = np.stack(
            [
                alpha[chosen],
                beta[chosen],
                (loc - units[some, 0]) / units[some, 1],
                np.log(begins[chosen, SCALE] / units[some, 1]),
            ],
            axis=1,
        )
        again = _fit_sets.maximized(
            _fit_sets.select(sets, some, host), initial, units[some], lowest[some], mode, work, host
        )
        for s, state in zip(some, again, strict=True):
            evaluations = states[s, EVALUATIONS] + state[EVALUATIONS]
            if state[VALUE] > states[s, VALUE] or not np.isfinite(states[s, VALUE]):
                states[s] = state
            states[s, EVALUATIONS] = evaluations


def lowest_alphas(ties) -> np.ndarray:
    """The least alpha of each set: where the mode is on k equal ones of n data the likelihood has
    no bound for alpha below k/(n - k), as the scale goes to 0."""
    share = ties[:, 0] / ties[:, 1]
    over = np.where(ties[:, 0] > 1.0, OVER_SPIKE_OF_TIES, OVER_SPIKE)
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.nan_to_num(over * share / (1.0 - share), nan=np.inf)
    return np.clip(least, *ALPHA_RANGE)


def _by_regression(whole: _UnsortedSets, laws, work, host):
    """Laws by Koutrouvelis' regression from those of McCulloch."""
    from stablegpu._fit_ecf_math import PASSES, SUMS

    count = len(laws)
    parts = -(-int((whole.stops - whole.starts).max()) // _PART)
    on_device = [host.input("sets", v, np.int64) for v in (whole.starts, whole.stops)]
    result = host.input("laws", laws).reshape(count, 4)
    sums = host.output((count * parts, SUMS)).reshape(count * parts, SUMS)
    for _ in range(PASSES):
        improve = twin("stablegpu._fit_ecf", work.device).improve
        improve(whole.x, *on_device, parts, sums, result, work.stream)
    return host.result(result.reshape(4 * count), (count, 4))


def _by_grid(sets, laws, units, dimensions: int, work, host):
    """States of the best laws on contracting grids."""
    from stablegpu._fit_grid import search
    from stablegpu._fit_state_math import EVALUATIONS

    states, evaluations = search(sets, laws, units, dimensions, work, host)
    states[:, EVALUATIONS] = evaluations
    return states


def _initial(laws, units, fixed_values: dict, parameterization: str):
    """Where the ascent starts, in units, and whether its location is that of S1."""
    alpha = np.clip(laws[:, 0], ALPHA_RANGE[0], 1.95)
    beta = np.clip(laws[:, 1], -0.9, 0.9)
    alpha, beta = fixed_values.get("alpha", alpha), fixed_values.get("beta", beta)
    log_scale = (
        np.log(fixed_values["scale"] / units[:, 1])
        if "scale" in fixed_values
        else np.zeros_like(alpha)
    )
    loc, in_s1 = np.zeros_like(alpha), False
    if "loc" in fixed_values:
        loc = (fixed_values["loc"] - units[:, 0]) / units[:, 1]
        in_s1 = parameterization == "S1" and bool(np.any(fixed_values.get("beta", 1.0)))
    return np.stack([alpha, beta, loc, log_scale], axis=1), in_s1


def fit_large_sets(
    x, w, starts, stops, fixed_values, parameterization, method, work, host
) -> FitResults:
    """Fit data sets one by one if some are too large for the batched kernel."""
    result, of_sets = [], fixed_values
    for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        fixed_values = {name: values[k : k + 1] for name, values in of_sets.items()}
        clock = [time.perf_counter()]
        part, own, size = x[start:stop], w[start:stop] if w.size else w, np.array([stop - start])
        whole = _UnsortedSets(part, np.zeros(1, int), size)
        if size[0] <= _fit_sets.LONGEST:
            sets, table = _fit_sets.sorted_sets(part, own, np.zeros(1, int), size, work, host)
            laws, ties = _fit_sets.starts_of(sets, table, work, host)
        else:
            sets, laws, ties = _gathered(part, own, int(size[0]), work, host)
        clock.append(time.perf_counter())
        result.append(
            _from_starts(
                sets, whole, laws, ties, fixed_values, parameterization, method, work, host, clock
            )
        )
    return result[0] if len(result) == 1 else joined(result)


def _gathered(x, w, size: int, work, host):
    """A large set in bins, McCulloch's estimate, and the weights of equal data and of all."""
    from stablegpu._fit_start_math import LAW

    quantiles, equal = _mcculloch.quantiles(work, x, size)
    laws, ends = np.array([_mcculloch.start(quantiles)]), (quantiles[0], quantiles[-1])
    ties = np.array([[equal, float(size)]])
    spread = quantiles[4] - quantiles[2]
    if w.size and np.isnan(laws).any():  # those of large weight may vary
        spread = ends[1] - ends[0]
    if spread > 0.0 and not np.isinf(laws).any():
        width = max(1e-3 * spread, np.nextafter(0.0, 1.0))
        sets, ties = _fit_sets.binned(x, w, quantiles[3], width, ends, work, host)
        if not w.size:
            return sets, laws, ties
        table = host.input("laws", np.zeros((1, LAW))).reshape(1, LAW)
        laws, _ = _fit_sets.starts_of(sets, table, work, host)
        if np.isfinite(laws).all():
            return sets, laws, ties
    return None, laws, ties  # nothing to fit; the law says why


def joined(result: list[FitResults]) -> FitResults:
    """Fits of one kind as those of one call."""
    arrays = (f for f in FitResults.__dataclass_fields__ if f not in _OF_ALL)
    joined = {f: np.concatenate([getattr(r, f) for r in result]) for f in arrays}
    timings = {k: sum(r.timings[k] for r in result) for k in result[0].timings}
    same = {f: getattr(result[0], f) for f in ("parameterization", "method", "fixed")}
    return FitResults(**joined, **same, timings=timings)


_OF_ALL = ("parameterization", "method", "fixed", "timings")
