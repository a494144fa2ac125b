"""Wallace's pools on the CPU: see the CUDA twin."""

from __future__ import annotations

import numpy as np
from numba import int64, prange, uint32

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, serial
from hetero.philox.formulas import philox10
from rode._normals.box_muller_formulas import box_muller_float32, box_muller_float64
from rode._normals.wallace.formulas import (
    FIRST,
    PASSES,
    POOL,
    THREADS,
    TURNS,
    pool_index,
    pool_scale,
    rotate,
    rotation_of,
    spread,
)

_FIRST = 1 << 21
"""Numbers of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""


def _make_fill(dtype):
    """Make the loop that fills an array from pools, each of them by one thread."""
    draw = box_muller_float32 if dtype == "float32" else box_muller_float64
    size, one = 16 // np.dtype(dtype).itemsize, np.dtype(dtype).type(1.0)

    @serial
    def pool_of(number, k0, k1, path, stream):
        """Return a new pool. The sum of squares is taken as the threads of a GPU's block do."""
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
        return pool * pool_scale(sums[0])

    @parallel
    def fill_wallace(first, k0, k1, path, stream, corrected, out):
        for p in prange((out.size + PASSES * POOL - 1) // (PASSES * POOL)):
            number = uint32(first + uint32(p))
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
                    stride, offset, matrix = rotation_of(w0)
                    for t in range(THREADS):
                        y = rotate(
                            matrix,
                            old[pool_index(0, uint32(t), stride, offset)],
                            old[pool_index(1, uint32(t), stride, offset)],
                            old[pool_index(2, uint32(t), stride, offset)],
                            old[pool_index(3, uint32(t), stride, offset)],
                        )
                        for e in range(4):
                            pool[4 * t + e] = y[e]
                    if corrected:
                        factor = spread(w2, w3, one)
                for i in range(min(POOL, out.size - base)):
                    out[base + i] = factor * pool[i]
                base += POOL

    return fill_wallace


_wallace_float32, _wallace_float64 = _make_fill("float32"), _make_fill("float64")


def fill(key, path, stream, corrected, out, launch_stream=0):
    """Fill `out`, a pool for every PASSES POOL numbers."""
    loop = _wallace_float32 if out.dtype == np.float32 else _wallace_float64
    constants = (*key, np.uint32(path), np.uint32(stream), corrected)
    for a, b in ranges(out.size, first=_FIRST, multiple=PASSES * POOL):
        loop(np.uint32(a // (PASSES * POOL)), *constants, out[a:b])
