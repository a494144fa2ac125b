"""Arrays and loops over items in host memory; `lbm._kernels.items.Loops` has the functions."""

from __future__ import annotations

import functools

import numpy as np
from numba import prange

from hetero.jit import parallel
from lbm._kernels.items.sources import fill_in

LANES = 64
"""Parts of a loop whose sums are added up, or lists joined, in the end; not tuned."""

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

ADDING = """
def run(counts, which, per, sums, ARGUMENTS):
    count, lanes = counts[which], sums.shape[1]
    for lane in prange(lanes):
        for i in range(lane * count // lanes, (lane + 1) * count // lanes):
            for k in range(per):
                item(int64(i), int64(k), int64(lane), sums, ARGUMENTS)
"""

JOINING = """
def run(counts, which, per, sums, ARGUMENTS):
    count, lanes = counts[which], sums.shape[1]
    for lane in prange(lanes):
        for i in range(lane * count // lanes, (lane + 1) * count // lanes):
            for k in range(per):
                part(int64(i), int64(k), int64(lane), ARGUMENTS)
            item(int64(i), int64(lane), sums, ARGUMENTS)
"""

CHOICE = """
def run(count, chosen, lengths, ARGUMENTS):
    lanes = LANES
    found = zeros((2, lanes), int64)
    for lane in prange(lanes):
        begin = lane * count // lanes
        first = second = begin
        for i in range(begin, (lane + 1) * count // lanes):
            value = item(int64(i), ARGUMENTS)
            if value & 1:
                chosen[0, first] = value >> 2
                first += 1
            if value & 2:
                chosen[1, second] = value >> 2
                second += 1
        found[0, lane] = first - begin
        found[1, lane] = second - begin
    for k in range(2):
        length = 0
        for lane in range(lanes):
            begin = lane * count // lanes
            for j in range(begin, begin + found[k, lane]):
                chosen[k, length] = chosen[k, j]
                length += 1
        lengths[k] = length
"""

LOOPS = {"each": (LOOP, 1), "sum": (SUM, 1), "add": (ADDING, 4), "join": (JOINING, 3),
         "choose": (CHOICE, 1)}  # fmt: skip
"""Texts of loops by their kinds, and how many arguments of an item are the loop's own."""


@functools.cache
def make_loop(text, item, leading=1, part=None):
    """Make the loop of a text over an item."""
    names = {"prange": prange, "int64": np.int64, "zeros": np.zeros, "LANES": LANES,
             "part": part}  # fmt: skip
    return parallel(fill_in(text, item, leading, **names))


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


def prepare(kind, item, most, numbers, arguments, stream=None, part=None):
    """Return a function that runs the loop of a kind over items."""
    text, leading = LOOPS[kind]
    run = make_loop(text, item, leading, part)
    return lambda: run(*numbers, *arguments)
