"""Sorted data sets and McCulloch's estimates on the CPU."""

import numpy as np
from numba import prange

from hetero.jit import parallel
from stablegpu._fit_start_math import start_of


@parallel
def _sort_sets(data, weights, starts, stops, places, x, w):
    for index in prange(starts.size):
        s = np.int64(index)
        first, count = places[s], stops[s] - starts[s]
        part = data[starts[s] : stops[s]]
        if weights.size:
            order = np.argsort(part)
            for i in range(count):
                x[first + i] = part[order[i]]
                w[first + i] = weights[starts[s] + order[i]]
        else:
            x[first : first + count] = np.sort(part)


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
