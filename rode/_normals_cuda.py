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
from rode._memory import resident, store
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
from rode._ziggurat_math import (
    attempt_float32,
    attempt_float64,
    draw_float32,
    draw_float64,
    shared_words,
)

THREADS = 256
PER_SM = 32
"""Blocks of threads a multiprocessor: more than fit, which evens out the end (measured)."""

_ZIGGURAT_THREADS = 512
"""The more, the fewer copies of the table a multiprocessor needs."""

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
DIRECT = {
    ("box-muller", "float32"): (box_muller_float32, rest_box_muller_float32),
    ("box-muller", "float64"): (box_muller_float64, rest_box_muller_float64),
    ("box-muller-fast", "float32"): (fast_float32, rest_fast_float32),
    ("inverse", "float32"): (inverse_float32, rest_inverse_float32),
    ("rational", "float32"): (branching_float32, rest_branching_float32),
    ("rational", "float64"): (branching_float64, rest_branching_float64),
    ("rational-blending", "float32"): (blending_float32, rest_blending_float32),
    ("rational-blending", "float64"): (blending_float64, rest_blending_float64),
}
"""(pairs, rest) of a method and type."""


def direct(method, key, path, stream, out, launch_stream=0, threads=THREADS, per_sm=None):
    """Fill `out` by a method that makes each block of words into numbers."""
    dtype, size = np.dtype(out.dtype), 16 // out.dtype.itemsize
    pairs, rest = DIRECT[method, dtype.name]
    for part, here, done in _parts(out, size):
        numbers = (*key, np.uint32(path), np.uint32(stream), np.uint32(part))
        if done:
            grid = launch.strided(done, threads, per_sm or PER_SM)
            pairs[grid, threads, launch_stream](*numbers, here)
        if 2 * size * done < here.size:
            grid = launch.strided(here.size // size + 1 - 2 * done, threads)
            rest[grid, threads, launch_stream](*numbers, np.uint32(2 * done), here)


def _parts(out, size):
    """Of each launch: its number, its part of `out`, and the pairs of blocks that it can store."""
    most = size << 31  # a launch counts its blocks in 32 bits, and steps beyond their end
    for part, begin in enumerate(range(0, out.size, most)):
        here = out[begin : min(begin + most, out.size)] if out.size > most else out
        yield part, here, here.size // (2 * size) if _aligned(here) else 0


def _aligned(out) -> bool:
    """Whether 16 bytes can be written at once."""
    interface = getattr(out, "__cuda_array_interface__", None)
    return interface is not None and interface["data"][0] % 16 == 0


# ---- Ziggurat ----------------------------------------------------------------------------------


@kernel(device=True)
def _two(block, high, path, stream, k0, k1, table):
    """A block's numbers at the first attempt, whether all are, and a bit for each that is none."""
    a, b, c, d = philox10(block, high, path, stream, k0, k1)
    w, p = attempt_float64(a, b, b, table)
    x, q = attempt_float64(c, d, d, table)
    return (w, x), p and q, uint32(not p) | uint32(not q) << uint32(1)


@kernel(device=True)
def _four(block, high, path, stream, k0, k1, table):
    a, b, c, d = e, f, g, h = philox10(block, high, path, stream, k0, k1)
    if table.size > 129:
        e, f, g, h = philox10(block, high | uint32(255 << 24), path, stream, k0, k1)
    w, p = attempt_float32(a, a, e, table)
    x, q = attempt_float32(b, b, f, table)
    y, r = attempt_float32(c, c, g, table)
    z, s = attempt_float32(d, d, h, table)
    pairs = uint32(not p) | uint32(not q) << uint32(1), uint32(not r) | uint32(not s) << uint32(1)
    return (w, x, y, z), p and q and r and s, pairs[0] | pairs[1] << uint32(2)


@kernel(device=True)
def _number_float64(i, path, stream, k0, k1, table):
    """Number i, with as many attempts as it takes."""
    a, b, c, d = words10(i // uint64(2), path, stream, k0, k1)
    a, b = (c, d) if i % uint64(2) else (a, b)
    return draw_float64(i, a, b, b, table, path, stream, k0, k1)


@kernel(device=True)
def _number_float32(i, path, stream, k0, k1, table):
    four, strips = shared_words(i // uint64(4), path, stream, k0, k1, table.size - 1)
    word, strip = four[0], strips[0]
    for j in range(1, 4):
        if i % uint64(4) == uint64(j):
            word, strip = four[j], strips[j]
    return draw_float32(i, word, word, strip, table, path, stream, k0, k1)


def _ziggurat(dtype, in_shared):
    """The kernel of pairs of blocks, with the table in global memory, which the first-level cache
    holds, or in shared memory. A thread stores first attempts and then mends the few that fail."""
    real, size = (float32, 4) if dtype == "float32" else (float64, 2)
    quick, number = (_four, _number_float32) if size == 4 else (_two, _number_float64)

    @kernel
    def fill_ziggurat(k0, k1, path, stream, high, edges, out):
        if in_shared:
            table = cuda.shared.array(0, real)
            t = uint64(cuda.threadIdx.x)
            while t < uint64(edges.size):
                table[t] = edges[t]
                t += uint64(cuda.blockDim.x)
            cuda.syncthreads()
            table = table[: edges.size]
        else:
            table = edges
        i, step = uint32(cuda.grid(1)), uint32(cuda.gridsize(1))
        half = uint32(uint64(out.size) // uint64(2 * size))
        first = uint64(high) << uint64(32)
        while i < half:
            j = uint32(i + half)
            left, fine, lost = quick(i, high, path, stream, k0, k1, table)
            right, good, more = quick(j, high, path, stream, k0, k1, table)
            store(out, uint64(i) * uint64(size), left)
            store(out, uint64(j) * uint64(size), right)
            if not (fine and good):
                lost, place = lost | more << uint32(size), uint64(i) * uint64(size)
                while lost:
                    if lost & uint32(1):
                        found = first * uint64(size) + place
                        out[place] = number(found, path, stream, k0, k1, edges)
                    lost >>= uint32(1)
                    place += uint64(1)
                    if place == (uint64(i) + uint64(1)) * uint64(size):
                        place = uint64(j) * uint64(size)
            i = uint32(i + step)

    return fill_ziggurat


def _ziggurat_rest(number, size):
    @kernel
    def rest_ziggurat(k0, k1, path, stream, high, first, edges, out):
        """Numbers from block number `first` on."""
        n, base = uint64(out.size), (uint64(high) << uint64(32)) * uint64(size)
        i = uint64(first) * uint64(size) + uint64(cuda.grid(1))
        while i < n:
            out[i] = number(base + i, path, stream, k0, k1, edges)
            i += uint64(cuda.gridsize(1))

    return rest_ziggurat


ziggurat_float32, ziggurat_float64 = _ziggurat("float32", False), _ziggurat("float64", False)
ziggurat_shared_float32 = _ziggurat("float32", True)
ziggurat_shared_float64 = _ziggurat("float64", True)
rest_ziggurat_float32 = _ziggurat_rest(_number_float32, 4)
rest_ziggurat_float64 = _ziggurat_rest(_number_float64, 2)
_ZIGGURAT = {
    "float32": (ziggurat_float32, ziggurat_shared_float32, rest_ziggurat_float32),
    "float64": (ziggurat_float64, ziggurat_shared_float64, rest_ziggurat_float64),
}


def ziggurat(key, path, stream, table, in_shared, out, launch_stream=0):
    """Fill `out`; `table` holds the strips' edges, on the host."""
    dtype, size = np.dtype(out.dtype), 16 // out.dtype.itemsize
    local, shared, rest = _ZIGGURAT[dtype.name]
    edges = resident(table.astype(dtype))
    for part, here, done in _parts(out, size):
        numbers = (*key, np.uint32(path), np.uint32(stream), np.uint32(part))
        if done and in_shared:
            arguments, memory = (*numbers, edges, here), edges.nbytes
            threads = _ZIGGURAT_THREADS
            launch.with_shared_memory(shared, arguments, memory, threads, done, launch_stream)
        elif done:
            grid = launch.strided(done, _ZIGGURAT_THREADS)
            local[grid, _ZIGGURAT_THREADS, launch_stream](*numbers, edges, here)
        if 2 * size * done < here.size:
            grid = launch.strided(here.size - 2 * size * done, THREADS)
            rest[grid, THREADS, launch_stream](*numbers, np.uint32(2 * done), edges, here)


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
