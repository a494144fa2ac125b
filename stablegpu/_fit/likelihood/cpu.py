"""Maximum likelihood for many data sets on the CPU: each iteration of the loop fits one."""

from typing import NamedTuple

import numpy as np
from numba import prange

from hetero.arrays import Array
from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, serial
from stablegpu._fit.likelihood.formulas import (
    DISTRIBUTION,
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
from stablegpu._fit.likelihood.node_formulas import NODE_NUMBERS, SERIES_NUMBERS
from stablegpu._fit.optimizer import codes
from stablegpu._fit.optimizer.ascent_formulas import advance, begin
from stablegpu._fit.optimizer.state import (
    CANDIDATE_COUNT,
    STATE,
    SUMS,
    location_rate,
    write_outcome,
)
from stablegpu._fit.records import OUTCOME, START

_FIRST = 32
"""Data sets of the first piece of a long loop (`interruptible.ranges`): a fit takes up to 30 ms."""


class _Density(NamedTuple):
    """Arrays that an evaluation fills to compute the density of its trial point."""

    distribution: Array  # one record
    nodes: Array
    series: Array
    profile: Array


@serial
def _evaluate(state, start, x, weights, table, density, sums):
    """Compute log-likelihood, gradient and products of scores at the trial point.

    In a scan, the log-likelihoods at its candidates instead. x is sorted.
    """
    distribution, nodes, series, profile = density.distribution[0], *density[1:]
    choose_candidates(state, start, x)
    prepare(state, start, x[0], x[-1], distribution, 0, 1)
    find_node_ends(distribution, 0, 1)
    allocate_nodes(distribution)
    build(distribution, nodes, profile, table, 0, 1)
    block_moments(distribution, nodes, series, 0, 1)
    running_moments(distribution, series, 0, 1)
    sums[:] = 0.0
    to_units = np.exp(-state.trial[3]) * location_rate(state, state.trial)
    log_scale = np.log(distribution.scale)
    if state.phase >= codes.SCANNING:
        for i in range(x.size):
            weight = weights[i] if weights.size else 1.0
            for k in range(CANDIDATE_COUNT if weight > 0.0 else 0):
                loc = start.unit_loc + start.unit_scale * state.candidates[k]
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


@serial
def _ascend(memory, start, x, weights, free, table, density, sums, outcome):
    """Run the ascent of one data set; `memory` is an array of one state, all zeros."""
    state = memory[0]
    begin(state, start, x[0], x[-1], x.size, free)
    while state.phase < codes.DONE:
        _evaluate(state, start, x, weights, table, density, sums)
        advance(state, sums)
    write_outcome(state, outcome)


@serial
def _fit_set(start, x, weights, free, table, outcome):
    """Allocate what the ascent of one data set needs, and run it.

    A record does not keep its memory alive: the array is held here, the record is used in the call.
    """
    memory, sums = np.zeros(1, STATE), np.zeros(SUMS)
    density = _Density(
        np.zeros(1, DISTRIBUTION),
        np.zeros(NODE_NUMBERS),
        np.zeros(SERIES_NUMBERS),
        np.zeros(ROWS * PROFILE),
    )
    _ascend(memory, start, x, weights, free, table, density, sums, outcome)


@parallel
def _maximize(x, weights, ends, starts, free, table, outcomes):
    """Run the ascent of each data set in one iteration of the parallel loop."""
    for index in prange(ends.shape[0]):
        s = np.int64(index)
        first, last = ends[s, 0], ends[s, 1]
        data_weights = weights[first:last] if weights.size else weights
        _fit_set(starts[s], x[first:last], data_weights, free, table, outcomes[s])


def maximize(x, weights, ends, starts, free, table, outcomes, stream=0):
    """Fill `outcomes`, one for each data set."""
    starts, outcomes = starts.view(START), outcomes.view(OUTCOME)
    for a, b in ranges(len(ends), first=_FIRST):
        _maximize(x, weights, ends[a:b], starts[a:b], free, table, outcomes[a:b])
