"""Fits of many data sets at once: from data on a device to results."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from hetero.jit import loops_for
from stablegpu._fit import datasets
from stablegpu._fit.estimates import ALPHA_RANGE, at_boundary, covariances_of, parameters_of
from stablegpu._fit.mcculloch import estimate as mcculloch_estimate
from stablegpu._fit.second_starts import choose
from stablegpu.fit_results import PARAMETERS, STATUSES, FitResults

OVER_SPIKE, OVER_SPIKE_OF_TIES = 4.0 / 3.0, 2.0
"""Least alpha over that from which on the likelihood is bounded, without equal data and with them.
At the bound itself a spike is as likely at any scale, and a little above it still more likely than
a law that fits: with a fifth of zeros among draws of alpha = 1.5 up to twice the bound."""

_PART = 1 << 16  # observations whose characteristic function one block of threads adds up


def fit_batch(
    x, w, starts, stops, fixed_values, parameterization, method, workspace, host_workspace
) -> FitResults:
    """Fit the data sets x[starts[s]:stops[s]] with weights w, all on the device.

    `fixed_values` holds fixed parameters by name, a value for each set.
    """
    clock = [time.perf_counter()]
    counts = stops - starts
    if counts.max() > datasets.LONGEST:
        return fit_large_sets(
            x, w, starts, stops, fixed_values, parameterization, method, workspace, host_workspace
        )
    whole = _UnsortedSets(x, starts, stops)
    sets, table = datasets.sorted_sets(x, w, starts, stops, workspace, host_workspace)
    estimates, ties = datasets.starts_of(sets, table, workspace, host_workspace)
    clock.append(time.perf_counter())
    return _from_starts(
        sets,
        whole,
        estimates,
        ties,
        fixed_values,
        parameterization,
        method,
        workspace,
        host_workspace,
        clock,
    )


class _UnsortedSets(NamedTuple):
    """Data sets as they came: x[starts[s]:stops[s]], x on the device."""

    x: Any
    starts: Any
    stops: Any

    def select(self, which) -> _UnsortedSets:
        """Return the data sets with the indices `which`."""
        return self._replace(starts=self.starts[which], stops=self.stops[which])


def _from_starts(
    sets,
    whole,
    estimates,
    ties,
    fixed_values,
    parameterization,
    method,
    workspace,
    host_workspace,
    clock,
):
    """Fit sorted sets from McCulloch's estimates; ties: a row of the weight of equal data and
    that of all for each set."""
    from stablegpu._fit.optimizer.state import EVALUATIONS, RESULT, STATUS, VALUE

    sizes = whole.stops - whole.starts
    bad = np.select(
        [
            estimates[:, 0] == np.inf,
            estimates[:, 0] == -np.inf,
            np.isnan(estimates[:, 0]) | (ties[:, 0] >= 0.5 * ties[:, 1]),
        ],
        [STATUSES.index(s) for s in ("not finite", "too wide", "constant")],
        -1,
    )
    lowest = np.full(len(estimates), ALPHA_RANGE[0])
    if method == "ml" and "alpha" not in fixed_values:
        lowest = lowest_alphas(ties)
    free = sum(1 << k for k, name in enumerate(PARAMETERS) if name not in fixed_values)
    states, units = np.full((len(estimates), RESULT), np.nan), np.ones((len(estimates), 2))
    good = np.flatnonzero(bad < 0)
    if 0 < good.size < len(estimates):
        sets, whole = datasets.select(sets, good, host_workspace), whole.select(good)
    if good.size:
        mine = {name: values[good] for name, values in fixed_values.items()}
        states[good], units[good] = _states(
            *(sets, whole, estimates[good], ties[good, 1], lowest[good], free, mine),
            *(parameterization, method, workspace, host_workspace),
        )
    clock.append(time.perf_counter())
    parameters, slope = parameters_of(states, units, parameterization)
    covariance, stderr = (
        np.full((len(estimates), 4, 4), np.nan),
        np.full((len(estimates), 4), np.nan),
    )
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
    sets,
    whole,
    estimates,
    weights,
    lowest,
    free,
    fixed_values,
    parameterization,
    method,
    workspace,
    host_workspace,
):
    """States at the estimates of sets that can be fitted, and the units of location and scale."""
    from stablegpu._fit.optimizer.state import LOC_IN_S1, RESULT, VALUE, X

    if method == "koutrouvelis":
        estimates = _by_regression(whole, estimates, workspace, host_workspace)
    units = np.ascontiguousarray(estimates[:, 2:])
    if method in ("grid", "grid2"):
        return _by_grid(
            sets, estimates, units, 4 if method == "grid" else 2, workspace, host_workspace
        ), units
    if method == "ml":
        initial, in_s1 = _initial(estimates, units, fixed_values, parameterization)
        mode = free | (LOC_IN_S1 if in_s1 else 0)
        if "loc" in fixed_values or "scale" in fixed_values:
            return datasets.maximized(
                sets, initial, units, lowest, mode, workspace, host_workspace
            ), units
        choices = choose.choices(lowest, fixed_values)
        result = datasets.maximized(
            sets, initial, units, lowest, mode, workspace, host_workspace, choices
        )
        states, peaks = result[:, :RESULT], result[:, RESULT:]
        _climb_other_peaks(
            states,
            peaks,
            sets,
            weights,
            units,
            lowest,
            free,
            fixed_values,
            workspace,
            host_workspace,
        )
        return states, units
    states = np.zeros((len(estimates), RESULT))
    states[:, X], states[:, X + 1] = estimates[:, 0], estimates[:, 1]
    states[:, VALUE] = np.nan
    return states, units


def _climb_other_peaks(
    states, peaks, sets, weights, units, lowest, free, fixed_values, workspace, host_workspace
) -> None:
    """Climb the peaks of a rough profile that the first ascents have not reached, and keep the
    better of the final states."""
    from stablegpu._fit.optimizer.state import EVALUATIONS, LOC_IN_S1, TO_S0, TO_S1, VALUE
    from stablegpu._fit.second_starts.formulas import ALPHA, BETA, LOC, SCALE

    which, begins = choose.worth_while(peaks, weights, states, units)
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
    in_s0 = ~in_s1 | ((alpha < TO_S1) & (weights[which] >= choose.MANY))
    for mode, chosen in ((free | LOC_IN_S1, in_s1), (free, in_s0)):
        chosen_sets = which[chosen]
        if not chosen_sets.size:
            continue
        loc = begins[chosen, LOC] - (shift[chosen] if mode & LOC_IN_S1 else 0.0)
        initial = np.stack(
            [
                alpha[chosen],
                beta[chosen],
                (loc - units[chosen_sets, 0]) / units[chosen_sets, 1],
                np.log(begins[chosen, SCALE] / units[chosen_sets, 1]),
            ],
            axis=1,
        )
        again = datasets.maximized(
            datasets.select(sets, chosen_sets, host_workspace),
            initial,
            units[chosen_sets],
            lowest[chosen_sets],
            mode,
            workspace,
            host_workspace,
        )
        for s, state in zip(chosen_sets, again, strict=True):
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


def _by_regression(whole: _UnsortedSets, estimates, workspace, host_workspace):
    """Laws by Koutrouvelis' regression from those of McCulloch."""
    from stablegpu._fit.koutrouvelis.formulas import PASSES, SUMS

    count = len(estimates)
    parts = -(-int((whole.stops - whole.starts).max()) // _PART)
    on_device = [host_workspace.input("sets", v, np.int64) for v in (whole.starts, whole.stops)]
    result = host_workspace.input("laws", estimates).reshape(count, 4)
    sums = host_workspace.output((count * parts, SUMS)).reshape(count * parts, SUMS)
    for _ in range(PASSES):
        improve = loops_for("stablegpu._fit.koutrouvelis", workspace.device).improve
        improve(whole.x, *on_device, parts, sums, result, workspace.stream)
    return host_workspace.result(result.reshape(4 * count), (count, 4))


def _by_grid(sets, estimates, units, dimensions: int, workspace, host_workspace):
    """States of the best laws on contracting grids."""
    from stablegpu._fit.grid_search import search
    from stablegpu._fit.optimizer.state import EVALUATIONS

    states, evaluations = search(sets, estimates, units, dimensions, workspace, host_workspace)
    states[:, EVALUATIONS] = evaluations
    return states


def _initial(estimates, units, fixed_values: dict, parameterization: str):
    """Initial points of the ascents, in units, and whether their location is that of S1."""
    alpha = np.clip(estimates[:, 0], ALPHA_RANGE[0], 1.95)
    beta = np.clip(estimates[:, 1], -0.9, 0.9)
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
    x, w, starts, stops, fixed_values, parameterization, method, workspace, host_workspace
) -> FitResults:
    """Fit data sets one by one if some are too large for the batched kernel."""
    result, of_sets = [], fixed_values
    for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        fixed_values = {name: values[k : k + 1] for name, values in of_sets.items()}
        clock = [time.perf_counter()]
        part, part_weights, size = (
            x[start:stop],
            w[start:stop] if w.size else w,
            np.array([stop - start]),
        )
        whole = _UnsortedSets(part, np.zeros(1, int), size)
        if size[0] <= datasets.LONGEST:
            sets, table = datasets.sorted_sets(
                part, part_weights, np.zeros(1, int), size, workspace, host_workspace
            )
            estimates, ties = datasets.starts_of(sets, table, workspace, host_workspace)
        else:
            sets, estimates, ties = _gathered(
                part, part_weights, int(size[0]), workspace, host_workspace
            )
        clock.append(time.perf_counter())
        result.append(
            _from_starts(
                sets,
                whole,
                estimates,
                ties,
                fixed_values,
                parameterization,
                method,
                workspace,
                host_workspace,
                clock,
            )
        )
    return result[0] if len(result) == 1 else joined(result)


