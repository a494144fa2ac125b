"""Fills of normal numbers on the GPU, each block of words made into numbers."""

from __future__ import annotations

import numpy as np
from numba import uint32, uint64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from hetero.philox.formulas import philox10
from rode._intrinsics.memory import store_vector
from rode._normals.draws import DRAWS
from rode._normals.launches import split_into_launches

THREADS = 256
PER_SM = 32
"""Blocks of threads a multiprocessor: more than fit, which evens out the end (measured)."""


def _make_fills(draw, dtype):
    """Make the kernels that fill an array with numbers made of blocks of words."""
    size, one = 16 // np.dtype(dtype).itemsize, np.dtype(dtype).type(1.0)

    @kernel
    def fill_pairs(k0, k1, path, stream, high, low, out):
        """Fill `out` with the numbers of blocks (low + i, high) of the counter, as far as pairs go.

        A thread makes two blocks at once, whose instructions fill each other's gaps; neighbours
        store next to each other.
        """
        i, step = uint32(cuda.grid(1)), uint32(cuda.gridsize(1))
        half = uint32(uint64(out.size) // uint64(2 * size))
        while i < half:
            j = uint32(i + half)
            a, b, c, d = philox10(uint32(low + i), high, path, stream, k0, k1)
            e, f, g, h = philox10(uint32(low + j), high, path, stream, k0, k1)
            left, right = draw(a, b, c, d, one), draw(e, f, g, h, one)
            store_vector(out, uint64(i) * uint64(size), left)
            store_vector(out, uint64(j) * uint64(size), right)
            i = uint32(i + step)

    @kernel
    def fill_rest(k0, k1, path, stream, high, low, first, out):
        """Fill `out` from its block number `first` on, number by number."""
        n, step = uint64(out.size), uint32(cuda.gridsize(1))
        i = uint32(first + uint32(cuda.grid(1)))
        while uint64(i) * uint64(size) < n:
            a, b, c, d = philox10(uint32(low + i), high, path, stream, k0, k1)
            numbers = draw(a, b, c, d, one)
            for j in range(size):
                if uint64(i) * uint64(size) + uint64(j) < n:
                    out[uint64(i) * uint64(size) + uint64(j)] = numbers[j]
            i = uint32(i + step)

    return fill_pairs, fill_rest


KERNELS = {
    f"{part}_{method}_{dtype}": fill
    for (method, dtype), draw in DRAWS.items()
    for part, fill in zip(("pairs", "rest"), _make_fills(draw, dtype), strict=True)
}


def fill(method, words, out, launch_stream=0, threads=THREADS, per_sm=None):
    """Fill `out` by a method that makes each block of words into numbers."""
    dtype, size = np.dtype(out.dtype), 16 // out.dtype.itemsize
    pairs, remainder = (KERNELS[f"{part}_{method}_{dtype}"] for part in ("pairs", "rest"))
    for first, piece, done in split_into_launches(out, size, words.first):
        numbers = (*words.constants, *first)
        if done:
            grid = launch.grid_stride_blocks(done, threads, per_sm or PER_SM)
            launch.launch(pairs, grid, threads, launch_stream, (*numbers, piece))
        if 2 * size * done < piece.size:
            grid = launch.grid_stride_blocks(piece.size // size + 1 - 2 * done, threads)
            arguments = (*numbers, np.uint32(2 * done), piece)
            launch.launch(remainder, grid, threads, launch_stream, arguments)
