"""Arrays and loops over items on a GPU; `lbm._kernels.items.Loops` has the functions."""

from __future__ import annotations

import functools

import numpy as np
from numba import int64

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.launch import blocks_for, grid_stride_blocks
from hetero.cuda.launcher import prepare_launch
from hetero.jit import kernel
from hetero.measurement import profiling
from lbm._kernels.items.sources import fill_in

THREADS = 128
"""Threads of a block; not tuned."""

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


@functools.cache
def make_kernel(text, item):
    """Make the kernel of a text over an item."""
    if SIMULATOR:  # its arrays are none that compiled code takes
        item = item.py_func
    return kernel(fill_in(text, item, cuda=cuda, int64=int64))


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


def prepare(item, count, arguments, stream=0):
    """Return a function that calls an item for all numbers below `count`."""
    grid = (blocks_for(count, THREADS),)
    run = make_kernel(LOOP, item)
    return prepare_launch(run, grid, (THREADS,), stream, (np.int64(count), *arguments))


def prepare_sum(item, count, arguments, total, stream=0):
    """Return a function that sums up what items return."""
    grid, numbers = (grid_stride_blocks(count, THREADS),), (np.int64(count), total)
    run = make_kernel(SUM, item)
    add = prepare_launch(run, grid, (THREADS,), stream, (*numbers, *arguments))
    clear_total = prepare_launch(clear, (1,), (1,), stream, (total,))

    def sum_up():
        clear_total()
        add()

    return sum_up


@kernel
def clear(total):
    """Set total[0] to 0."""
    total[0] = 0
