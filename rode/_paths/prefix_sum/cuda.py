"""Prefix sum of (Riesinger 2017) on the GPU: sweeps in shared memory, and fix-up."""

from __future__ import annotations

import numpy as np
from numba import int64

from hetero.cuda import launch
from hetero.cuda.device_cache import resident
from hetero.cuda.driver import cuda
from hetero.jit import kernel

THREADS = 128
SWEEP = 1024
"""Elements that a block sweeps in shared memory."""

HALF = SWEEP // 2
"""Threads of a block that sweeps: each has two elements."""


@kernel
def sweep_blocks(noise, powers, sigma, totals, out):
    """Sweep each SWEEP elements from 0; powers[d] is mu^(2^d).

    These are algorithms 7 and 8 of (Riesinger 2017) with their indices mended.
    """
    x = cuda.shared.array(SWEEP, noise.dtype)
    t, base = int64(cuda.threadIdx.x), int64(cuda.blockIdx.x) * SWEEP
    for i in (t, t + HALF):
        x[i] = sigma * noise[base + i] if base + i < noise.size else sigma - sigma
    cuda.syncthreads()
    width, d = 1, 0
    while width < SWEEP:  # up: the left summand's weight is mu^width
        i = (2 * t + 2) * width - 1
        if i < SWEEP:
            x[i] += powers[d] * x[i - width]
        cuda.syncthreads()
        width, d = 2 * width, d + 1
    while width > 1:
        width, d = width // 2, d - 1
        i = (2 * t + 3) * width - 1
        if i < SWEEP:
            x[i] += powers[d] * x[i - width]
        cuda.syncthreads()
    for i in (t, t + HALF):
        if base + i < out.size:
            out[base + i] = x[i]
    if t == 0:
        totals[int64(cuda.blockIdx.x)] = x[SWEEP - 1]


@kernel
def fix_blocks(out, values, weights, start):
    """Add to element p of a block mu^(p + 1) times the value before the block."""
    block = int64(cuda.blockIdx.x)
    before = start if block == 0 else values[block - 1]
    for p in range(cuda.threadIdx.x, SWEEP, cuda.blockDim.x):
        if block * SWEEP + p < out.size:
            out[block * SWEEP + p] += weights[p] * before


def fill(powers, weights, sigma, start, noise, out, stream=0):
    """Fill `out` with the path of `noise` from `start` by three kernels."""
    dtype = np.dtype(out.dtype)
    blocks = launch.blocks_for(out.size, SWEEP)
    totals = cuda.device_array(blocks, dtype, stream=stream)
    arguments = (noise, resident(powers[0]), dtype.type(sigma), totals, out)
    launch.launch(sweep_blocks, blocks, HALF, stream, arguments)
    values = totals
    if blocks > 1:
        values = cuda.device_array(blocks, dtype, stream=stream)
        fill(powers[1:], weights[1:], 1.0, start, totals, values, stream)
    arguments = (out, values, resident(weights[0]), dtype.type(start))
    launch.launch(fix_blocks, blocks, THREADS, stream, arguments)
