"""Sums of the empirical characteristic function, and the regression, on the CPU."""

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel
from stablegpu._fit.estimators.koutrouvelis import formulas

_FIRST = 1 << 21
"""Observations of the first piece of a long loop (`hetero.cpu.interruptible`): 0.3 s at most."""


@parallel
def _add(x, starts, stops, estimates, parts, sums):
    """Add up cosines and sines of each part of each data set."""
    for index in prange(starts.size * parts):
        s, part = index // parts, index % parts
        count = stops[s] - starts[s]
        low, high = starts[s] + part * count // parts, starts[s] + (part + 1) * count // parts
        scale = estimates[s, 3]
        centre = formulas.origin(estimates[s, 0], estimates[s, 1], estimates[s, 2], scale)
        total = np.zeros(formulas.SUMS)
        for k in range(formulas.POINTS):
            t = formulas.point(k, estimates[s, 0])
            for i in range(low, high):
                real, imaginary = formulas.wave(t * ((x[i] - centre) / scale))
                total[k] += real
                total[formulas.POINTS + k] += imaginary
        sums[index] = total


@parallel
def _regress(starts, stops, parts, sums, estimates, is_last):
    for index in prange(starts.size):
        s = np.int64(index)
        total = np.zeros(formulas.SUMS)
        for part in range(parts):
            total += sums[s * parts + part]
        estimate = formulas.regress(
            (estimates[s, 0], estimates[s, 1], estimates[s, 2], estimates[s, 3]),
            *(total, float(stops[s] - starts[s]), np.empty(formulas.SCRATCH), is_last),
        )
        estimates[s, 0], estimates[s, 1], estimates[s, 2], estimates[s, 3] = estimate


def add_up(x, starts, stops, parts, sums, estimates, stream=0):
    """Write the sums of the empirical characteristic function of each part of each set."""
    largest = int(np.max(stops - starts))
    for a, b in ranges(starts.size, first=max(1, _FIRST // largest)):
        _add(x, starts[a:b], stops[a:b], estimates[a:b], parts, sums[a * parts : b * parts])


def regress(starts, stops, parts, sums, estimates, is_last, stream=0):
    """Compute new estimates from the last ones and the sums of their sets."""
    _regress(starts, stops, parts, sums, estimates, is_last)
