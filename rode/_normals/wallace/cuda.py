"""Wallace's pools on the GPU: see `_normals.wallace.formulas`."""

from __future__ import annotations

import numpy as np
from numba import float32, float64, int64, uint32, uint64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from hetero.philox.formulas import philox10
from rode._intrinsics.memory import store_vector
from rode._normals.box_muller_formulas import box_muller_float32, box_muller_float64
from rode._normals.launches import is_aligned as is_aligned
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

_MOVES = PASSES * TURNS


def _make_fill(dtype):
    """Make the kernel that fills an array from pools."""
    real = float32 if dtype == "float32" else float64
    draw = box_muller_float32 if dtype == "float32" else box_muller_float64
    size = 4 if dtype == "float32" else 2
    zero, one = (np.dtype(dtype).type(v) for v in (0.0, 1.0))

    @kernel
    def fill_wallace(k0, k1, path, stream, corrected, aligned, out):
        """Fill `out` from pools, each of them by one block of threads."""
        pool = cuda.shared.array(POOL, real)
        sums = cuda.shared.array(THREADS, real)
        moves = cuda.shared.array(_MOVES, uint32)
        factors = cuda.shared.array(PASSES, real)
        t = uint32(cuda.threadIdx.x)
        number = uint32(cuda.blockIdx.x)
        if t < _MOVES:
            w0, _, w2, w3 = philox10(t, number, path, stream, k0, k1)
            moves[t] = w0
            if (int64(t) + 1) % TURNS == 0:
                factors[int64(t) // TURNS] = spread(w2, w3, one) if corrected else one
        squares = zero
        for part in range(4 // size):
            block = uint32(uint32(part * THREADS) + t)
            a, b, c, d = philox10(uint32(FIRST + block), number, path, stream, k0, k1)
            numbers = draw(a, b, c, d, one)
            for j in range(size):
                pool[int64(block) * size + j] = numbers[j]
                squares += numbers[j] * numbers[j]
        sums[t] = squares
        cuda.syncthreads()
        half = THREADS // 2
        while half > 0:
            if t < half:
                sums[t] += sums[int64(t) + half]
            cuda.syncthreads()
            half //= 2
        scale = pool_scale(sums[0])
        for e in range(4):
            pool[e * THREADS + int64(t)] *= scale
        base = int64(number) * (PASSES * POOL) + 4 * int64(t)
        for pass_ in range(PASSES):
            if base - 4 * int64(t) >= out.size:
                return
            factor = factors[pass_]
            y0, y1, y2, y3 = one, one, one, one
            for turn in range(TURNS):
                cuda.syncthreads()
                stride, offset, matrix = rotation_of(moves[pass_ * TURNS + turn])
                y0, y1, y2, y3 = rotate(
                    matrix,
                    pool[pool_index(0, t, stride, offset)],
                    pool[pool_index(1, t, stride, offset)],
                    pool[pool_index(2, t, stride, offset)],
                    pool[pool_index(3, t, stride, offset)],
                )
                cuda.syncthreads()
                store_vector(pool, uint64(t) * uint64(4), (y0, y1))
                store_vector(pool, uint64(t) * uint64(4) + uint64(2), (y2, y3))
            y0, y1, y2, y3 = factor * y0, factor * y1, factor * y2, factor * y3
            if aligned and base + 4 <= out.size:
                if size == 4:
                    store_vector(out, uint64(base), (y0, y1, y2, y3))
                else:
                    store_vector(out, uint64(base), (y0, y1))
                    store_vector(out, uint64(base + 2), (y2, y3))
            else:
                last = (y0, y1, y2, y3)
                for j in range(min(4, out.size - base)):
                    out[base + j] = last[j]
            base += POOL

    return fill_wallace


wallace_float32, wallace_float64 = _make_fill("float32"), _make_fill("float64")


def fill(key, path, stream, corrected, out, launch_stream=0):
    """Fill `out`, a pool for every PASSES POOL numbers."""
    chosen = wallace_float32 if np.dtype(out.dtype) == np.float32 else wallace_float64
    grid = launch.blocks_for(out.size, PASSES * POOL)
    chosen[grid, THREADS, launch_stream](
        *key, np.uint32(path), np.uint32(stream), corrected, is_aligned(out), out
    )
