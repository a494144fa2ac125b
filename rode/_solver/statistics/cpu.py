"""Statistics over paths on the CPU: rows of numbers, one for each time and output."""

import numpy as np
from numba import prange

import hetero
from hetero.cpu.interruptible import ranges
from hetero.jit import parallel
from rode._solver.statistics.formulas import merge
from rode._solver.statistics.leaves import MAX_LEAVES

FIRST_NUMBERS = 1 << 21
"""Numbers that are sorted at first: less than a second's work."""

_LEVELS = MAX_LEAVES.bit_length()


def compute_moments(rows, leaf, begins, sizes, mean, squares, stream=0):
    """Fill `mean` and `squares` of each row and node; see the Protocol."""
    for begin, end in _row_ranges(rows):
        _compute_moments(rows[begin:end], leaf, begins, sizes, mean[begin:end], squares[begin:end])


@parallel
def _compute_moments(rows, leaf, begins, sizes, mean, squares):
    """Compute the moments of some rows; see `compute_moments`."""
    for r in prange(rows.shape[0]):
        row, n = rows[r], rows.shape[1]
        means, sums = np.empty(_LEVELS), np.empty(_LEVELS)  # of nodes that wait for their sibling
        counts = np.empty(_LEVELS, np.int64)
        for k in range(begins.size):
            for i in range(sizes[k]):
                low = (begins[k] + i) * leaf
                high = min(low + leaf, n)
                total, spread, count = 0.0, 0.0, high - low
                for x in row[low:high]:
                    total += np.float64(x)
                middle = total / count
                for x in row[low:high]:
                    spread += (np.float64(x) - middle) ** 2
                level, rest = 0, i
                while rest & 1:
                    middle, spread = merge(
                        means[level], sums[level], counts[level], middle, spread, count
                    )
                    count += counts[level]
                    level, rest = level + 1, rest >> 1
                means[level], sums[level], counts[level] = middle, spread, count
            mean[r, k], squares[r, k] = middle, spread


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
