"""Fills of normal numbers on the CPU, each block of words made into numbers."""

from __future__ import annotations

import numpy as np
from numba import int64, prange, uint64

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel
from rode._normals.cpu_chunks import chunk_of, counter
from rode._normals.draws import DRAWS
from rode._normals.launches import BLOCKS, split_into_launches

CHUNK = 512
"""Blocks of words that a stage works on at once: they stay in the first-level cache."""

_FIRST = 1 << 21
"""Numbers of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""


def _make_fill(draw, size):
    """Make the loop that fills an array with numbers, `size` of each block of words."""
    chunk = chunk_of(draw, size)

    @parallel
    def fill_direct(begin, k0, k1, path, stream, sigma, out):
        blocks = (out.size + size - 1) // size
        for c in prange((blocks + CHUNK - 1) // CHUNK):
            first = int64(c) * CHUNK
            count = min(CHUNK, blocks - first)
            four, part = np.empty((4, count), np.uint32), np.empty((size, count), out.dtype)
            chunk(counter(begin + uint64(first)), k0, k1, path, stream, sigma, four, part)
            whole = min(count, (out.size - first * size) // size)
            for l in range(whole):
                for j in range(size):
                    out[(first + l) * size + j] = part[j, l]
            for i in range((first + whole) * size, min(out.size, (first + count) * size)):
                out[i] = part[i - (first + whole) * size, whole]

    return fill_direct


_DIRECT = {
    which: _make_fill(draw, 16 // np.dtype(which[1]).itemsize) for which, draw in DRAWS.items()
}


def fill(method, words, out, launch_stream=0, threads=0, per_sm=None):
    """Fill `out` by a method that makes each block of words into numbers."""
    loop, size = _DIRECT[method, out.dtype.name], 16 // out.dtype.itemsize
    constants = (*words.constants, out.dtype.type(1.0))
    for (high, low), piece, _ in split_into_launches(out, size, words.first):
        first = int(high) * BLOCKS + int(low)
        for a, b in ranges(piece.size, first=_FIRST, multiple=size * CHUNK):
            loop(np.uint64(first + a // size), *constants, piece[a:b])
