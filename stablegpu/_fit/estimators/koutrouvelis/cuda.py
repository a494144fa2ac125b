"""Sums of the empirical characteristic function, and the regression, on the GPU.

A block of threads takes a part of a set, neighbouring threads the points t of one datum; then a
thread does the regression of a set.
"""

from numba import float64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._fit.estimators.koutrouvelis.formulas import (
    POINTS,
    SCRATCH,
    SUMS,
    origin,
    point,
    wave,
)
from stablegpu._fit.estimators.koutrouvelis.formulas import regress as regress_set

THREADS = 128
THREADS_OF_REGRESSIONS = 64
_GROUPS = THREADS // POINTS


@kernel
def add_sets(x, starts, stops, estimates, parts, sums):
    """Add up cosines and sines; a block of threads for each part of a data set."""
    memory = cuda.shared.array((_GROUPS, SUMS), float64)
    k, group = cuda.threadIdx.x % POINTS, cuda.threadIdx.x // POINTS
    for index in range(cuda.blockIdx.x, starts.size * parts, cuda.gridDim.x):
        s, part = index // parts, index % parts
        count = stops[s] - starts[s]
        low, high = starts[s] + part * count // parts, starts[s] + (part + 1) * count // parts
        scale, t = estimates[s, 3], point(k, estimates[s, 0])
        centre = origin(estimates[s, 0], estimates[s, 1], estimates[s, 2], scale)
        real = imaginary = 0.0
        for i in range(low + group, high, _GROUPS):
            cosine, sine = wave(t * ((x[i] - centre) / scale))
            real += cosine
            imaginary += sine
        cuda.syncthreads()
        memory[group, k], memory[group, POINTS + k] = real, imaginary
        cuda.syncthreads()
        if cuda.threadIdx.x < SUMS:
            total = 0.0
            for g in range(_GROUPS):
                total += memory[g, cuda.threadIdx.x]
            sums[index, cuda.threadIdx.x] = total


@kernel
def regress_sets(starts, stops, parts, sums, estimates, is_last):
    """Improve the estimate of each data set by both regressions."""
    scratch = cuda.local.array(SCRATCH, float64)
    for s in range(cuda.grid(1), starts.size, cuda.gridsize(1)):
        for part in range(1, parts):
            for k in range(SUMS):
                sums[s * parts, k] += sums[s * parts + part, k]
        estimate = regress_set(
            (estimates[s, 0], estimates[s, 1], estimates[s, 2], estimates[s, 3]),
            *(sums[s * parts], float64(stops[s] - starts[s]), scratch, is_last),
        )
        estimates[s, 0], estimates[s, 1], estimates[s, 2], estimates[s, 3] = estimate


def add_up(x, starts, stops, parts, sums, estimates, stream=0):
    """Write the sums of the empirical characteristic function of each part of each set."""
    grid = launch.grid_stride_blocks(THREADS * starts.size * parts, THREADS)
    launch.launch(add_sets, grid, THREADS, stream, (x, starts, stops, estimates, parts, sums))


def regress(starts, stops, parts, sums, estimates, is_last, stream=0):
    """Compute new estimates from the last ones and the sums of their sets."""
    grid = launch.blocks_for(starts.size, THREADS_OF_REGRESSIONS)
    arguments = (starts, stops, parts, sums, estimates, is_last)
    launch.launch(regress_sets, grid, THREADS_OF_REGRESSIONS, stream, arguments)
