"""Maximum likelihood for many data sets on the CPU: each iteration of the loop fits one."""

from typing import NamedTuple

import numpy as np
from numba import prange

from hetero.arrays import Array
from hetero.cpu.interruptible import ranges as ranges_of
from hetero.jit import parallel, serial
from stablegpu._fit.likelihood import formulas, interval_formulas
from stablegpu._fit.likelihood.near_one_formulas import PROFILE, ROWS
from stablegpu._fit.likelihood.node_formulas import NODE_NUMBERS, SERIES_NUMBERS
from stablegpu._fit.likelihood.optimizer import codes
from stablegpu._fit.likelihood.optimizer.ascent_formulas import advance, begin
from stablegpu._fit.likelihood.optimizer.state import (
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


def _maximize_with(select, observe, observe_at, edges_of, range_of):
    """Compile the loop over data sets whose observations are points, or intervals."""

    @serial
    def evaluate(state, start, data, table, density, sums):
        """Compute log-likelihood, gradient and products of scores at the trial point.

        In a scan, the log-likelihoods at its candidates instead.
        """
        points, weights = data[0], data[1]
        distribution, nodes, series, profile = density.distribution[0], *density[1:]
        formulas.choose_candidates(state, start, points)
        lowest, highest = range_of(data, 0, 0, points.size)
        formulas.prepare(state, start, lowest, highest, distribution, 0, 1)
        formulas.find_node_ends(distribution, 0, 1)
        formulas.allocate_nodes(distribution)
        formulas.build(distribution, nodes, profile, table, 0, 1)
        formulas.block_moments(distribution, nodes, series, 0, 1)
        formulas.running_moments(distribution, series, 0, 1)
        sums[:] = 0.0
        to_units = np.exp(-state.trial[3]) * location_rate(state, state.trial)
        log_scale = np.log(distribution.scale)
        if state.phase >= codes.SCANNING:
            for i in range(points.size):
                weight = weights[i] if weights.size else 1.0
                for k in range(CANDIDATE_COUNT if weight != 0.0 else 0):
                    loc = start.unit_loc + start.unit_scale * state.candidates[k]
                    sums[k] += weight * (
                        observe_at(i, data, loc, distribution, nodes, series) - log_scale
                    )
            return
        for i in range(points.size):
            weight = weights[i] if weights.size else 1.0
            if weight == 0.0:
                continue
            value, a, b, c, d = observe(i, data, distribution, nodes, series, profile)
            scores = (a, b, c * to_units, d)
            sums[0] += weight * (value - log_scale)
            entry = 5
            for k in range(4):
                sums[1 + k] += weight * scores[k]
                for j in range(k + 1):  # truncations, too: the sum must be positive definite
                    sums[entry] += abs(weight) * scores[k] * scores[j]
                    entry += 1

    @serial
    def ascend(memory, start, data, free, table, density, sums, outcome):
        """Run the ascent of one data set; `memory` is an array of one state, all zeros."""
        state = memory[0]
        lowest, highest = edges_of(data, 0, 0, data[0].size)
        begin(state, start, lowest, highest, data[0].size, free)
        while state.phase < codes.DONE:
            evaluate(state, start, data, table, density, sums)
            advance(state, sums)
        write_outcome(state, outcome)

    @serial
    def fit_set(start, data, free, table, outcome):
        """Allocate what the ascent of one data set needs, and run it.

        A record does not keep its memory alive: the array is held here, the record is used in the
        call.
        """
        memory, sums = np.zeros(1, STATE), np.zeros(SUMS)
        density = _Density(
            np.zeros(1, formulas.DISTRIBUTION),
            np.zeros(NODE_NUMBERS),
            np.zeros(SERIES_NUMBERS),
            np.zeros(ROWS * PROFILE),
        )
        ascend(memory, start, data, free, table, density, sums, outcome)

    @parallel
    def maximize_sets(points, weights, bounds, ends, ranges, starts, free, table, outcomes):
        """Run the ascent of each data set in one iteration of the parallel loop."""
        for index in prange(ends.shape[0]):
            s = np.int64(index)
            first, last = ends[s, 0], ends[s, 1]
            own_weights = weights[first:last] if weights.size else weights
            data = select(points[first:last], own_weights, bounds, ranges, s, first, last)
            fit_set(starts[s], data, free, table, outcomes[s])

    return maximize_sets


@serial
def _points(points, weights, bounds, ranges, s, first, last):
    """Return what `observe_point` reads."""
    return points, weights


@serial
def _intervals(points, weights, bounds, ranges, s, first, last):
    """Return what `observe_interval` reads."""
    return points, weights, bounds[:, first:last], ranges[s : s + 1]


_maximize_points = _maximize_with(
    _points,
    formulas.observe_point,
    formulas.observe_point_at,
    formulas.edges_of_points,
    formulas.range_of_points,
)
_maximize_intervals = _maximize_with(
    _intervals,
    interval_formulas.observe_interval,
    interval_formulas.observe_interval_at,
    interval_formulas.edges_of_intervals,
    interval_formulas.range_of_intervals,
)


def maximize(observations, starts, free, table, outcomes, stream=0):
    """Fill `outcomes`, one for each data set."""
    points, weights, bounds, ends, ranges = observations
    starts, outcomes = starts.view(START), outcomes.view(OUTCOME)
    loop = _maximize_intervals if ranges.size else _maximize_points
    for a, b in ranges_of(len(ends), first=_FIRST):
        part = ranges[a:b]
        loop(points, weights, bounds, ends[a:b], part, starts[a:b], free, table, outcomes[a:b])
