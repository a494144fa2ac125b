"""Special functions on the CPU."""

import math

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel
from stablegpu.special import formulas

_BLOCK = 512
"""Lanes of a sum that a thread carries at once: long enough for vectors, short enough for L1."""

_FIRST = 1 << 21
"""Elements of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""


def _elementwise(formula):
    @parallel
    def loop(x, out):
        for i in prange(out.size):
            out[i] = formula(x[i])

    return loop


_log_ndtr, _ndtr = _elementwise(formulas.log_ndtr), _elementwise(formulas.ndtr)


def log_ndtr(x, out, stream=0):
    """Fill `out` with the logarithm of the normal distribution function."""
    for a, b in ranges(out.size, first=_FIRST):
        _log_ndtr(x[a:b], out[a:b])


def ndtr(x, out, stream=0):
    """Fill `out` with the normal distribution function."""
    for a, b in ranges(out.size, first=_FIRST):
        _ndtr(x[a:b], out[a:b])


@parallel
def _expn(x, near, far, expansion, out):
    for i in prange(out.size):
        out[i] = formulas.expn(x[i], near, far, expansion)


def expn(x, near, far, expansion, out, stream=0):
    """Fill `out` with the exponential integral of the order that the table is for."""
    for a, b in ranges(out.size, first=_FIRST):
        _expn(x[a:b], near, far, expansion, out[a:b])


@parallel
def _fold(tops, rests, bare, row, lanes, top_out, rest_out):
    """Fold the lanes in blocks of neighbours, so that rows are read in the order of memory."""
    blocks = -(-lanes // _BLOCK)
    for job in prange(top_out.size // max(lanes, 1) * blocks):
        outer, first = job // blocks, job % blocks * _BLOCK
        width = min(_BLOCK, lanes - first)
        top, remainder = np.empty(width, tops.dtype), np.zeros(width, tops.dtype)
        top[:] = -math.inf
        for start in range(first, row, lanes):
            offset = outer * row + start
            for j in range(min(width, row - start)):
                other = remainder.dtype.type(0) if bare else rests[offset + j]
                top[j], remainder[j] = formulas.joined(
                    top[j], remainder[j], tops[offset + j], other
                )
        for j in range(width):
            top_out[outer * lanes + first + j] = top[j]
            rest_out[outer * lanes + first + j] = remainder[j]


def fold(tops, rests, bare, row, lanes, top_out, rest_out, stream=0):
    """Add up sums of exponentials: number j of every row goes to lane j % lanes of the row."""
    _fold(tops, rests, bare, row, lanes, top_out, rest_out)


@parallel
def _finish(tops, rests, out):
    for i in prange(out.size):
        out[i] = formulas.log_of_sum(tops[i], rests[i])


def finish(tops, rests, out, stream=0):
    """Fill `out` with the logarithms of sums."""
    _finish(tops, rests, out)


def lanes_wanted(rows):
    """Return the number of lanes in a row that keeps every thread busy."""
    from hetero import threads

    return -(-2 * threads() // max(rows, 1)) * _BLOCK
