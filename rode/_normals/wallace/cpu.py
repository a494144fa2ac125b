"""Wallace's pools on the CPU: see the CUDA twin."""

from __future__ import annotations

import functools

import numpy as np
from numba import int64, prange, uint32

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, serial
from hetero.philox.formulas import philox10
from rode._normals.box_muller_formulas import box_muller_float32, box_muller_float64
from rode._normals.wallace import formulas
from rode._normals.wallace.pool_shape import POOL_SHAPE, TURNS

_FIRST = 1 << 21
"""Numbers of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""


@functools.cache
def make_fill(dtype, shape):
    """Make the loop that fills an array from pools of a shape, each of them by one thread."""
    draw = box_muller_float32 if dtype == "float32" else box_muller_float64
    size, one = 16 // np.dtype(dtype).itemsize, np.dtype(dtype).type(1.0)
    threads, passes, pool_size, bits = shape.threads, shape.passes, shape.pool, shape.bits
    constants = shape.spread_constants

    @serial
    def pool_of(number, k0, k1, path, stream):
        """Return a new pool. The sum of squares is taken as the threads of a GPU's block do."""
        pool, sums = np.empty(pool_size, dtype), np.zeros(threads, dtype)
        for block in range(pool_size // size):
            a, b, c, d = philox10(
                uint32(formulas.FIRST + uint32(block)), number, path, stream, k0, k1
            )
            numbers = draw(a, b, c, d, one)
            for j in range(size):
                pool[block * size + j] = numbers[j]
                sums[block % threads] += numbers[j] * numbers[j]
        half = threads // 2
        while half > 0:
            for t in range(half):
                sums[t] += sums[t + half]
            half //= 2
        return pool * formulas.pool_scale(sums[0], pool_size)

    @parallel
    def fill_wallace(first, k0, k1, path, stream, corrected, out):
        for p in prange((out.size + passes * pool_size - 1) // (passes * pool_size)):
            number = uint32(first + uint32(p))
            pool, old = pool_of(number, k0, k1, path, stream), np.empty(pool_size, dtype)
            base = int64(p) * (passes * pool_size)
            for pass_ in range(passes):
                if base >= out.size:
                    break
                factor = one
                for turn in range(TURNS):
                    old[:] = pool
                    c0 = uint32(pass_ * TURNS + turn)
                    w0, _, w2, w3 = philox10(c0, number, path, stream, k0, k1)
                    stride, offset, matrix = formulas.rotation_of(w0, bits)
                    for t in range(threads):
                        y = formulas.rotate(
                            matrix,
                            old[formulas.pool_index(0, uint32(t), stride, offset, threads)],
                            old[formulas.pool_index(1, uint32(t), stride, offset, threads)],
                            old[formulas.pool_index(2, uint32(t), stride, offset, threads)],
                            old[formulas.pool_index(3, uint32(t), stride, offset, threads)],
                        )
                        for e in range(4):
                            pool[4 * t + e] = y[e]
                    if corrected:
                        factor = formulas.spread(w2, w3, constants, one)
                for i in range(min(pool_size, out.size - base)):
                    out[base + i] = factor * pool[i]
                base += pool_size

    return fill_wallace


def fill(words, corrected, out, launch_stream=0, shape=POOL_SHAPE):
    """Fill `out`, a pool for every `shape.numbers` numbers."""
    loop = make_fill(out.dtype.name, shape)
    constants = (*words.constants, corrected)
    for a, b in ranges(out.size, first=_FIRST, multiple=shape.numbers):
        loop(np.uint32(words.first + a // shape.numbers), *constants, out[a:b])
