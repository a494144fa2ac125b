"""The Ziggurat on the CPU: see the CUDA twin."""

from __future__ import annotations

import numpy as np
from numba import int64, prange, uint64

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel
from hetero.philox.formulas import words10
from rode._normals.cpu_chunks import counter
from rode._normals.ziggurat.formulas import draw_float32, draw_float64, shared_words

_FIRST = 1 << 20
"""Numbers of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""


@parallel
def _ziggurat_float32(begin, k0, k1, path, stream, table, out):
    """Fill `out` with float32 numbers from block number `begin` on."""
    n, strips = out.size, table.size - 1
    for b in prange((n + 3) // 4):
        block = counter(begin + uint64(b))
        four, choices = shared_words(block, path, stream, k0, k1, strips)
        for j in range(min(4, n - 4 * int64(b))):
            i = uint64(4) * block + uint64(j)
            number = draw_float32(i, four[j], four[j], choices[j], table, path, stream, k0, k1)
            out[4 * int64(b) + j] = number


@parallel
def _ziggurat_float64(begin, k0, k1, path, stream, table, out):
    """Fill `out` with float64 numbers from block number `begin` on."""
    n = out.size
    for b in prange((n + 1) // 2):
        block = counter(begin + uint64(b))
        four = words10(block, path, stream, k0, k1)
        for j in range(min(2, n - 2 * int64(b))):
            i = uint64(2) * block + uint64(j)
            high, low = four[2 * j], four[2 * j + 1]
            out[2 * int64(b) + j] = draw_float64(i, high, low, low, table, path, stream, k0, k1)


def fill(words, table, in_shared, out, launch_stream=0):
    """Fill `out`; `table` holds the strips' edges."""
    loop = _ziggurat_float32 if out.dtype == np.float32 else _ziggurat_float64
    constants = (*words.constants, table.astype(out.dtype))
    size = 16 // out.dtype.itemsize
    for a, b in ranges(out.size, first=_FIRST, multiple=size):
        loop(np.uint64(words.first + a // size), *constants, out[a:b])
