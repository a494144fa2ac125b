"""Residuals and log-likelihoods of linear models on the GPU: a block of threads for each model."""

import math

import numpy as np
from numba import float64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.intrinsics.warp import LANES, warp_sum
from hetero.jit import kernel
from stablegpu._fit.likelihood.cuda import build_with_all_threads
from stablegpu._fit.likelihood.formulas import (
    DISTRIBUTION,
    score_observation,
    set_distribution,
)
from stablegpu._fit.likelihood.node_formulas import NODE_NUMBERS, SERIES_NUMBERS

THREADS = 128
"""Threads of a block, of which a multiprocessor runs three."""

_WARPS = THREADS // LANES
_SUMS = 5  # the log-likelihood and its derivatives by the four parameters of the errors
_PARTIAL = _SUMS * _WARPS
_MEMORY = NODE_NUMBERS + SERIES_NUMBERS  # float64 of dynamic shared memory; a profile is shorter


@kernel
def subtract_models(x, y, which, theta, residuals):
    """Write the residuals of each model, a thread for each observation."""
    size = residuals.shape[1]
    for item in range(cuda.grid(1), which.size * size, cuda.gridsize(1)):
        m, i = item // size, item % size
        model = which[m]
        row = model if x.shape[0] > 1 else 0
        value = y[model, i]
        for j in range(x.shape[1]):
            value -= theta[m, 4 + j] * x[row, j, i]
        residuals[m, i] = value


@kernel(launch_bounds=(THREADS, 1))
def score_models(x, residuals, which, theta, table, outcomes):
    """Sum log pdf and its derivatives over the residuals of each model, a block for each."""
    memory = cuda.shared.array(0, float64)
    nodes, series, profile = memory[:NODE_NUMBERS], memory[NODE_NUMBERS:], memory
    distribution = cuda.shared.array(1, DISTRIBUTION)[0]
    partial = cuda.shared.array(_PARTIAL, float64)
    ends = cuda.shared.array((2, THREADS), float64)
    lane, lanes, size = cuda.threadIdx.x, cuda.blockDim.x, residuals.shape[1]
    warp = lane // LANES
    m = cuda.blockIdx.x
    while m < which.size:
        cuda.syncthreads()
        low, high = np.inf, -np.inf
        for i in range(lane, size, lanes):
            low, high = min(low, residuals[m, i]), max(high, residuals[m, i])
        ends[0, lane], ends[1, lane] = low, high
        cuda.syncthreads()
        loc, log_scale = theta[m, 2], theta[m, 3]
        scale = math.exp(log_scale)
        if lane < 2:
            for k in range(lanes):
                low, high = min(low, ends[0, k]), max(high, ends[1, k])
            parameters = theta[m, 0], theta[m, 1], loc, scale
            set_distribution(distribution, parameters, False, (low - loc, high - loc), lane, 2)
        build_with_all_threads(distribution, nodes, series, profile, table)
        s0 = s1 = s2 = s3 = s4 = 0.0
        for i in range(lane, size, lanes):
            f, a, b, c, d = score_observation(residuals[m, i], distribution, nodes, series, profile)
            c /= scale
            residuals[m, i] = c
            s0 += f - log_scale
            s1 += a
            s2 += b
            s3 += c
            s4 += d
        s0, s1, s2, s3, s4 = warp_sum(s0), warp_sum(s1), warp_sum(s2), warp_sum(s3), warp_sum(s4)
        if lane % LANES == 0:
            partial[warp], partial[_WARPS + warp] = s0, s1
            partial[2 * _WARPS + warp], partial[3 * _WARPS + warp] = s2, s3
            partial[4 * _WARPS + warp] = s4
        cuda.syncthreads()  # the scores are written, too
        if lane < _SUMS:
            total = 0.0
            for k in range(_WARPS):
                total += partial[lane * _WARPS + k]
            outcomes[m, lane] = total
        row = which[m] if x.shape[0] > 1 else 0
        for first in range(0, x.shape[1], _WARPS):
            j, total = first + warp, 0.0
            for i in range(lane % LANES, size if j < x.shape[1] else 0, LANES):
                total += residuals[m, i] * x[row, j, i]
            total = warp_sum(total)  # in the simulator all warps must call it
            if lane % LANES == 0 and j < x.shape[1]:
                outcomes[m, _SUMS + j] = total
        m += cuda.gridDim.x


def subtract(x, y, which, theta, residuals, stream=0):
    """Write the residuals y - X b."""
    blocks = launch.grid_stride_blocks(which.size * residuals.shape[1])
    launch.launch(subtract_models, blocks, launch.THREADS, stream, (x, y, which, theta, residuals))


def score(x, residuals, which, theta, table, outcomes, stream=0):
    """Write log-likelihoods and gradients by theta; scores of the location overwrite residuals."""
    arguments = (x, residuals, which, theta, table, outcomes)
    items = THREADS * which.size
    launch.launch_over(score_models, items, arguments, stream, THREADS, 8 * _MEMORY)
