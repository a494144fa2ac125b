"""Prefix sum of (Riesinger 2017) on the CPU: up-sweep and down-sweep of blocks, and fix-up."""

from __future__ import annotations

import numpy as np
from numba import int64, prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel

FIRST_BLOCKS = 1 << 14
"""Blocks that are swept at first: less than a second's work."""

SWEEP = 1024
"""Elements that are swept together."""


@parallel
def _sweep(noise, powers, sigma, totals, out):
    """Sweep blocks from 0; totals[b] gets the last value of block b."""
    for b in prange(totals.size):
        base = int64(b) * SWEEP
        x = np.zeros(SWEEP, out.dtype)
        for i in range(min(SWEEP, out.size - base)):
            x[i] = sigma * noise[base + i]
        width, d = 1, 0
        while width < SWEEP:
            for i in range(2 * width - 1, SWEEP, 2 * width):
                x[i] += powers[d] * x[i - width]
            width, d = 2 * width, d + 1
        while width > 1:
            width, d = width // 2, d - 1
            for i in range(3 * width - 1, SWEEP, 2 * width):
                x[i] += powers[d] * x[i - width]
        for i in range(min(SWEEP, out.size - base)):
            out[base + i] = x[i]
        totals[b] = x[SWEEP - 1]


@parallel
def _fix(out, values, weights, start):
    """Add to each block what the value before it contributes."""
    for b in prange(values.size):
        block = int64(b)
        before = start if block == 0 else values[block - 1]
        for p in range(min(SWEEP, out.size - block * SWEEP)):
            out[block * SWEEP + p] += weights[p] * before


def fill(powers, weights, sigma, start, noise, out, stream=0):
    """Fill `out` with the path of `noise` from `start` by up-sweep and down-sweep."""
    T = out.dtype.type
    totals = np.empty(-(-out.size // SWEEP), out.dtype)
    for begin, end in ranges(totals.size, first=FIRST_BLOCKS):
        part = slice(begin * SWEEP, end * SWEEP)
        _sweep(noise[part], powers[0], T(sigma), totals[begin:end], out[part])
    values = totals
    if totals.size > 1:
        values = np.empty_like(totals)
        fill(powers[1:], weights[1:], 1.0, start, totals, values)
    for begin, end in ranges(totals.size, first=FIRST_BLOCKS):
        before = values[begin - 1] if begin else T(start)
        _fix(out[begin * SWEEP : end * SWEEP], values[begin:end], weights[0], before)
