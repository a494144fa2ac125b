"""Stable samples on the GPU."""

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._sampling import formulas


@kernel
def fill_samples(random_stream, right, left, sampler, loc, scale, out):
    """Draw a number of the distribution for each element of `out`."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        x, w = formulas.draw_variables(np.uint64(i), random_stream, loc)
        if sampler.near:
            out[i] = loc + scale * formulas.transform_to_s0(x, w, right, left, sampler)
        else:
            out[i] = loc + scale * formulas.transform_to_s1(x, w, right, left, sampler)


@kernel
def fill_samples_from(first, random_stream, right, left, sampler, loc, scale, out):
    """Fill a part of the samples: those from number `first` on.

    `fill_samples` counts from 0: it has no addition for each sample.
    """
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        x, w = formulas.draw_variables(first + np.uint64(i), random_stream, loc)
        if sampler.near:
            out[i] = loc + scale * formulas.transform_to_s0(x, w, right, left, sampler)
        else:
            out[i] = loc + scale * formulas.transform_to_s1(x, w, right, left, sampler)


def fill(random_stream, samplers, loc, scale, first, out, stream=0):
    """Fill `out` with loc + scale X, sample i from Philox block first + i of the stream."""
    real = np.dtype(out.dtype).type
    constants = (random_stream, *samplers, real(loc), real(scale))
    grid = launch.grid_stride_blocks(out.size)
    if first:
        arguments = (np.uint64(first), *constants, out)
        launch.launch(fill_samples_from, grid, launch.THREADS, stream, arguments)
    else:
        launch.launch(fill_samples, grid, launch.THREADS, stream, (*constants, out))
