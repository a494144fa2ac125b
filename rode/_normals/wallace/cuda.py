"""Wallace's pools on the GPU: see `_normals.wallace.formulas`."""

from __future__ import annotations

import functools

import numpy as np
from numba import float32, float64, int64, uint32, uint64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from hetero.philox.formulas import philox10
from rode._intrinsics.memory import store_vector
from rode._normals.box_muller_formulas import box_muller_float32, box_muller_float64
from rode._normals.launches import is_aligned as is_aligned
from rode._normals.wallace import formulas
from rode._normals.wallace.pool_shape import POOL_SHAPE, TURNS


@functools.cache
def make_fill(dtype, shape):
    """Make the kernel that fills an array from pools of a shape."""
    real = float32 if dtype == "float32" else float64
    draw = box_muller_float32 if dtype == "float32" else box_muller_float64
    size = 4 if dtype == "float32" else 2
    zero, one = (np.dtype(dtype).type(v) for v in (0.0, 1.0))
    threads, passes, pool_size, bits = shape.threads, shape.passes, shape.pool, shape.bits
    moves_of_pool, constants = passes * TURNS, shape.spread_constants

    @kernel
    def fill_wallace(k0, k1, path, stream, first, corrected, aligned, out):
        """Fill `out` from pools number `first` and on, each of them by one block of threads."""
        pool = cuda.shared.array(pool_size, real)
        sums = cuda.shared.array(threads, real)
        moves = cuda.shared.array(moves_of_pool, uint32)
        factors = cuda.shared.array(passes, real)
        t = uint32(cuda.threadIdx.x)
        number = uint32(first + uint32(cuda.blockIdx.x))
        if t < moves_of_pool:
            w0, _, w2, w3 = philox10(t, number, path, stream, k0, k1)
            moves[t] = w0
            if (int64(t) + 1) % TURNS == 0:
                factors[int64(t) // TURNS] = (
                    formulas.spread(w2, w3, constants, one) if corrected else one
                )
        squares = zero
        for part in range(4 // size):
            block = uint32(uint32(part * threads) + t)
            a, b, c, d = philox10(uint32(formulas.FIRST + block), number, path, stream, k0, k1)
            numbers = draw(a, b, c, d, one)
            for j in range(size):
                pool[int64(block) * size + j] = numbers[j]
                squares += numbers[j] * numbers[j]
        sums[t] = squares
        cuda.syncthreads()
        half = threads // 2
        while half > 0:
            if t < half:
                sums[t] += sums[int64(t) + half]
            cuda.syncthreads()
            half //= 2
        scale = formulas.pool_scale(sums[0], pool_size)
        for e in range(4):
            pool[e * threads + int64(t)] *= scale
        base = int64(cuda.blockIdx.x) * (passes * pool_size) + 4 * int64(t)
        for pass_ in range(passes):
            if base - 4 * int64(t) >= out.size:
                return
            factor = factors[pass_]
            y0, y1, y2, y3 = one, one, one, one
            for turn in range(TURNS):
                cuda.syncthreads()
                stride, offset, matrix = formulas.rotation_of(moves[pass_ * TURNS + turn], bits)
                y0, y1, y2, y3 = formulas.rotate(
                    matrix,
                    pool[formulas.pool_index(0, t, stride, offset, threads)],
                    pool[formulas.pool_index(1, t, stride, offset, threads)],
                    pool[formulas.pool_index(2, t, stride, offset, threads)],
                    pool[formulas.pool_index(3, t, stride, offset, threads)],
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
            base += pool_size

    return fill_wallace


wallace_float32, wallace_float64 = (make_fill(t, POOL_SHAPE) for t in ("float32", "float64"))


def fill(words, corrected, out, launch_stream=0, shape=POOL_SHAPE):
    """Fill `out`, a pool for every `shape.numbers` numbers."""
    chosen = make_fill(np.dtype(out.dtype).name, shape)
    grid = launch.blocks_for(out.size, shape.numbers)
    arguments = (*words.constants, np.uint32(words.first), corrected, is_aligned(out), out)
    launch.launch(chosen, grid, shape.threads, launch_stream, arguments)
