"""Maximum likelihood for many data sets on the GPU: a block of threads fits one, from start to end.

All that a fit needs lies in the block's shared memory, so a launch fits all data sets. Where there
are few, a team of blocks fits one together: each does all of the work but for the sums over data,
of which it has a part; so only these sums are exchanged, and all blocks go the same way.
"""

import math

import numpy as np
from numba import float64

from hetero.cuda import launch
from hetero.cuda.device_cache import small_scratch, zeros_in_scratch
from hetero.cuda.driver import SIMULATOR, cuda
from hetero.intrinsics.warp import LANES, warp_sum
from hetero.jit import kernel
from stablegpu._fit.likelihood import formulas, interval_formulas
from stablegpu._fit.likelihood.node_formulas import NODE_NUMBERS, SERIES_NUMBERS
from stablegpu._fit.likelihood.optimizer import codes
from stablegpu._fit.likelihood.optimizer.ascent_formulas import advance, begin
from stablegpu._fit.likelihood.optimizer.state import (
    CANDIDATE_COUNT,
    STATE,
    SUMS,
    location_rate,
    size_of,
    write_outcome,
)
from stablegpu._fit.records import OUTCOME, START

THREADS = 128
"""Threads of a block, of which a multiprocessor runs three."""

THREADS_OF_TEAMS, TEAM = 384, 8
"""Threads of a block in a team, each on a multiprocessor of its own; largest number of blocks."""

THREADS_OF_INTERVAL_TEAMS = 256
"""The same for intervals, whose integrals need more registers."""

_WARPS = THREADS_OF_TEAMS // 32
_STATE = STATE.itemsize // 8  # float64; Numba takes the size of a shared array from a global
_AT_ONCE = 5  # sums
_SCAN_PARTS = CANDIDATE_COUNT // _AT_ONCE
_PARTIAL = _AT_ONCE * _WARPS
_MEMORY = NODE_NUMBERS + SERIES_NUMBERS  # float64 of dynamic shared memory; a profile is shorter


