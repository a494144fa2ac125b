"""The Ziggurat on the GPU: see `_normals.ziggurat.formulas` for the draws."""

from __future__ import annotations

import numpy as np
from numba import float32, float64, uint32, uint64

from hetero.cuda import launch
from hetero.cuda.device_cache import resident
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from hetero.philox.formulas import philox10, words10
from rode._intrinsics.memory import store_vector
from rode._normals.launches import split_into_launches
from rode._normals.ziggurat import formulas

THREADS = 512
"""The more, the fewer copies of the table a multiprocessor needs."""


@kernel(device=True)
def _two(block, high, path, stream, k0, k1, table):
    """Return the two numbers of a block, whether both are accepted, and a bit for each rejected."""
    a, b, c, d = philox10(block, high, path, stream, k0, k1)
    w, p = formulas.attempt_float64(a, b, b, table)
    x, q = formulas.attempt_float64(c, d, d, table)
    return (w, x), p and q, uint32(not p) | uint32(not q) << uint32(1)


@kernel(device=True)
def _four(block, high, path, stream, k0, k1, table):
    """Return the four numbers of a block, whether all are accepted, and a bit for each rejected."""
    a, b, c, d = e, f, g, h = philox10(block, high, path, stream, k0, k1)
    if table.size > 129:
        e, f, g, h = philox10(block, high | uint32(255 << 24), path, stream, k0, k1)
    w, p = formulas.attempt_float32(a, a, e, table)
    x, q = formulas.attempt_float32(b, b, f, table)
    y, r = formulas.attempt_float32(c, c, g, table)
    z, s = formulas.attempt_float32(d, d, h, table)
    pairs = uint32(not p) | uint32(not q) << uint32(1), uint32(not r) | uint32(not s) << uint32(1)
    return (w, x, y, z), p and q and r and s, pairs[0] | pairs[1] << uint32(2)


@kernel(device=True)
def _number_float64(i, path, stream, k0, k1, table):
    """Return number i, after as many attempts as it takes."""
    a, b, c, d = words10(i // uint64(2), path, stream, k0, k1)
    a, b = (c, d) if i % uint64(2) else (a, b)
    return formulas.draw_float64(i, a, b, b, table, path, stream, k0, k1)


@kernel(device=True)
def _number_float32(i, path, stream, k0, k1, table):
    """Return number i, after as many attempts as it takes."""
    four, strips = formulas.shared_words(i // uint64(4), path, stream, k0, k1, table.size - 1)
    word, strip = four[0], strips[0]
    for j in range(1, 4):
        if i % uint64(4) == uint64(j):
            word, strip = four[j], strips[j]
    return formulas.draw_float32(i, word, word, strip, table, path, stream, k0, k1)


def _make_fill(dtype, in_shared):
    """Make the kernel that fills an array by pairs of blocks.

    The table is in shared memory, or in global memory, which the first-level cache holds. A thread
    stores first attempts and then redraws the few that fail.
    """
    real, size = (float32, 4) if dtype == "float32" else (float64, 2)
    quick, number = (_four, _number_float32) if size == 4 else (_two, _number_float64)

    @kernel
    def fill_ziggurat(k0, k1, path, stream, high, low, edges, out):
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
        first = (uint64(high) << uint64(32)) + uint64(low)
        while i < half:
            j = uint32(i + half)
            left, left_ok, rejected = quick(uint32(low + i), high, path, stream, k0, k1, table)
            right, right_ok, rejected_right = quick(
                uint32(low + j), high, path, stream, k0, k1, table
            )
            store_vector(out, uint64(i) * uint64(size), left)
            store_vector(out, uint64(j) * uint64(size), right)
            if not (left_ok and right_ok):
                rejected |= rejected_right << uint32(size)
                index = uint64(i) * uint64(size)
                while rejected:
                    if rejected & uint32(1):
                        number_in_sequence = first * uint64(size) + index
                        out[index] = number(number_in_sequence, path, stream, k0, k1, edges)
                    rejected >>= uint32(1)
                    index += uint64(1)
                    if index == (uint64(i) + uint64(1)) * uint64(size):
                        index = uint64(j) * uint64(size)
            i = uint32(i + step)

    return fill_ziggurat


def _make_remainder(dtype):
    """Make the kernel that fills what pairs of blocks leave, number by number."""
    number, size = (_number_float32, 4) if dtype == "float32" else (_number_float64, 2)

    @kernel
    def rest_ziggurat(k0, k1, path, stream, high, low, first, edges, out):
        """Fill `out` from its block number `first` on."""
        n, base = uint64(out.size), ((uint64(high) << uint64(32)) + uint64(low)) * uint64(size)
        i = uint64(first) * uint64(size) + uint64(cuda.grid(1))
        while i < n:
            out[i] = number(base + i, path, stream, k0, k1, edges)
            i += uint64(cuda.gridsize(1))

    return rest_ziggurat


KERNELS = {}
for _dtype in ("float32", "float64"):
    KERNELS[f"ziggurat_{_dtype}"] = _make_fill(_dtype, False)
    KERNELS[f"ziggurat_shared_{_dtype}"] = _make_fill(_dtype, True)
    KERNELS[f"rest_ziggurat_{_dtype}"] = _make_remainder(_dtype)


def fill(words, table, in_shared, out, launch_stream=0):
    """Fill `out`; `table` holds the strips' edges, on the host."""
    dtype, size = np.dtype(out.dtype), 16 // out.dtype.itemsize
    pairs = KERNELS[f"{'ziggurat_shared' if in_shared else 'ziggurat'}_{dtype}"]
    remainder, edges = KERNELS[f"rest_ziggurat_{dtype}"], resident(table.astype(dtype))
    shared = edges.nbytes if in_shared else 0
    for first, piece, done in split_into_launches(out, size, words.first):
        numbers = (*words.constants, *first)
        if done:
            arguments = (*numbers, edges, piece)
            launch.launch_over(pairs, done, arguments, launch_stream, THREADS, shared)
        if 2 * size * done < piece.size:
            arguments = (*numbers, np.uint32(2 * done), edges, piece)
            launch.launch_over(remainder, piece.size - 2 * size * done, arguments, launch_stream)
