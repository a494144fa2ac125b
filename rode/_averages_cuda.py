"""Sums over stretches of a path on the GPU: a warp a part, sixteen bytes a load."""

from __future__ import annotations

import functools

import numpy as np
from numba import int64, uint64

from hetero import launch
from hetero._driver import cuda
from hetero.jit import kernel, scalar
from rode._memory import load, resident
from rode._vectors import cast, replaced

THREADS = 256
PART = 4096
"""Most elements of a window that a warp adds up; longer windows have several parts."""

_ALL = 0xFFFFFFFF


@functools.cache
def sums_kernel(dtype, count):
    """The kernel for `count` powers."""
    size = 16 // np.dtype(dtype).itemsize
    nothing, four = (0.0,) * count, (0.0,) * size

    @scalar
    def add(total, x, left, share):
        """The sums with the numbers of x, the first of which is `left` steps before the end."""
        for i in range(size):
            term, u = x[i], type(share)(left - i) * share
            for d in range(count):
                total = replaced(total, int64(d), total[d] + term)
                term *= u
        return total

    @kernel
    def add_parts(path, steps, part, parts, share, aligned, out):
        """out[d, w * parts + k] = sum of ((M - j)/M)^d x_j over part k of window w; share = 1/M."""
        lane = int64(cuda.threadIdx.x) % 32
        row = (int64(cuda.blockIdx.x) * THREADS + int64(cuda.threadIdx.x)) // 32
        if row >= out.shape[1]:
            return
        window, low = row // parts, row % parts * part
        high = min(low + part, steps)
        total = cast(nothing, share)
        x = cast(four, share)
        j, at = low + lane * size, uint64(window * steps + low + lane * size)
        while aligned and j + 96 * size + size <= high:  # four loads are in flight
            x0, x1 = load(path, at, x), load(path, at + uint64(32 * size), x)
            x2 = load(path, at + uint64(64 * size), x)
            x3 = load(path, at + uint64(96 * size), x)
            total = add(total, x0, steps - j, share)
            total = add(total, x1, steps - j - 32 * size, share)
            total = add(total, x2, steps - j - 64 * size, share)
            total = add(total, x3, steps - j - 96 * size, share)
            j, at = j + 128 * size, at + uint64(128 * size)
        while j < high:
            for i in range(size):
                inside = j + i < high
                value = path[window * steps + j + i] if inside else share - share
                x = replaced(x, int64(i), value)
            total = add(total, x, steps - j, share)
            j += 32 * size
        for d in range(count):
            value = total[d]
            for k in range(5):
                value += cuda.shfl_xor_sync(_ALL, value, 16 >> k)
            if lane == 0:
                out[d, row] = value

    return add_parts


@kernel
def join_parts(partial, parts, out):
    """Parts of a window in their order."""
    for w in range(cuda.grid(1), out.shape[1], cuda.gridsize(1)):
        for d in range(out.shape[0]):
            total = partial[d, w * parts]
            for k in range(1, parts):
                total += partial[d, w * parts + k]
            out[d, w] = total


@kernel
def finish_windows(path, steps, weights, out):
    for w in range(cuda.grid(1), out.shape[1], cuda.gridsize(1)):
        at = w * steps
        for d in range(out.shape[0]):
            value = out[d, w] + weights[d, 1] * path[at]
            if weights[d, 2] != 0.0:
                value += weights[d, 2] * path[at + steps]
            out[d, w] = weights[d, 0] * value


join_float32, join_float64 = kernel(join_parts.py_func), kernel(join_parts.py_func)
finish_float32, finish_float64 = kernel(finish_windows.py_func), kernel(finish_windows.py_func)
del join_parts, finish_windows


def sums(path, steps, out, stream=0):
    """out[d, w] = sum over j < M of ((M - j)/M)^d path[w M + j], M = steps."""
    dtype = np.dtype(out.dtype)
    windows, parts = out.shape[1], -(-steps // PART)
    size = 16 // dtype.itemsize
    interface = getattr(path, "__cuda_array_interface__", None)
    aligned = interface is not None and interface["data"][0] % 16 == 0 and steps % size == 0
    target = out
    if parts > 1:
        target = cuda.device_array((out.shape[0], windows * parts), dtype, stream=stream)
    grid = launch.blocks(32 * windows * parts, THREADS)
    sums_kernel(dtype.name, out.shape[0])[grid, THREADS, stream](
        path, steps, min(PART, steps), parts, dtype.type(1.0 / steps), aligned, target
    )
    if parts > 1:
        join = join_float32 if dtype == np.float32 else join_float64
        join[launch.strided(windows), THREADS, stream](target, parts, out)


def finish(path, steps, weights, out, stream=0):
    """out[d, w] = scale (out[d, w] + first path[w M] + last path[(w + 1) M]); the row d of weights
    has these three numbers."""
    chosen = finish_float32 if np.dtype(out.dtype) == np.float32 else finish_float64
    grid = launch.strided(out.shape[1])
    chosen[grid, THREADS, stream](path, steps, resident(weights), out)
