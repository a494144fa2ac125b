"""Sorted data sets and McCulloch's estimates on the CPU."""

import numpy as np
from numba import prange

from hetero.jit import parallel, serial
from stablegpu._fit_start_math import start_of


@serial
def _merge(x, w, low, middle, high, x_out, w_out):
    """Two sorted stretches into one; weights go along where there are any."""
    i, j = low, middle
    for k in range(low, high):
        left = i < middle and (j >= high or x[i] <= x[j])
        at = i if left else j
        x_out[k] = x[at]
        if w.size:
            w_out[k] = w[at]
        i, j = (i + 1, j) if left else (i, j + 1)


@serial
def _sort(x, w):
    """Merge sort of data and weights, in place. (Numba's own sorts take 7 s to compile.)"""
    x_other, w_other = np.empty_like(x), np.empty_like(w)
    x_now, w_now = x, w
    width = 1
    while width < x.size:
        for low in range(0, x.size, 2 * width):
            middle, high = min(low + width, x.size), min(low + 2 * width, x.size)
            _merge(x_now, w_now, low, middle, high, x_other, w_other)
        x_now, x_other, w_now, w_other = x_other, x_now, w_other, w_now
        width *= 2
    x[:], w[:] = x_now, w_now


@parallel
def _sort_sets(data, weights, starts, stops, places, x, w):
    for index in prange(starts.size):
        s = np.int64(index)
        first, last = places[s], places[s] + stops[s] - starts[s]
        for i in range(first, last):
            value = data[starts[s] + i - first]
            x[i] = value if value == value else np.inf  # NaN is as bad, and cannot be sorted
        own = w[first:last] if weights.size else w
        if weights.size:
            own[:] = weights[starts[s] : stops[s]]
        _sort(x[first:last], own)


@parallel
def _start_sets(x, w, firsts, lasts, surfaces, laws):
    for index in prange(firsts.size):
        s = np.int64(index)
        laws[s, 0], laws[s, 1], laws[s, 2], laws[s, 3] = start_of(
            x, w, firsts[s], lasts[s], surfaces
        )


def sort(data, weights, starts, stops, places, longest, x, w, stream=0):
    """Set s of the data, data[starts[s]:stops[s]], sorted to x from places[s] on; weights to w."""
    _sort_sets(data, weights, starts, stops, places, x, w)


def start(x, w, firsts, lasts, surfaces, laws, stream=0):
    """alpha, beta, S0 location and scale of sorted sets x[firsts[s]:lasts[s]], a row each."""
    _start_sets(x, w, firsts, lasts, surfaces, laws)
