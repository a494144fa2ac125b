"""Sums over stretches of a path on the CPU."""

import numpy as np
from numba import prange

import hetero
from hetero.cpu.interruptible import ranges
from hetero.jit import SUMS, parallel, serial

FIRST_ELEMENTS = 1 << 24
"""Elements that are added up at first: less than a second's work."""

PART = 4096
"""Elements that are added up at once; the parts follow in their order."""


@serial(fastmath=SUMS)
def _sum_part(x, first, steps, d):
    """Return the sum of ((M - j)/M)^d x_j for j = first and on."""
    total, share = 0.0, 1.0 / steps
    if d == 0:  # these loops vectorise, unlike the general one
        for i in range(x.size):
            total += np.float64(x[i])
    elif d == 1:
        for i in range(x.size):
            total += (steps - first - i) * share * np.float64(x[i])
    else:
        for i in range(x.size):
            u = (steps - first - i) * share
            weight = u
            for _ in range(1, d):
                weight *= u
            total += weight * np.float64(x[i])
    return total


@parallel
def _sum_windows(path, steps, begin, end, out):
    """Sum the windows begin to end; see `fill_sums`."""
    for i in prange(end - begin):
        w = begin + np.int64(i)
        window = path[w * steps : (w + 1) * steps]
        for d in range(out.shape[0]):
            total = 0.0
            for low in range(0, steps, PART):
                total += _sum_part(window[low : min(low + PART, steps)], low, steps, d)
            out[d, w] = total


def fill_sums(path, steps, out, stream=0, threads=0):
    """Fill out[d, w] with the sum over j < M of ((M - j)/M)^d path[w M + j], M = steps."""
    for begin, end in _window_ranges(out, steps):
        _sum_windows(path, steps, begin, end, out)


def _window_ranges(out, steps):
    """Return ranges of windows, between which signals are answered."""
    if out.shape[1] * steps <= FIRST_ELEMENTS:
        return ((0, out.shape[1]),)
    return ranges(out.shape[1], first=FIRST_ELEMENTS // steps, multiple=hetero.threads())


@parallel
def _finish_windows(path, steps, weights, begin, end, out):
    """Finish the sums of the windows begin to end; see `finish`."""
    for i in prange(end - begin):
        w = begin + np.int64(i)
        start = w * steps
        for d in range(out.shape[0]):
            scale, first, last = weights[d]
            value = out[d, w] + first * path[start]
            if last != 0.0:
                value += last * path[start + steps]
            out[d, w] = scale * value


def finish(path, steps, weights, out, stream=0):
    """Replace out[d, w] by scale (out[d, w] + first path[w M] + last path[(w + 1) M])."""
    for begin, end in _window_ranges(out, steps):
        _finish_windows(path, steps, weights, begin, end, out)