@kernel(device=True)
def _total(value, k, partial):
    """Write the sum of a value over each warp to `partial`."""
    value = warp_sum(value)
    lane = cuda.threadIdx.x
    if lane % LANES == 0:
        partial[k * _WARPS + lane // LANES] = value


@kernel(device=True)
def build_with_all_threads(distribution, nodes, series, profile, table):
    """Build the nodes of a distribution whose parameters are set, between two barriers."""
    lane, lanes = cuda.threadIdx.x, cuda.blockDim.x
    cuda.syncthreads()
    if lane < 4:
        formulas.find_node_ends(distribution, lane, 4)
    cuda.syncthreads()
    if lane == 0:
        formulas.allocate_nodes(distribution)
    cuda.syncthreads()
    formulas.build(distribution, nodes, profile, table, lane, lanes)
    cuda.syncthreads()
    formulas.block_moments(distribution, nodes, series, lane, lanes)
    cuda.syncthreads()
    formulas.running_moments(distribution, series, lane, lanes)
    cuda.syncthreads()


@kernel(device=True)
def _exchange(total, s, rank, team, exchanges, arrivals, meetings):
    """Return the sum of the blocks' totals, one for each of the first `_AT_ONCE` lanes.

    `exchanges` is the number of those before this one, and `arrivals[s]` counts the blocks of the
    team that have come to any of them. Parts of two exchanges lie side by side: who is late still
    reads those of the last.
    """
    lane = cuda.threadIdx.x
    half = exchanges % 2
    if lane < _AT_ONCE:
        meetings[s, half, rank, lane] = total
        cuda.threadfence()
    cuda.syncthreads()
    if lane == 0:
        cuda.atomic.add(arrivals, s, 1)
        while cuda.atomic.add(arrivals, s, 0) < team * (exchanges + 1):
            pass
        cuda.threadfence()
    cuda.syncthreads()
    total = 0.0
    if lane < _AT_ONCE:
        for other in range(team):
            total += meetings[s, half, other, lane]
    return total


def _maximize_with(threads, observe, observe_at, edges_of, range_of):
    """Make the kernel for observations that are points, or intervals."""

    def maximize_sets(data, ends, starts, free, table, team, arrivals, meetings, outcomes):
        """Run the ascent of each data set in one block of threads, or in a team of blocks.

        `data` is that of `observe`. `starts` and `outcomes` are viewed as records.
        """
        x, weights = data[0], data[1]
        starts, outcomes = starts.view(START), outcomes.view(OUTCOME)
        memory = cuda.shared.array(0, float64)
        nodes, series, profile = memory[:NODE_NUMBERS], memory[NODE_NUMBERS:], memory
        distribution = cuda.shared.array(1, formulas.DISTRIBUTION)[0]
        state_memory = cuda.shared.array(_STATE, float64)
        state = state_memory.view(STATE)[0]
        partial = cuda.shared.array(_PARTIAL, float64)
        sums = cuda.shared.array(SUMS, float64)
        lane, lanes = cuda.threadIdx.x, cuda.blockDim.x
        weighted = weights.size > 0
        rank = cuda.blockIdx.x % team
        s = cuda.blockIdx.x // team
        while s < ends.shape[0]:
            first, last = ends[s, 0], ends[s, 1]
            exchanges = 0
            cuda.syncthreads()
            for k in range(lane, _STATE, lanes):
                state_memory[k] = 0.0
            cuda.syncthreads()
            if lane == 0:
                lowest, highest = edges_of(data, s, first, last)
                begin(state, starts[s], lowest, highest, last - first, free)
            cuda.syncthreads()
            while state.phase < codes.DONE:
                if lane == 0:
                    formulas.choose_candidates(state, starts[s], x[first:last])
                cuda.syncthreads()
                if lane < 2:
                    lowest, highest = range_of(data, s, first, last)
                    formulas.prepare(state, starts[s], lowest, highest, distribution, lane, 2)
                build_with_all_threads(distribution, nodes, series, profile, table)
                to_units = math.exp(-state.trial[3]) * location_rate(state, state.trial)
                log_scale = math.log(distribution.scale)
                scanning = state.phase >= codes.SCANNING
                # Five sums at a time: a thread has too few registers for more.
                first_time = state.phase == codes.FIRST
                parts = _SCAN_PARTS if scanning else (3 if first_time else 1)
                for part in range(parts):
                    s0 = s1 = s2 = s3 = s4 = 0.0
                    share = -(-(last - first) // team)
                    low = first + rank * share
                    for i in range(low + lane, min(low + share, last), lanes):
                        weight = weights[i] if weighted else 1.0
                        if weight == 0.0:
                            continue
                        if scanning:
                            # In a loop of unknown length, so that the density is compiled once.
                            for k in range(size_of(state) + 1):
                                loc = state.candidates[_AT_ONCE * part + k]
                                loc = starts[s].unit_loc + starts[s].unit_scale * loc
                                f = weight * (
                                    observe_at(i, data, loc, distribution, nodes, series)
                                    - log_scale
                                )
                                s0 += f if k == 0 else 0.0
                                s1 += f if k == 1 else 0.0
                                s2 += f if k == 2 else 0.0
                                s3 += f if k == 3 else 0.0
                                s4 += f if k == 4 else 0.0
                            continue
                        f, a, b, c, d = observe(i, data, distribution, nodes, series, profile)
                        c *= to_units
                        f -= log_scale
                        if part > 0:  # truncations, too: the sum must be positive definite
                            weight = abs(weight)
                        if part == 1:
                            f, a, b, c, d = a * a, b * a, b * b, c * a, c * b
                        elif part == 2:
                            f, a, b, c, d = c * c, d * a, d * b, d * c, d * d
                        s0 += weight * f
                        s1 += weight * a
                        s2 += weight * b
                        s3 += weight * c
                        s4 += weight * d
                    _total(s0, 0, partial)
                    _total(s1, 1, partial)
                    _total(s2, 2, partial)
                    _total(s3, 3, partial)
                    _total(s4, 4, partial)
                    cuda.syncthreads()
                    total = 0.0
                    if lane < _AT_ONCE:
                        for k in range(lanes // 32):
                            total += partial[lane * _WARPS + k]
                    if team > 1:
                        total = _exchange(total, s, rank, team, exchanges, arrivals, meetings)
                        exchanges += 1
                    if lane < _AT_ONCE:
                        sums[_AT_ONCE * part + lane] = total
                    cuda.syncthreads()
                if lane == 0:
                    advance(state, sums)
                cuda.syncthreads()
            if rank == 0 and lane == 0:
                write_outcome(state, outcomes[s])
            s += cuda.gridDim.x // team

    return kernel(launch_bounds=(threads, 1))(maximize_sets)


maximize_sets = _maximize_with(
    THREADS_OF_TEAMS,
    formulas.observe_point,
    formulas.observe_point_at,
    formulas.edges_of_points,
    formulas.range_of_points,
)
maximize_interval_sets = _maximize_with(
    THREADS_OF_INTERVAL_TEAMS,
    interval_formulas.observe_interval,
    interval_formulas.observe_interval_at,
    interval_formulas.edges_of_intervals,
    interval_formulas.range_of_intervals,
)


def _team(sets: int) -> int:
    """Return the number of blocks that fit a set.

    All of them must be resident, since they wait for one another.
    """
    return 1 if SIMULATOR else max(1, min(TEAM, launch.multiprocessors() // sets))


def maximize(observations, starts, free, table, outcomes, stream=0):
    """Fill `outcomes`, one for each data set."""
    points, weights, bounds, ends, ranges = observations
    sets = ends.shape[0]
    team = _team(sets)
    teams = sets if team > 1 else 1
    arrivals = zeros_in_scratch("arrivals of teams", teams, np.int64, stream)
    shape = (teams, 2, team, _AT_ONCE)
    meetings = small_scratch("meetings of teams", shape, np.float64, stream)
    is_interval = ranges.size > 0
    data = (points, weights, bounds, ranges) if is_interval else (points, weights)
    arguments = (data, ends, starts, free, table, team, arrivals, meetings, outcomes)
    of_teams = THREADS_OF_INTERVAL_TEAMS if is_interval else THREADS_OF_TEAMS
    threads = of_teams if sets <= launch.multiprocessors() else THREADS
    items = threads * team * sets
    kernel_ = maximize_interval_sets if is_interval else maximize_sets
    launch.launch_over(kernel_, items, arguments, stream, threads, 8 * _MEMORY)
