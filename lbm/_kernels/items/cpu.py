"""Arrays and loops over items in host memory; `lbm._kernels.items.Loops` has the functions."""

from __future__ import annotations

import functools

import numpy as np
from numba import prange

from hetero.jit import parallel
from lbm._kernels.items.sources import fill_in

LOOP = """
def run(count, ARGUMENTS):
    for i in prange(count):
        item(int64(i), ARGUMENTS)
"""

SUM = """
def run(count, total, ARGUMENTS):
    sum = int64(0)
    for i in prange(count):
        sum += item(int64(i), ARGUMENTS)
    total[0] = sum
"""


@functools.cache
def make_loop(text, item):
    """Make the loop of a text over an item."""
    return parallel(fill_in(text, item, prange=prange, int64=np.int64))


def zeros(shape, dtype):
    """Allocate an array of zeros."""
    return np.zeros(shape, dtype)


def put(array):
    """Return a contiguous copy of an array."""
    return np.array(array, order="C")


def get(array):
    """Return a copy of an array."""
    return array.copy()


def set(array, values):
    """Set an array to values."""
    array[...] = values


def copy(source, target):
    """Copy an array over another one."""
    np.copyto(target, source)


def prepare(item, count, arguments, stream=None):
    """Return a function that calls an item for all numbers below `count`."""
    run, size = make_loop(LOOP, item), np.int64(count)
    return lambda: run(size, *arguments)


def prepare_sum(item, count, arguments, total, stream=None):
    """Return a function that sums up what items return."""
    run, size = make_loop(SUM, item), np.int64(count)
    return lambda: run(size, total, *arguments)
