"""Stable samples on the CPU."""

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, serial
from stablegpu._sampling import formulas

CHUNK = 1024

_FIRST = 1 << 20
"""Samples of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""


@serial
def _fill_chunk(begin, random_stream, right, left, sampler, loc, scale, out):
    """Fill a chunk by plain loops without branches, which the compiler vectorizes."""
    x, w = np.empty_like(out), np.empty_like(out)
    for i in range(out.size):
        x[i], w[i] = formulas.draw_variables(begin + np.uint64(i), random_stream, loc)
    if sampler.near:
        for i in range(out.size):
            out[i] = loc + scale * formulas.transform_to_s0(x[i], w[i], right, left, sampler)
    else:
        for i in range(out.size):
            out[i] = loc + scale * formulas.transform_to_s1(x[i], w[i], right, left, sampler)


@parallel
def _fill(first, random_stream, right, left, sampler, loc, scale, out):
    for chunk in prange((out.size + CHUNK - 1) // CHUNK):
        begin = np.int64(chunk) * CHUNK  # prange counts in uint64
        part = out[begin : min(begin + CHUNK, out.size)]
        block = first + np.uint64(begin)
        _fill_chunk(block, random_stream, right, left, sampler, loc, scale, part)


def fill(random_stream, samplers, loc, scale, first, out, stream=0):
    """Fill `out` with loc + scale X, sample i from Philox block first + i of the stream."""
    real = out.dtype.type
    constants = (random_stream, *samplers, real(loc), real(scale))
    if out.size <= CHUNK:  # waking threads costs more
        _fill_chunk(np.uint64(first), *constants, out)
    else:
        for a, b in ranges(out.size, first=_FIRST, multiple=CHUNK):
            _fill(np.uint64(first + a), *constants, out[a:b])
