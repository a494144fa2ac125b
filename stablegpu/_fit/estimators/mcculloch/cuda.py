"""Sorted data sets and McCulloch's estimates on the GPU: a block sorts a set in shared memory."""

import numpy as np
from numba import float64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._fit.estimators.mcculloch.formulas import TIES, TOTAL, start_of, weight_of_equals

_THREADS = 256
_THREADS_OF_STARTS = 64


@kernel(launch_bounds=(_THREADS, 4))
def sort_sets(data, weights, sources, ends, x, w, estimates):
    """Sort each set by Batcher's bitonic network: only the exchange depends on the data."""
    memory = cuda.shared.array(0, float64)
    most = cuda.shared.array(2, float64)
    lane, weighted = cuda.threadIdx.x, weights.size > 0
    for s in range(cuda.blockIdx.x, ends.shape[0], cuda.gridDim.x):
        start, first, count = sources[s, 0], ends[s, 0], ends[s, 1] - ends[s, 0]
        size = 1
        while size < count:
            size *= 2
        for i in range(lane, size, cuda.blockDim.x):
            value = data[start + i] if i < count else np.inf
            memory[i] = (
                value if value == value else np.inf
            )  # NaN does not sort; both are rejected later
            if weighted:
                memory[size + i] = weights[start + i] if i < count else 0.0
        cuda.syncthreads()
        length = 2
        while length <= size:
            step = length // 2
            while step > 0:
                for pair in range(lane, size // 2, cuda.blockDim.x):
                    i = 2 * step * (pair // step) + pair % step
                    j = i + step
                    a, b = memory[i], memory[j]
                    if (a > b) == ((i & length) == 0):
                        memory[i], memory[j] = b, a
                        if weighted:
                            a, b = memory[size + i], memory[size + j]
                            memory[size + i], memory[size + j] = b, a
                cuda.syncthreads()
                step //= 2
            length *= 2
        for i in range(lane, count, cuda.blockDim.x):
            x[first + i] = memory[i]
            if weighted:
                w[first + i] = memory[size + i]
        if lane == 0:
            most[0] = 0.0 if weighted else 1.0
            most[1] = 0.0 if weighted else count
        cuda.syncthreads()
        for i in range(lane, count, cuda.blockDim.x):
            equal = weight_of_equals(memory, memory, size, weighted, i, count)
            if weighted:
                cuda.atomic.add(most, 1, equal)
            if equal > 1.0 or weighted:
                cuda.atomic.max(most, 0, equal)
        cuda.syncthreads()
        if lane == 0:
            estimates[s, TIES], estimates[s, TOTAL] = most[0], most[1]
        cuda.syncthreads()


@kernel
def start_sets(x, w, ends, surfaces, estimates):
    """Compute McCulloch's estimate of each data set."""
    for s in range(cuda.grid(1), ends.shape[0], cuda.gridsize(1)):
        estimates[s, 0], estimates[s, 1], estimates[s, 2], estimates[s, 3] = start_of(
            x, w, ends[s, 0], ends[s, 1], surfaces
        )


def sort(unsorted, sources, ends, longest, in_order, estimates, stream=0):
    """Write set s, which starts at data[sources[s, 0]], sorted to x[ends[s, 0]:ends[s, 1]]."""
    arguments = (*unsorted, sources, ends, *in_order, estimates)
    size = 8 * (1 << (longest - 1).bit_length()) * (2 if unsorted[1].size else 1)
    launch.launch_over(sort_sets, _THREADS * ends.shape[0], arguments, stream, _THREADS, size)


def start(x, w, ends, surfaces, estimates, stream=0):
    """Write alpha, beta, S0 location and scale of each sorted set x[ends[s, 0]:ends[s, 1]]."""
    grid = launch.blocks_for(ends.shape[0], _THREADS_OF_STARTS)
    arguments = (x, w, ends, surfaces, estimates)
    launch.launch(start_sets, grid, _THREADS_OF_STARTS, stream, arguments)
