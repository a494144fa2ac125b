"""Response spectra on the CPU: groups of oscillators advance side by side in vector registers."""

import numpy as np
from numba import prange

import hetero
from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, serial
from rode.spectra.formulas import advance, total_acceleration

GROUP = 64
"""Oscillators that advance side by side: their numbers stay in the first cache. Not tuned."""

FIRST_STEPS = 1 << 28
"""Steps of all oscillators of the first piece of work: less than a second."""


def compute_peaks(records, coefficients, result, stream=0):
    """Fill `result` with the largest responses; see the Protocol."""
    count, samples = records.shape
    groups = -(-coefficients.shape[1] // GROUP)
    first = max(1, FIRST_STEPS // (GROUP * samples))
    for begin, end in ranges(count * groups, first=first, multiple=hetero.threads()):
        _compute_groups(records, coefficients, result, groups, begin, end)


@parallel
def _compute_groups(records, coefficients, result, groups, begin, end):
    """Compute groups of oscillators, each for one record."""
    for number in prange(begin, end):
        record, low = number // groups, number % groups * GROUP
        high = min(low + GROUP, coefficients.shape[1])
        _follow(records[record], coefficients[:, low:high], result[:, record, low:high])


@serial
def _follow(a, coefficients, peaks):
    """Follow some oscillators through a record, from rest."""
    size = coefficients.shape[1]
    c = np.empty((10, size), a.dtype)  # contiguous rows, so that loads are vectors
    c[:] = coefficients
    x, v = np.zeros(size, a.dtype), np.zeros(size, a.dtype)
    largest_x, largest_v, largest_a = (
        np.zeros(size, a.dtype),
        np.zeros(size, a.dtype),
        np.zeros(size, a.dtype),
    )
    x_x, x_v, x_a, x_b, v_x, v_v, v_a, v_b, stiffness, damping = (
        c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9],
    )  # fmt: skip
    for n in range(a.size - 1):
        before, after = a[n], a[n + 1]
        for i in range(size):
            new_x, new_v = advance(
                x[i], v[i], before, after,
                x_x[i], x_v[i], x_a[i], x_b[i], v_x[i], v_v[i], v_a[i], v_b[i],
            )  # fmt: skip
            x[i], v[i] = new_x, new_v
            size_x, size_v = abs(new_x), abs(new_v)
            size_a = total_acceleration(new_x, new_v, stiffness[i], damping[i])
            largest_x[i] = size_x if size_x > largest_x[i] else largest_x[i]
            largest_v[i] = size_v if size_v > largest_v[i] else largest_v[i]
            largest_a[i] = size_a if size_a > largest_a[i] else largest_a[i]
    peaks[0] = largest_x
    peaks[1] = largest_v
    peaks[2] = largest_a
