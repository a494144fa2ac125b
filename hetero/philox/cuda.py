"""Fills of random words and uniforms on the GPU."""

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from hetero.philox.formulas import unit_float32, unit_float64, words


@kernel
def fill_words(k0, k1, path, stream, rounds, out):
    """Fill `out` (n,) with words (uint32), four from each block of the counter."""
    n = out.size
    for b in range(cuda.grid(1), (n + 3) // 4, cuda.gridsize(1)):
        w0, w1, w2, w3 = words(np.uint64(b), path, stream, k0, k1, rounds)
        i = 4 * b
        out[i] = w0
        if i + 1 < n:
            out[i + 1] = w1
        if i + 2 < n:
            out[i + 2] = w2
        if i + 3 < n:
            out[i + 3] = w3


@kernel
def fill_float64(k0, k1, path, stream, rounds, out):
    """Fill `out` (n,) with float64 uniforms in (0, 1), two from each block of the counter."""
    n = out.size
    for b in range(cuda.grid(1), (n + 1) // 2, cuda.gridsize(1)):
        a0, a1, b0, b1 = words(np.uint64(b), path, stream, k0, k1, rounds)
        out[2 * b] = unit_float64(a0, a1)
        if 2 * b + 1 < n:
            out[2 * b + 1] = unit_float64(b0, b1)


@kernel
def fill_float32(k0, k1, path, stream, rounds, out):
    """Fill `out` (n,) with float32 uniforms in (0, 1), four from each block of the counter."""
    n = out.size
    for b in range(cuda.grid(1), (n + 3) // 4, cuda.gridsize(1)):
        w0, w1, w2, w3 = words(np.uint64(b), path, stream, k0, k1, rounds)
        i = 4 * b
        out[i] = unit_float32(w0)
        if i + 1 < n:
            out[i + 1] = unit_float32(w1)
        if i + 2 < n:
            out[i + 2] = unit_float32(w2)
        if i + 3 < n:
            out[i + 3] = unit_float32(w3)


_FILLS = {"uint32": fill_words, "float64": fill_float64, "float32": fill_float32}


def fill(key, path, stream, rounds, out, launch_stream=0):
    """Fill `out` (uint32: words; floats: uniforms in (0, 1)) from block 0 on."""
    kernel_ = _FILLS[np.dtype(out.dtype).name]
    blocks = launch.grid_stride_blocks((out.size + 1) // 2)
    arguments = *key, np.uint32(path), np.uint32(stream), rounds, out
    launch.launch(kernel_, blocks, launch.THREADS, launch_stream, arguments)
