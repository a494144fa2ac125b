"""Maximum likelihood for many data sets on the CPU: each iteration of the loop fits one."""

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, serial
from stablegpu._fit.likelihood.formulas import (
    DISTRIBUTION_SIZE,
    LEAST_ALPHA,
    SCALE,
    UNITS,
    allocate_nodes,
    block_moments,
    build,
    choose_candidates,
    find_node_ends,
    prepare,
    running_moments,
    score_candidate,
    score_observation,
)
from stablegpu._fit.likelihood.near_one_formulas import PROFILE, ROWS
from stablegpu._fit.likelihood.node_formulas import NODES, SERIES
from stablegpu._fit.optimizer import codes, slots
from stablegpu._fit.optimizer.ascent_formulas import advance, begin, reach_of

_FIRST = 32
"""Data sets of the first piece of a long loop (`interruptible.ranges`): a fit takes up to 30 ms."""


class _Density(NamedTuple):
    """Arrays that an evaluation fills to compute the density of its trial point."""

    distribution: Any  # constants; see `_fit/likelihood/formulas.py`
    nodes: Any
    series: Any
    profile: Any


@serial
def _evaluate(state, x, weights, units, table, density, sums):
    """Compute log-likelihood, gradient and products of scores at the trial point.

    In a scan, the log-likelihoods at its candidates instead. x is sorted; `units` are the location
    and the scale that the state is relative to.
    """
    unit_loc, unit_scale = units
    distribution, nodes, series, profile = density
    choose_candidates(state, x, unit_loc, unit_scale)
    prepare(state, unit_loc, unit_scale, x[0], x[-1], distribution, 0, 1)
    find_node_ends(distribution, 0, 1)
    allocate_nodes(distribution)
    build(distribution, nodes, profile, table, 0, 1)
    block_moments(distribution, nodes, series, 0, 1)
    running_moments(distribution, series, 0, 1)
    sums[:] = 0.0
    to_units = np.exp(-state[slots.TRIAL + 3])
    log_scale = np.log(distribution[SCALE])
    if state[slots.PHASE] >= codes.SCANNING:
        for i in range(x.size):
            weight = weights[i] if weights.size else 1.0
            for k in range(slots.CANDIDATE_COUNT if weight > 0.0 else 0):
                loc = unit_loc + unit_scale * state[slots.CANDIDATES + k]
                sums[k] += weight * (
                    score_candidate(x[i], loc, distribution, nodes, series) - log_scale
                )
        return
    for i in range(x.size):
        weight = weights[i] if weights.size else 1.0
        if weight == 0.0:
            continue
        value, a, b, c, d = score_observation(x[i], distribution, nodes, series, profile)
        scores = (a, b, c * to_units, d)
        sums[0] += weight * (value - log_scale)
        entry = 5
        for k in range(4):
            sums[1 + k] += weight * scores[k]
            for j in range(k + 1):
                sums[entry] += weight * scores[k] * scores[j]
                entry += 1


@parallel
def _maximize(x, weights, ends, begins, free, table, states):
    """Run the ascent of each data set in one iteration of the parallel loop."""
    for index in prange(ends.shape[0]):
        s = np.int64(index)
        first, last = ends[s, 0], ends[s, 1]
        data = x[first:last]
        data_weights = weights[first:last] if weights.size else weights
        density = _Density(
            np.zeros(DISTRIBUTION_SIZE), np.zeros(NODES), np.zeros(SERIES), np.zeros(ROWS * PROFILE)
        )
        state, sums = np.zeros(slots.STATE), np.zeros(slots.SUMS)
        units = begins[s, UNITS], begins[s, UNITS + 1]
        least, reach = begins[s, LEAST_ALPHA], reach_of(data[0], data[-1], data.size) / units[1]
        begin(state, begins[s, 0], begins[s, 1], begins[s, 2], begins[s, 3], least, free, reach)
        while state[slots.PHASE] < codes.DONE:
            _evaluate(state, data, data_weights, units, table, density, sums)
            advance(state, sums)
        states[s, : slots.RESULT] = state[: slots.RESULT]


def maximize(x, weights, ends, begins, free, table, states, stream=0):
    """Write the results of the optimizer, one row per data set, to `states`."""
    for a, b in ranges(len(ends), first=_FIRST):
        _maximize(x, weights, ends[a:b], begins[a:b], free, table, states[a:b])
