"""Maximum likelihood for many data sets on the GPU: a block of threads fits one, from start to end.

All that a fit needs lies in the block's shared memory, so a launch fits all data sets. Where there
are few, a team of blocks fits one together: each does all of the work but for the sums over data,
of which it has a part; so only these sums are exchanged, and all blocks go the same way.
"""

import math

from numba import float64

from hetero.cuda import launch
from hetero.cuda.driver import SIMULATOR, cuda
from hetero.intrinsics.warp import LANES, warp_sum
from hetero.jit import kernel
from stablegpu._fit.likelihood.formulas import (
    ARRIVED,
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
from stablegpu._fit.likelihood.node_formulas import NODES, SERIES
from stablegpu._fit.optimizer import codes, slots
from stablegpu._fit.optimizer.ascent_formulas import advance, begin, reach_of
from stablegpu._fit.optimizer.state import size_of

THREADS = 128
"""Threads of a block, of which a multiprocessor runs three."""

THREADS_OF_TEAMS, TEAM = 384, 8
"""Threads of a block in a team, each on a multiprocessor of its own; largest number of blocks."""

_WARPS = THREADS_OF_TEAMS // 32
_STATE = slots.STATE  # Numba takes the size of a shared array from a global, not from a module
_AT_ONCE = 5  # sums
_SCAN_PARTS = slots.CANDIDATE_COUNT // _AT_ONCE
_PARTIAL = _AT_ONCE * _WARPS
_TOTALS = slots.SUMS + 1
_ROUND = slots.SUMS  # the last of them: how often the team has exchanged
_MEMORY = NODES + SERIES  # float64 of dynamic shared memory; a profile is shorter


@kernel(device=True)
def _total(value, k, partial):
    """Write the sum of a value over each warp to `partial`."""
    value = warp_sum(value)
    lane = cuda.threadIdx.x
    if lane % LANES == 0:
        partial[k * _WARPS + lane // LANES] = value


@kernel(device=True)
def _exchange(total, s, rank, team, sums, begins, meetings):
    """Return the sum of the blocks' totals, one for each of the first `_AT_ONCE` lanes.

    Parts of two rounds lie side by side: who is late still reads those of the last.
    """
    lane = cuda.threadIdx.x
    half = int(sums[_ROUND]) % 2
    if lane < _AT_ONCE:
        meetings[s, half, rank, lane] = total
        cuda.threadfence()
    cuda.syncthreads()
    if lane == 0:
        sums[_ROUND] += 1.0
        cuda.atomic.add(begins, (s, ARRIVED), 1.0)
        while cuda.atomic.add(begins, (s, ARRIVED), 0.0) < team * sums[_ROUND]:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    total = 0.0
    if lane < _AT_ONCE:
        for other in range(team):
            total += meetings[s, half, other, lane]
    return total


@kernel(launch_bounds=(THREADS_OF_TEAMS, 1))
def maximize_sets(data, ends, begins, free, table, team, meetings, states):
    """Run the ascent of each data set in one block of threads, or in a team of blocks.

    `data` holds the data and their weights.
    """
    x, weights = data
    memory = cuda.shared.array(0, float64)
    nodes, series, profile = memory[:NODES], memory[NODES:], memory
    distribution = cuda.shared.array(DISTRIBUTION_SIZE, float64)
    state = cuda.shared.array(_STATE, float64)
    partial = cuda.shared.array(_PARTIAL, float64)
    sums = cuda.shared.array(_TOTALS, float64)
    lane, lanes = cuda.threadIdx.x, cuda.blockDim.x
    weighted = weights.size > 0
    rank = cuda.blockIdx.x % team
    s = cuda.blockIdx.x // team
    while s < ends.shape[0]:
        first, last = ends[s, 0], ends[s, 1]
        cuda.syncthreads()
        if lane == 0:
            sums[_ROUND] = 0.0
            least = begins[s, LEAST_ALPHA]
            reach = reach_of(x[first], x[last - 1], last - first) / begins[s, UNITS + 1]
            begin(state, begins[s, 0], begins[s, 1], begins[s, 2], begins[s, 3], least, free, reach)
        cuda.syncthreads()
        while state[slots.PHASE] < codes.DONE:
            if lane == 0:
                choose_candidates(state, x[first:last], begins[s, UNITS], begins[s, UNITS + 1])
            cuda.syncthreads()
            if lane < 2:
                loc, scale = begins[s, UNITS], begins[s, UNITS + 1]
                prepare(state, loc, scale, x[first], x[last - 1], distribution, lane, 2)
            cuda.syncthreads()
            if lane < 4:
                find_node_ends(distribution, lane, 4)
            cuda.syncthreads()
            if lane == 0:
                allocate_nodes(distribution)
            cuda.syncthreads()
            build(distribution, nodes, profile, table, lane, lanes)
            cuda.syncthreads()
            block_moments(distribution, nodes, series, lane, lanes)
            cuda.syncthreads()
            running_moments(distribution, series, lane, lanes)
            cuda.syncthreads()
            to_units = math.exp(-state[slots.TRIAL + 3])
            log_scale = math.log(distribution[SCALE])
            scanning = state[slots.PHASE] >= codes.SCANNING
            # Five sums at a time: a thread has too few registers for more.
            first_time = state[slots.PHASE] == codes.FIRST
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
                            loc = state[slots.CANDIDATES + _AT_ONCE * part + k]
                            loc = begins[s, UNITS] + begins[s, UNITS + 1] * loc
                            f = weight * (
                                score_candidate(x[i], loc, distribution, nodes, series) - log_scale
                            )
                            s0 += f if k == 0 else 0.0
                            s1 += f if k == 1 else 0.0
                            s2 += f if k == 2 else 0.0
                            s3 += f if k == 3 else 0.0
                            s4 += f if k == 4 else 0.0
                        continue
                    f, a, b, c, d = score_observation(x[i], distribution, nodes, series, profile)
                    c *= to_units
                    f -= log_scale
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
                    total = _exchange(total, s, rank, team, sums, begins, meetings)
                if lane < _AT_ONCE:
                    sums[_AT_ONCE * part + lane] = total
                cuda.syncthreads()
            if lane == 0:
                advance(state, sums)
            cuda.syncthreads()
        if rank == 0:
            for k in range(lane, slots.RESULT, lanes):
                states[s, k] = state[k]
        s += cuda.gridDim.x // team


def _team(sets: int) -> int:
    """Return the number of blocks that fit a set.

    All of them must be resident, since they wait for one another.
    """
    return 1 if SIMULATOR else max(1, min(TEAM, launch.multiprocessors() // sets))


def maximize(x, weights, ends, begins, free, table, states, stream=0):
    """Write the results of the optimizer, one row per data set, to `states`."""
    sets = ends.shape[0]
    team = _team(sets)
    meetings = cuda.device_array((sets if team > 1 else 1, 2, team, _AT_ONCE), stream=stream)
    arguments = ((x, weights), ends, begins, free, table, team, meetings, states)
    threads = THREADS_OF_TEAMS if sets <= launch.multiprocessors() else THREADS
    items = threads * team * sets
    launch.launch_with_shared_memory(maximize_sets, arguments, 8 * _MEMORY, threads, items, stream)
