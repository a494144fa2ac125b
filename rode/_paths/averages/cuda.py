"""Sums over stretches of a path on the GPU, with loads of sixteen bytes.

A warp or a part of it sums a part of a window; a second kernel joins windows of several parts.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import int64, uint64

from hetero.cuda import launch
from hetero.cuda.device_cache import resident, scratch
from hetero.cuda.driver import cuda
from hetero.intrinsics.warp import FULL_MASK, warp_sum
from hetero.jit import kernel, scalar
from rode._intrinsics.memory import load_vector
from rode._intrinsics.tuple_algebra import cast, replace_component

THREADS = 256
"""Number of threads in a block."""

PART = 4096
"""Least number of elements of a part of a window."""

PARTS = 4096
"""Largest number of parts of a window."""


@functools.cache
def sums_kernel(dtype, count):
    """Return the kernel that sums a path with `count` powers of the weights."""
    size = 16 // np.dtype(dtype).itemsize
    nothing, four = (0.0,) * count, (0.0,) * size

    @scalar
    def add(total, x, left, share):
        """Add the numbers of x, the first of which is `left` steps before the end."""
        for i in range(size):
            term, u = x[i], type(share)(left - i) * share
            for d in range(count):
                total = replace_component(total, int64(d), total[d] + term)
                term *= u
        return total

    @kernel
    def add_parts(path, steps, part, parts, lanes, share, aligned, out):
        """Fill out[d, w * parts + k] with the sum of ((M - j)/M)^d x_j over part k of window w.

        `lanes` threads of a warp take a part; share = 1/M.
        """
        lane = int64(cuda.threadIdx.x) % lanes
        row = int64(cuda.grid(1)) // lanes
        writes = row < out.shape[1] and lane == 0
        row = min(row, out.shape[1] - 1)  # threads without work take part in shuffles
        window, low = row // parts, row % parts * part
        high = min(low + part, steps)
        total = cast(nothing, share)
        x = cast(four, share)
        stride = lanes * size
        j, index = low + lane * size, uint64(window * steps + low + lane * size)
        while aligned and j + 3 * stride + size <= high:  # four loads are in flight
            x0, x1 = load_vector(path, index, x), load_vector(path, index + uint64(stride), x)
            x2 = load_vector(path, index + uint64(2 * stride), x)
            x3 = load_vector(path, index + uint64(3 * stride), x)
            total = add(total, x0, steps - j, share)
            total = add(total, x1, steps - j - stride, share)
            total = add(total, x2, steps - j - 2 * stride, share)
            total = add(total, x3, steps - j - 3 * stride, share)
            j, index = j + 4 * stride, index + uint64(4 * stride)
        while aligned and j + size <= high:
            total = add(total, load_vector(path, index, x), steps - j, share)
            j, index = j + stride, index + uint64(stride)
        while j < high:
            for i in range(size):
                inside = j + i < high
                value = path[window * steps + j + i] if inside else share - share
                x = replace_component(x, int64(i), value)
            total = add(total, x, steps - j, share)
            j += stride
        for d in range(count):
            value, distance = total[d], lanes // 2
            while distance > 0:
                value += cuda.shfl_xor_sync(FULL_MASK, value, distance)
                distance //= 2
            if writes:
                out[d, row] = value

    return add_parts


@kernel
def join_parts(partial, parts, out):
    """Join the parts of each window by a warp, of which a lane adds every 32nd part."""
    w, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    if w >= out.shape[1]:
        return
    for d in range(out.shape[0]):
        total = partial[d, 0] - partial[d, 0]
        for k in range(lane, parts, 32):
            total += partial[d, w * parts + k]
        total = warp_sum(total)
        if lane == 0:
            out[d, w] = total


@kernel
def finish_windows(path, steps, weights, out):
    """Finish the sums of windows; see `finish`."""
    for w in range(cuda.grid(1), out.shape[1], cuda.gridsize(1)):
        start = w * steps
        for d in range(out.shape[0]):
            value = out[d, w] + weights[d, 1] * path[start]
            if weights[d, 2] != 0.0:
                value += weights[d, 2] * path[start + steps]
            out[d, w] = weights[d, 0] * value


def fill_sums(path, steps, out, stream=0, threads=THREADS):
    """Fill out[d, w] with the sum over j < M of ((M - j)/M)^d path[w M + j], M = steps."""
    dtype, windows = np.dtype(out.dtype), out.shape[1]
    size = 16 // dtype.itemsize
    part = 128 * -(-max(PART, -(-steps // PARTS)) // 128)
    parts = -(-steps // part)
    lanes = _lanes(steps // size)
    interface = getattr(path, "__cuda_array_interface__", None)
    aligned = interface is not None and interface["data"][0] % 16 == 0 and steps % size == 0
    target = out
    if parts > 1:
        target = scratch("parts", out.shape[0] * windows * parts, dtype, stream)
        target = target.reshape((out.shape[0], windows * parts))
    grid = launch.blocks_for(lanes * windows * parts, threads)
    arguments = (path, steps, part, parts, lanes, dtype.type(1.0 / steps), aligned, target)
    launch.launch(sums_kernel(dtype.name, out.shape[0]), grid, threads, stream, arguments)
    if parts > 1:
        grid = launch.blocks_for(32 * windows, THREADS)
        launch.launch(join_parts, grid, THREADS, stream, (target, parts, out))


def _lanes(loads: int) -> int:
    """Return how many threads share a window of so many loads: four each, four threads at least."""
    return min(32, max(4, 1 << max(0, (loads // 4).bit_length() - 1)))


def finish(path, steps, weights, out, stream=0):
    """Replace out[d, w] by scale (out[d, w] + first path[w M] + last path[(w + 1) M])."""
    arguments = (path, steps, resident(weights), out)
    launch.launch_over(finish_windows, out.shape[1], arguments, stream)
