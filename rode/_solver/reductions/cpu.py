"""Statistics over paths on the CPU: rows of numbers, one for each time and output."""

import numpy as np
from numba import prange

import hetero
from hetero.cpu.interruptible import ranges
from hetero.jit import parallel

FIRST_NUMBERS = 1 << 21
"""Numbers that are sorted at first: less than a second's work."""


def compute_moments(rows, mean, squares, stream=0):
    """Fill `mean` and `squares`, the sum of squared distances from it, for each row of `rows`."""
    for begin, end in _row_ranges(rows):
        _compute_moments(rows[begin:end], mean[begin:end], squares[begin:end])


@parallel
def _compute_moments(rows, mean, squares):
    """Compute the moments of some rows; see `compute_moments`."""
    for r in prange(rows.shape[0]):
        total = 0.0
        for x in rows[r]:
            total += np.float64(x)
        middle = total / rows.shape[1]
        spread = 0.0
        for x in rows[r]:
            spread += (np.float64(x) - middle) ** 2
        mean[r] = middle
        squares[r] = spread


def select_ranks(rows, ranks, result, stream=0):
    """Fill result[r, k] with the number of rank `ranks[k]` (from 0) in row r, NaN last."""
    for begin, end in _row_ranges(rows):
        _sort_rows(rows[begin:end], ranks, result[begin:end])


def _row_ranges(rows):
    """Yield ranges of rows, between which signals are answered."""
    return ranges(rows.shape[0], first=FIRST_NUMBERS // rows.shape[1], multiple=hetero.threads())


@parallel
def _sort_rows(rows, ranks, result):
    """Compute the order statistics of some rows; see `select_ranks`."""
    for r in prange(rows.shape[0]):
        line = np.sort(rows[r])
        for k in range(ranks.size):
            result[r, k] = line[ranks[k]]


def count_between(rows, lower, upper, below, inside):
    """Count the numbers below and inside of intervals; see the Protocol."""
    for begin, end in _row_ranges(rows):
        chosen = slice(begin, end)
        _count_rows(
            *(rows[chosen], lower[:, chosen], upper[:, chosen]),
            *(below[:, chosen], inside[:, chosen]),
        )


@parallel
def _count_rows(rows, lower, upper, below, inside):
    """Count in some rows; see `count_between`."""
    for r in prange(rows.shape[0]):
        for k in range(lower.shape[0]):
            less, within = 0, 0
            for x in rows[r]:
                if x < lower[k, r]:
                    less += 1
                elif x <= upper[k, r]:
                    within += 1
            below[k, r] = less
            inside[k, r] = within


def collect_between(rows, lower, upper, places, values):
    """Collect the numbers inside of intervals; see the Protocol."""
    for begin, end in _row_ranges(rows):
        chosen = slice(begin, end)
        _collect_rows(rows[chosen], lower[:, chosen], upper[:, chosen], places[:, chosen], values)


@parallel
def _collect_rows(rows, lower, upper, places, values):
    """Collect from some rows; see `collect_between`."""
    for r in prange(rows.shape[0]):
        for k in range(lower.shape[0]):
            place = places[k, r]
            for x in rows[r]:
                if lower[k, r] <= x <= upper[k, r]:
                    values[place] = x
                    place += 1
            places[k, r] = place


def count_nonfinite(o, x, failed, stream=0) -> tuple[int, int]:
    """Return the number of paths that are infinite or NaN, and of others with such outputs."""
    finite = np.isfinite(o)
    for row in x:
        finite &= np.isfinite(row)
    return finite.size - int(np.count_nonzero(finite)), int(np.count_nonzero(finite & failed))