def _gathered(x, w, size: int, workspace, host_workspace):
    """A large set in bins, McCulloch's estimate, and the weights of equal data and of all."""
    from stablegpu._fit.mcculloch.formulas import LAW

    quantiles, equal = mcculloch_estimate.quantiles(workspace, x, size)
    estimates, ends = np.array([mcculloch_estimate.start(quantiles)]), (quantiles[0], quantiles[-1])
    ties = np.array([[equal, float(size)]])
    spread = quantiles[4] - quantiles[2]
    if w.size and np.isnan(estimates).any():  # those of large weight may vary
        spread = ends[1] - ends[0]
    if spread > 0.0 and not np.isinf(estimates).any():
        width = max(1e-3 * spread, np.nextafter(0.0, 1.0))
        sets, ties = datasets.binned(x, w, quantiles[3], width, ends, workspace, host_workspace)
        if not w.size:
            return sets, estimates, ties
        table = host_workspace.input("laws", np.zeros((1, LAW))).reshape(1, LAW)
        estimates, _ = datasets.starts_of(sets, table, workspace, host_workspace)
        if np.isfinite(estimates).all():
            return sets, estimates, ties
    return None, estimates, ties  # nothing to fit; the law says why


def joined(result: list[FitResults]) -> FitResults:
    """Join fits of one kind as if they came from one call."""
    arrays = (f for f in FitResults.__dataclass_fields__ if f not in _OF_ALL)
    joined = {f: np.concatenate([getattr(r, f) for r in result]) for f in arrays}
    timings = {k: sum(r.timings[k] for r in result) for k in result[0].timings}
    same = {f: getattr(result[0], f) for f in ("parameterization", "method", "fixed")}
    return FitResults(**joined, **same, timings=timings)


_OF_ALL = ("parameterization", "method", "fixed", "timings")
