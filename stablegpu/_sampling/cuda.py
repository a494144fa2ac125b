"""Stable samples on the GPU."""

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._sampling.formulas import RandomStream, centred, variables, weron


@kernel
def fill_samples(random_stream, right, left, sampler, loc, scale, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        x, w = variables(np.uint64(i), random_stream, loc)
        if sampler.near:
            out[i] = loc + scale * centred(x, w, right, left, sampler)
        else:
            out[i] = loc + scale * weron(x, w, right, left, sampler)


def fill(key, path, number, samplers, loc, scale, out, stream=0):
    """Fill `out` with loc + scale X, sample i from Philox block i of the stream `number`."""
    real = np.dtype(out.dtype).type
    random_stream = RandomStream(np.uint32(path), np.uint32(number), *key)
    fill_samples[launch.grid_stride_blocks(out.size), launch.THREADS, stream](
        random_stream, *samplers, real(loc), real(scale), out
    )
