"""Fills of normal numbers on the GPU."""

from __future__ import annotations

import numpy as np
from numba import float32, float64, int64, uint32, uint64

from hetero import launch
from hetero._driver import cuda
from hetero._philox_math import philox10, words10
from hetero.jit import kernel
from rode import _normals_math as formulas
from rode import _wallace_math as wallace_formulas
from rode._memory import store
from rode._wallace_math import (
    FIRST,
    PASSES,
    POOL,
    TURNS,
    movement,
    normed,
    place,
    spread,
    turned,
)
from rode._ziggurat_math import draw_float32, draw_float64, shared_words

THREADS = 256
PER_SM = 32
"""Blocks of threads a multiprocessor: more than fit, which evens out the end (measured)."""

_POOL_THREADS = wallace_formulas.THREADS
_MOVES = PASSES * TURNS


def _direct(draw, size, T):
    """Kernels that make blocks of numbers."""
    one = T(1.0)

    @kernel
    def fill_pairs(k0, k1, path, stream, high, out):
        """Blocks (i, high) of the counter; `out` is the part of the sequence that they make, as far
        as pairs of them go. A thread makes two blocks at once, whose instructions fill each other's
        gaps; neighbours store next to each other."""
        i, step = uint32(cuda.grid(1)), uint32(cuda.gridsize(1))
        half = uint32(uint64(out.size) // uint64(2 * size))
        while i < half:
            j = uint32(i + half)
            a, b, c, d = philox10(i, high, path, stream, k0, k1)
            e, f, g, h = philox10(j, high, path, stream, k0, k1)
            left, right = draw(a, b, c, d, one), draw(e, f, g, h, one)
            store(out, uint64(i) * uint64(size), left)
            store(out, uint64(j) * uint64(size), right)
            i = uint32(i + step)

    @kernel
    def fill_rest(k0, k1, path, stream, high, first, out):
        """Blocks from number `first` on, number by number."""
        n, step = uint64(out.size), uint32(cuda.gridsize(1))
        i = uint32(first + uint32(cuda.grid(1)))
        while uint64(i) * uint64(size) < n:
            a, b, c, d = philox10(i, high, path, stream, k0, k1)
            numbers = draw(a, b, c, d, one)
            for j in range(size):
                if uint64(i) * uint64(size) + uint64(j) < n:
                    out[uint64(i) * uint64(size) + uint64(j)] = numbers[j]
            i = uint32(i + step)

    return fill_pairs, fill_rest


box_muller_float32, rest_box_muller_float32 = _direct(formulas.box_muller_float32, 4, np.float32)
box_muller_float64, rest_box_muller_float64 = _direct(formulas.box_muller_float64, 2, np.float64)
fast_float32, rest_fast_float32 = _direct(formulas.box_muller_fast, 4, np.float32)
inverse_float32, rest_inverse_float32 = _direct(formulas.inverse_block_float32, 4, np.float32)
branching_float32, rest_branching_float32 = _direct(formulas.branching_float32, 4, np.float32)
branching_float64, rest_branching_float64 = _direct(formulas.branching_float64, 2, np.float64)
blending_float32, rest_blending_float32 = _direct(formulas.blending_float32, 4, np.float32)
blending_float64, rest_blending_float64 = _direct(formulas.blending_float64, 2, np.float64)
_DIRECT = {
    ("box-muller", "float32"): (box_muller_float32, rest_box_muller_float32),
    ("box-muller", "float64"): (box_muller_float64, rest_box_muller_float64),
    ("box-muller-fast", "float32"): (fast_float32, rest_fast_float32),
    ("inverse", "float32"): (inverse_float32, rest_inverse_float32),
    ("rational", "float32"): (branching_float32, rest_branching_float32),
    ("rational", "float64"): (branching_float64, rest_branching_float64),
    ("rational-blending", "float32"): (blending_float32, rest_blending_float32),
    ("rational-blending", "float64"): (blending_float64, rest_blending_float64),
}


def direct(method, key, path, stream, out, launch_stream=0, threads=THREADS, per_sm=None):
    """Fill `out` by a method that makes each block of words into numbers."""
    dtype = np.dtype(out.dtype)
    size = 16 // dtype.itemsize
    pairs, rest = _DIRECT[method, dtype.name]
    most = size << 31  # a launch counts its blocks in 32 bits, and steps beyond their end
    for part, begin in enumerate(range(0, out.size, most)):
        here = out[begin : min(begin + most, out.size)] if out.size > most else out
        numbers = (*key, np.uint32(path), np.uint32(stream), np.uint32(part))
        done = here.size // (2 * size) if _aligned(here) else 0
        if done:
            grid = launch.strided(done, threads, per_sm or PER_SM)
            pairs[grid, threads, launch_stream](*numbers, here)
        if 2 * size * done < here.size:
            grid = launch.strided(here.size // size + 1 - 2 * done, threads)
            rest[grid, threads, launch_stream](*numbers, np.uint32(2 * done), here)


def _aligned(out) -> bool:
    """Whether 16 bytes can be written at once."""
    interface = getattr(out, "__cuda_array_interface__", None)
    return interface is not None and interface["data"][0] % 16 == 0


# ---- Ziggurat ----------------------------------------------------------------------------------


def _ziggurat(dtype, in_shared):
    """The table in global memory, which the first-level cache holds, or in shared memory."""
    real = float32 if dtype == "float32" else float64
    single = dtype == "float32"

    @kernel
    def fill_ziggurat(k0, k1, path, stream, edges, out):
        if in_shared:
            table = cuda.shared.array(0, real)
            for k in range(cuda.threadIdx.x, edges.size, cuda.blockDim.x):
                table[k] = edges[k]
            cuda.syncthreads()
            table = table[: edges.size]
        else:
            table = edges
        n, b = out.size, uint64(cuda.grid(1))
        step = uint64(cuda.gridsize(1))
        if single:
            while int64(b) * 4 < n:
                four, strips = shared_words(b, path, stream, k0, k1, edges.size - 1)
                for j in range(4):
                    i = int64(b) * 4 + j
                    if i < n:
                        out[i] = draw_float32(
                            uint64(i), four[j], four[j], strips[j], table, path, stream, k0, k1
                        )
                b += step
        else:
            while int64(b) * 2 < n:
                four = words10(b, path, stream, k0, k1)
                for j in range(2):
                    i = int64(b) * 2 + j
                    if i < n:
                        out[i] = draw_float64(
                            uint64(i),
                            four[2 * j],
                            four[2 * j + 1],
                            four[2 * j + 1],
                            table,
                            path,
                            stream,
                            k0,
                            k1,
                        )
                b += step

    return fill_ziggurat


ziggurat_float32, ziggurat_float64 = _ziggurat("float32", False), _ziggurat("float64", False)
ziggurat_shared_float32 = _ziggurat("float32", True)
ziggurat_shared_float64 = _ziggurat("float64", True)


def ziggurat(key, path, stream, table, in_shared, out, launch_stream=0):
    """Fill `out`; `table` holds the strips' edges, on the host."""
    dtype = np.dtype(out.dtype)
    edges = cuda.to_device(table.astype(dtype), stream=launch_stream)
    single = dtype == np.float32
    arguments = (*key, np.uint32(path), np.uint32(stream), edges, out)
    items = out.size // 2 + 1
    if in_shared:
        chosen = ziggurat_shared_float32 if single else ziggurat_shared_float64
        size = edges.nbytes
        launch.with_shared_memory(chosen, arguments, size, THREADS, items, launch_stream)
    else:
        chosen = ziggurat_float32 if single else ziggurat_float64
        chosen[launch.strided(items), THREADS, launch_stream](*arguments)


# ---- Wallace -----------------------------------------------------------------------------------


def _wallace(dtype):
    real = float32 if dtype == "float32" else float64
    draw = formulas.box_muller_float32 if dtype == "float32" else formulas.box_muller_float64
    size = 4 if dtype == "float32" else 2
    zero, one = (np.dtype(dtype).type(v) for v in (0.0, 1.0))

    @kernel
    def fill_wallace(k0, k1, path, stream, corrected, aligned, out):
        """A block a pool."""
        pool = cuda.shared.array(POOL, real)
        sums = cuda.shared.array(_POOL_THREADS, real)
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
            block = uint32(uint32(part * _POOL_THREADS) + t)
            a, b, c, d = philox10(uint32(FIRST + block), number, path, stream, k0, k1)
            numbers = draw(a, b, c, d, one)
            for j in range(size):
                pool[int64(block) * size + j] = numbers[j]
                squares += numbers[j] * numbers[j]
        sums[t] = squares
        cuda.syncthreads()
        half = _POOL_THREADS // 2
        while half > 0:
            if t < half:
                sums[t] += sums[int64(t) + half]
            cuda.syncthreads()
            half //= 2
        scale = normed(sums[0])
        for e in range(4):
            pool[e * _POOL_THREADS + int64(t)] *= scale
        base = int64(number) * (PASSES * POOL) + 4 * int64(t)
        for pass_ in range(PASSES):
            if base - 4 * int64(t) >= out.size:
                return
            factor = factors[pass_]
            y0, y1, y2, y3 = one, one, one, one
            for turn in range(TURNS):
                cuda.syncthreads()
                stride, offset, matrix = movement(moves[pass_ * TURNS + turn])
                y0, y1, y2, y3 = turned(
                    matrix,
                    pool[place(0, t, stride, offset)],
                    pool[place(1, t, stride, offset)],
                    pool[place(2, t, stride, offset)],
                    pool[place(3, t, stride, offset)],
                )
                cuda.syncthreads()
                store(pool, uint64(t) * uint64(4), (y0, y1))
                store(pool, uint64(t) * uint64(4) + uint64(2), (y2, y3))
            y0, y1, y2, y3 = factor * y0, factor * y1, factor * y2, factor * y3
            if aligned and base + 4 <= out.size:
                if size == 4:
                    store(out, uint64(base), (y0, y1, y2, y3))
                else:
                    store(out, uint64(base), (y0, y1))
                    store(out, uint64(base + 2), (y2, y3))
            else:
                last = (y0, y1, y2, y3)
                for j in range(min(4, out.size - base)):
                    out[base + j] = last[j]
            base += POOL

    return fill_wallace


wallace_float32, wallace_float64 = _wallace("float32"), _wallace("float64")


def wallace(key, path, stream, corrected, out, launch_stream=0):
    """Fill `out`, a pool for every PASSES POOL numbers."""
    chosen = wallace_float32 if np.dtype(out.dtype) == np.float32 else wallace_float64
    grid = launch.blocks(out.size, PASSES * POOL)
    chosen[grid, _POOL_THREADS, launch_stream](
        *key, np.uint32(path), np.uint32(stream), corrected, _aligned(out), out
    )
