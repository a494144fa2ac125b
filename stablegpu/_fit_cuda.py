"""Maximum likelihood for many data sets on the GPU: a block of threads fits one, from start to end.

All that a fit needs lies in the block's shared memory, so a launch fits all data sets.
"""

import math

from numba import float64

from hetero import launch
from hetero._driver import cuda
from hetero.jit import kernel
from stablegpu._fit_law_math import BLOCKS, NODES, SERIES
from stablegpu._fit_likelihood_math import (
    LAW,
    SCALE,
    build,
    link,
    look_around,
    observe,
    observe_place,
    prepare,
    sum_up,
)
from stablegpu._fit_optimum_math import (
    DONE,
    FIRST,
    PHASE,
    SCANNING,
    STATE,
    SUMS,
    TRIAL,
    advance,
    begin,
)

THREADS = 128
_WARPS = THREADS // 32
_ALL = 0xFFFFFFFF
_AT_ONCE = 5  # sums
_PARTIAL = _AT_ONCE * _WARPS
_MEMORY = NODES + SERIES * BLOCKS  # float64 of dynamic shared memory; a profile is shorter


@kernel(device=True)
def _total(value, k, partial):
    """The sum of a value over each warp, to `partial`."""
    for shift in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(_ALL, value, shift)
    lane = cuda.threadIdx.x
    if lane % 32 == 0:
        partial[k * _WARPS + lane // 32] = value


@kernel(launch_bounds=(THREADS, 3))
def maximize_sets(x, weights, firsts, lasts, initial, units, free, table, states):
    memory = cuda.shared.array(0, float64)
    nodes, series, profile = memory[:NODES], memory[NODES:], memory
    law = cuda.shared.array(LAW, float64)
    m = cuda.shared.array(STATE, float64)
    partial = cuda.shared.array(_PARTIAL, float64)
    sums = cuda.shared.array(SUMS, float64)
    lane = cuda.threadIdx.x
    weighted = weights.size > 0
    for s in range(cuda.blockIdx.x, firsts.size, cuda.gridDim.x):
        first, last = firsts[s], lasts[s]
        loc, scale = units[s, 0], units[s, 1]
        cuda.syncthreads()
        if lane == 0:
            begin(m, initial[s, 0], initial[s, 1], initial[s, 2], initial[s, 3], free)
        cuda.syncthreads()
        while m[PHASE] < DONE:
            if lane == 0:
                look_around(m, x[first:last], loc, scale)
                prepare(m, loc, scale, x[first], x[last - 1], law)
            cuda.syncthreads()
            build(law, nodes, profile, table, lane, THREADS)
            cuda.syncthreads()
            sum_up(law, nodes, series, lane, THREADS)
            cuda.syncthreads()
            link(law, series, lane, THREADS)
            cuda.syncthreads()
            to_units = math.exp(-m[TRIAL + 3])
            log_scale = math.log(law[SCALE])
            scanning = m[PHASE] >= SCANNING
            # Five sums at a time: fifteen take more registers than there are.
            for part in range(3 if m[PHASE] == FIRST else 1):
                s0 = s1 = s2 = s3 = s4 = 0.0
                for i in range(first + lane, last, THREADS):
                    weight = weights[i] if weighted else 1.0
                    if weight == 0.0:
                        continue
                    if scanning:
                        s0 += weight * (observe_place(x[i], law, nodes, series) - log_scale)
                        continue
                    f, a, b, c, d = observe(x[i], law, nodes, series, profile)
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
                if lane < _AT_ONCE:
                    total = 0.0
                    for k in range(_WARPS):
                        total += partial[lane * _WARPS + k]
                    sums[_AT_ONCE * part + lane] = total
                cuda.syncthreads()
            if lane == 0:
                advance(m, sums)
            cuda.syncthreads()
        for k in range(lane, STATE, THREADS):
            states[s, k] = m[k]


def maximize(x, weights, firsts, lasts, initial, units, free, table, states, stream=0):
    """The final states of the optimiser, one row a data set.

    Set s is x[firsts[s]:lasts[s]], sorted. `units`: S0 location and scale by which it is measured;
    `initial`: alpha, beta, and the location and logarithm of the scale in these units; `free`:
    bits of what may move.
    """
    arguments = (x, weights, firsts, lasts, initial, units, free, table, states)
    launch.with_shared_memory(
        maximize_sets, arguments, 8 * _MEMORY, THREADS, THREADS * firsts.size, stream
    )
