"""Stable samples on the GPU."""

import numpy as np

from hetero import launch
from hetero._driver import cuda
from hetero.jit import kernel
from stablegpu._sample_math import sample


@kernel
def fill_samples(k0, k1, path, number, rounds, sampler, loc, scale, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = loc + scale * sample(np.uint64(i), path, number, k0, k1, rounds, sampler)


def fill(key, path, number, rounds, sampler, loc, scale, out, stream=0):
    """Fill `out` with loc + scale X, sample i from Philox block i of the stream `number`."""
    grid = launch.strided(out.size)
    fill_samples[grid, launch.THREADS, stream](
        *key, np.uint32(path), np.uint32(number), rounds, sampler, loc, scale, out
    )
