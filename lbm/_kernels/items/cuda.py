"""Arrays and loops over items on a GPU; `lbm._kernels.items.Loops` has the functions."""

from __future__ import annotations

import functools

import numpy as np
from numba import int32, int64

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.launch import blocks_for, grid_stride_blocks
from hetero.cuda.launcher import Launcher
from hetero.jit import kernel
from hetero.measurement import profiling
from lbm._kernels.items.sources import fill_in

THREADS = 128
"""Threads of a block; not tuned."""

LANES = 4 if SIMULATOR else 512
"""Sums among which the threads of a loop are spread: they would wait for each other; not tuned."""

MOST_SUMS = 12
"""Largest number of sums to which items add: each thread has its own until it ends."""

LOOP = """
def run(count, ARGUMENTS):
    i = cuda.grid(1)
    if i < count:
        item(i, ARGUMENTS)
"""

SUM = """
def run(count, total, ARGUMENTS):
    block = cuda.shared.array(1, int64)
    if cuda.threadIdx.x == 0:
        block[0] = 0
    cuda.syncthreads()
    own = int64(0)
    for i in range(cuda.grid(1), count, cuda.gridsize(1)):
        own += item(i, ARGUMENTS)
    cuda.atomic.add(block, 0, own)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(total, 0, block[0])
"""

ADDING = """
def run(counts, which, per, sums, ARGUMENTS):
    own = cuda.local.array((ROWS, 1), int64)
    for row in range(ROWS):
        own[row, 0] = 0
    first, count = cuda.grid(1), counts[which]
    for n in range(first, count * per, cuda.gridsize(1)):
        k = n // count
        item(n - k * count, k, int64(0), own, ARGUMENTS)
    for row in range(sums.shape[0]):
        if own[row, 0] != 0:
            cuda.atomic.add(sums, (row, first % sums.shape[1]), own[row, 0])
"""

JOINING = """
def run(counts, which, per, sums, ARGUMENTS):
    lane, k = int64(cuda.blockIdx.x), int64(cuda.threadIdx.x)
    for i in range(lane, counts[which], cuda.gridDim.x):
        if k < per:
            part(int64(i), k, lane, ARGUMENTS)
        cuda.syncthreads()
        if k == 0:
            item(int64(i), lane, sums, ARGUMENTS)
        cuda.syncthreads()
"""

CHOICE = """
def run(count, chosen, lengths, ARGUMENTS):
    length = cuda.shared.array(2, int32)
    begin = cuda.shared.array(2, int64)
    t = cuda.threadIdx.x
    if t < 2:
        length[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    value = int64(0)
    if i < count:
        value = item(i, ARGUMENTS)
    first, second = int32(0), int32(0)
    if value & 1:
        first = cuda.atomic.add(length, 0, int32(1))
    if value & 2:
        second = cuda.atomic.add(length, 1, int32(1))
    cuda.syncthreads()
    if t < 2 and length[t] > 0:
        begin[t] = cuda.atomic.add(lengths, t, int64(length[t]))
    cuda.syncthreads()
    if value & 1:
        chosen[0, begin[0] + first] = value >> 2
    if value & 2:
        chosen[1, begin[1] + second] = value >> 2
"""

LOOPS = {
    "each": (LOOP, 1, blocks_for),
    "sum": (SUM, 1, grid_stride_blocks),
    "add": (ADDING, 4, grid_stride_blocks),
    "join": (JOINING, 3, None),
    "choose": (CHOICE, 1, blocks_for),
}
"""Texts of kernels by their kinds, how many arguments of an item are the loop's own, and the
function that counts blocks; those of "join" have the lane of their number."""


@functools.cache
def make_kernel(text, item, leading=1, part=None):
    """Make the kernel of a text over an item."""
    if SIMULATOR:  # its arrays are none that compiled code takes
        item, part = item.py_func, part and part.py_func
    names = {"cuda": cuda, "int64": int64, "int32": int32, "ROWS": MOST_SUMS, "part": part}
    return kernel(fill_in(text, item, leading, **names))


def zeros(shape, dtype):
    """Allocate an array of zeros on the current GPU."""
    return cuda.to_device(np.zeros(shape, dtype))


def put(array):
    """Return a copy of an array on the current GPU."""
    profiling.count_transfer(to_device=array.nbytes)
    return cuda.to_device(np.ascontiguousarray(array))


def get(array):
    """Return an array in host memory."""
    profiling.count_transfer(to_host=array.nbytes)
    return array.copy_to_host()


def set(array, values):
    """Set an array to values."""
    values = np.ascontiguousarray(np.broadcast_to(values, array.shape), array.dtype)
    profiling.count_transfer(to_device=values.nbytes)
    array.copy_to_device(values)


def copy(source, target):
    """Copy an array of the GPU over another one."""
    target.copy_to_device(source)


def prepare(kind, item, most, numbers, arguments, stream=0, part=None):
    """Return a function that runs the loop of a kind over items; it clears what is to be set."""
    text, leading, count_blocks = LOOPS[kind]
    grid, threads = (LANES, 32) if kind == "join" else (count_blocks(most, THREADS), THREADS)
    run = make_kernel(text, item, leading, part)
    launch = Launcher(run, (grid,), (threads,), stream, (*numbers, *arguments))
    if kind not in ("sum", "choose"):
        return launch
    result = numbers[-1]
    clear_result = Launcher(clear, (1,), (result.size,), stream, (result,))

    def clear_and_launch():
        clear_result()
        launch()

    return clear_and_launch


@kernel
def clear(numbers):
    """Set a number to 0 for each thread."""
    numbers[cuda.threadIdx.x] = 0
