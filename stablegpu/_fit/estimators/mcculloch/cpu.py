"""Sorted data sets and McCulloch's estimates on the CPU."""

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, serial
from stablegpu._fit.estimators.mcculloch.formulas import TIES, TOTAL, start_of, weight_of_equals

_FIRST = 256
"""Data sets of the first piece of a long loop (`interruptible.ranges`): each takes up to 1 ms."""


@serial
def _merge(x, w, low, middle, high, x_out, w_out):
    """Merge two sorted stretches into one, and their weights if there are any."""
    i, j = low, middle
    for k in range(low, high):
        left = i < middle and (j >= high or x[i] <= x[j])
        source = i if left else j
        x_out[k] = x[source]
        if w.size:
            w_out[k] = w[source]
        i, j = (i + 1, j) if left else (i, j + 1)


@serial
def _sort(x, w):
    """Sort data and weights by merging, in place.

    Numba's own sorts take 7 s to compile, and array assignments in place of the loops 2 s.
    """
    x_other, w_other = np.empty_like(x), np.empty_like(w)
    x_now, w_now = x, w
    width = 1
    while width < x.size:
        for low in range(0, x.size, 2 * width):
            middle, high = min(low + width, x.size), min(low + 2 * width, x.size)
            _merge(x_now, w_now, low, middle, high, x_other, w_other)
        x_now, x_other, w_now, w_other = x_other, x_now, w_other, w_now
        width *= 2
    for k in range(x.size):
        x[k] = x_now[k]
    for k in range(w.size):
        w[k] = w_now[k]


@parallel
def _sort_sets(data, weights, sources, ends, x, w, estimates):
    """Sort each data set and count its equal data."""
    for index in prange(ends.shape[0]):
        s = np.int64(index)
        start, first, last = sources[s, 0], ends[s, 0], ends[s, 1]
        for i in range(first, last):
            value = data[start + i - first]
            x[i] = value if value == value else np.inf  # NaN does not sort; both are rejected later
            if weights.size:
                w[i] = weights[start + i - first]
        values, value_weights = x[first:last], w[first:last] if weights.size else w
        _sort(values, value_weights)
        estimates[s, TIES] = estimates[s, TOTAL] = 0.0
        for i in range(values.size):
            equal = weight_of_equals(
                values, value_weights, 0, value_weights.size > 0, i, values.size
            )
            estimates[s, TIES] = max(estimates[s, TIES], equal)
            estimates[s, TOTAL] += equal


@parallel
def _start_sets(x, w, ends, surfaces, estimates):
    for index in prange(ends.shape[0]):
        s = np.int64(index)
        estimates[s, 0], estimates[s, 1], estimates[s, 2], estimates[s, 3] = start_of(
            x, w, ends[s, 0], ends[s, 1], surfaces
        )


def sort(unsorted, sources, ends, longest, in_order, estimates, stream=0):
    """Write set s, which starts at data[sources[s, 0]], sorted to x[ends[s, 0]:ends[s, 1]]."""
    for a, b in ranges(len(ends), first=_FIRST):
        _sort_sets(*unsorted, sources[a:b], ends[a:b], *in_order, estimates[a:b])


def start(x, w, ends, surfaces, estimates, stream=0):
    """Write alpha, beta, S0 location and scale of each sorted set x[ends[s, 0]:ends[s, 1]]."""
    for a, b in ranges(len(ends), first=_FIRST):
        _start_sets(x, w, ends[a:b], surfaces, estimates[a:b])
