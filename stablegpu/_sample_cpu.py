"""Stable samples on the CPU."""

import numpy as np
from numba import prange

from hetero.jit import parallel
from stablegpu._sample_math import sample


@parallel
def _fill(k0, k1, path, number, rounds, sampler, loc, scale, out):
    for i in prange(out.size):
        out[i] = loc + scale * sample(np.uint64(i), path, number, k0, k1, rounds, sampler)


def fill(key, path, number, rounds, sampler, loc, scale, out, stream=0):
    """Fill `out` with loc + scale X, sample i from Philox block i of the stream `number`."""
    _fill(*key, np.uint32(path), np.uint32(number), rounds, sampler, loc, scale, out)
