"""Fills of normal numbers on the CPU."""

from __future__ import annotations

import numpy as np
from numba import int64, prange, uint32, uint64

from hetero._philox_math import philox10, words10
from hetero.jit import parallel, serial
from rode import _normals_math as formulas
from rode._chunks import chunk_of
from rode._wallace_math import (
    FIRST,
    PASSES,
    POOL,
    THREADS,
    TURNS,
    movement,
    normed,
    place,
    spread,
    turned,
)
from rode._ziggurat_math import draw_float32, draw_float64, shared_words

CHUNK = 512
"""Blocks of words that a stage works on at once: they stay in the first-level cache."""


def _direct(draw, size):
    chunk = chunk_of(draw, size)

    @parallel
    def fill_direct(k0, k1, path, stream, sigma, out):
        blocks = (out.size + size - 1) // size
        for c in prange((blocks + CHUNK - 1) // CHUNK):
            first = int64(c) * CHUNK
            count = min(CHUNK, blocks - first)
            four, part = np.empty((4, count), np.uint32), np.empty((size, count), out.dtype)
            chunk(uint64(first), k0, k1, path, stream, sigma, four, part)
            whole = min(count, (out.size - first * size) // size)
            for l in range(whole):
                for j in range(size):
                    out[(first + l) * size + j] = part[j, l]
            for i in range((first + whole) * size, min(out.size, (first + count) * size)):
                out[i] = part[i - (first + whole) * size, whole]

    return fill_direct


_DRAWS = {
    ("box-muller", "float32"): formulas.box_muller_float32,
    ("box-muller", "float64"): formulas.box_muller_float64,
    ("box-muller-fast", "float32"): formulas.box_muller_fast,
    ("inverse", "float32"): formulas.inverse_block_float32,
    ("rational", "float32"): formulas.branching_float32,
    ("rational", "float64"): formulas.branching_float64,
    ("rational-blending", "float32"): formulas.blending_float32,
    ("rational-blending", "float64"): formulas.blending_float64,
}
_DIRECT = {
    which: _direct(draw, 16 // np.dtype(which[1]).itemsize) for which, draw in _DRAWS.items()
}


def direct(method, key, path, stream, out, launch_stream=0, threads=0, per_sm=None):
    """Fill `out` by a method that makes each block of words into numbers."""
    fill = _DIRECT[method, out.dtype.name]
    fill(*key, np.uint32(path), np.uint32(stream), out.dtype.type(1.0), out)


# ---- Ziggurat ----------------------------------------------------------------------------------


@parallel
def _ziggurat_float32(k0, k1, path, stream, table, out):
    n, strips = out.size, table.size - 1
    for b in prange((n + 3) // 4):
        block = uint64(b)
        four, choices = shared_words(block, path, stream, k0, k1, strips)
        for j in range(min(4, n - 4 * int64(b))):
            i = uint64(4) * block + uint64(j)
            out[i] = draw_float32(i, four[j], four[j], choices[j], table, path, stream, k0, k1)


@parallel
def _ziggurat_float64(k0, k1, path, stream, table, out):
    n = out.size
    for b in prange((n + 1) // 2):
        block = uint64(b)
        four = words10(block, path, stream, k0, k1)
        for j in range(min(2, n - 2 * int64(b))):
            i = uint64(2) * block + uint64(j)
            out[i] = draw_float64(
                i, four[2 * j], four[2 * j + 1], four[2 * j + 1], table, path, stream, k0, k1
            )


def ziggurat(key, path, stream, table, in_shared, out, launch_stream=0):
    """Fill `out`; `table` holds the strips' edges."""
    fill = _ziggurat_float32 if out.dtype == np.float32 else _ziggurat_float64
    fill(*key, np.uint32(path), np.uint32(stream), table.astype(out.dtype), out)


# ---- Wallace -----------------------------------------------------------------------------------


def _wallace(dtype):
    draw = formulas.box_muller_float32 if dtype == "float32" else formulas.box_muller_float64
    size, one = 16 // np.dtype(dtype).itemsize, np.dtype(dtype).type(1.0)

    @serial
    def pool_of(number, k0, k1, path, stream):
        """A new pool. The sum of squares is taken as the threads of a GPU's block do."""
        pool, sums = np.empty(POOL, dtype), np.zeros(THREADS, dtype)
        for block in range(POOL // size):
            a, b, c, d = philox10(uint32(FIRST + uint32(block)), number, path, stream, k0, k1)
            numbers = draw(a, b, c, d, one)
            for j in range(size):
                pool[block * size + j] = numbers[j]
                sums[block % THREADS] += numbers[j] * numbers[j]
        half = THREADS // 2
        while half > 0:
            for t in range(half):
                sums[t] += sums[t + half]
            half //= 2
        return pool * normed(sums[0])

    @parallel
    def fill_wallace(k0, k1, path, stream, corrected, out):
        for p in prange((out.size + PASSES * POOL - 1) // (PASSES * POOL)):
            number = uint32(p)
            pool, old = pool_of(number, k0, k1, path, stream), np.empty(POOL, dtype)
            base = int64(p) * (PASSES * POOL)
            for pass_ in range(PASSES):
                if base >= out.size:
                    break
                factor = one
                for turn in range(TURNS):
                    old[:] = pool
                    c0 = uint32(pass_ * TURNS + turn)
                    w0, _, w2, w3 = philox10(c0, number, path, stream, k0, k1)
                    stride, offset, matrix = movement(w0)
                    for t in range(THREADS):
                        y = turned(
                            matrix,
                            old[place(0, uint32(t), stride, offset)],
                            old[place(1, uint32(t), stride, offset)],
                            old[place(2, uint32(t), stride, offset)],
                            old[place(3, uint32(t), stride, offset)],
                        )
                        for e in range(4):
                            pool[4 * t + e] = y[e]
                    if corrected:
                        factor = spread(w2, w3, one)
                for i in range(min(POOL, out.size - base)):
                    out[base + i] = factor * pool[i]
                base += POOL

    return fill_wallace


_wallace_float32, _wallace_float64 = _wallace("float32"), _wallace("float64")


def wallace(key, path, stream, corrected, out, launch_stream=0):
    """Fill `out`, a pool for every PASSES POOL numbers."""
    fill = _wallace_float32 if out.dtype == np.float32 else _wallace_float64
    fill(*key, np.uint32(path), np.uint32(stream), corrected, out)
