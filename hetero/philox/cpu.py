"""Fills of random words and uniforms on the CPU."""

import numpy as np
from numba import prange

from hetero.jit import parallel
from hetero.philox.formulas import unit_float32, unit_float64, words


@parallel
def _fill_words(k0, k1, path, stream, rounds, out):
    n = out.size
    for i in prange((n + 3) // 4):
        b = np.int64(i)  # prange counts in uint64
        four = words(np.uint64(b), path, stream, k0, k1, rounds)
        for j in range(min(4, n - 4 * b)):
            out[4 * b + j] = four[j]


@parallel
def _fill_float64(k0, k1, path, stream, rounds, out):
    n = out.size
    for i in prange((n + 1) // 2):
        b = np.int64(i)
        a0, a1, b0, b1 = words(np.uint64(b), path, stream, k0, k1, rounds)
        out[2 * b] = unit_float64(a0, a1)
        if 2 * b + 1 < n:
            out[2 * b + 1] = unit_float64(b0, b1)


@parallel
def _fill_float32(k0, k1, path, stream, rounds, out):
    n = out.size
    for i in prange((n + 3) // 4):
        b = np.int64(i)  # prange counts in uint64
        four = words(np.uint64(b), path, stream, k0, k1, rounds)
        for j in range(min(4, n - 4 * b)):
            out[4 * b + j] = unit_float32(four[j])


_FILLS = {"uint32": _fill_words, "float64": _fill_float64, "float32": _fill_float32}


def fill(key, path, stream, rounds, out, launch_stream=0):
    """Fill `out` (uint32: words; floats: uniforms in (0, 1)) from block 0 on."""
    _FILLS[out.dtype.name](*key, np.uint32(path), np.uint32(stream), rounds, out)
