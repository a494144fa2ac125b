"""Statistics over paths on the CPU: rows of numbers, one for each time and output."""

import numpy as np
from numba import prange

import hetero
from hetero.cpu.interruptible import ranges
from hetero.intrinsics.floats import fma
from hetero.jit import parallel, serial
from rode._solver.statistics.formulas import merge
from rode._solver.statistics.leaves import MAX_LEAVES

FIRST_NUMBERS = 1 << 21
"""Numbers that are sorted at first: less than a second's work."""


def compute_moments(rows, leaf, begins, sizes, mean, squares, stream=0):
    """Fill `mean` and `squares` of each row and node; see the Protocol."""
    for begin, end in _row_ranges(rows):
        _compute_moments(rows[begin:end], leaf, begins, sizes, mean[begin:end], squares[begin:end])


@parallel
def _compute_moments(rows, leaf, begins, sizes, mean, squares):
    """Compute the moments of some rows; see `compute_moments`."""
    for r in prange(rows.shape[0]):
        row, n = rows[r], rows.shape[1]
        old, new = np.empty((2, MAX_LEAVES)), np.empty((2, MAX_LEAVES))
        for k in range(begins.size):
            low, size = begins[k] * leaf, sizes[k]
            high = min(low + size * leaf, n)
            _sum_leaves(row[low:high], leaf, old)
            width = leaf
            while size > 1:
                size //= 2
                _merge_pairs(old[0], old[1], new[0], new[1], size, width)
                behind = high - low - (2 * size - 1) * width  # fewer paths than others, perhaps
                new[0, size - 1], new[1, size - 1] = merge(
                    *(old[0, 2 * size - 2], old[1, 2 * size - 2], width),
                    *(old[0, 2 * size - 1], old[1, 2 * size - 1], behind),
                )
                old, new, width = new, old, 2 * width
            mean[r, k], squares[r, k] = old[0, 0], old[1, 0]


@serial
def _sum_leaves(row, leaf, moments):
    """Fill moments[:, i] with mean and squares of leaf i of a row."""
    n = row.size
    if leaf == 1:
        for i in range(n):
            moments[0, i] = np.float64(row[i])
            moments[1, i] = 0.0
        return
    for i in range(-(-n // leaf)):
        low, high = i * leaf, min(i * leaf + leaf, n)
        total, spread = 0.0, 0.0
        for x in row[low:high]:
            total += np.float64(x)
        middle = total / (high - low)
        for x in row[low:high]:
            spread += (np.float64(x) - middle) ** 2
        moments[0, i], moments[1, i] = middle, spread


@serial
def _merge_pairs(mean, squares, new_mean, new_squares, size, width):
    """Merge pairs of `width` numbers each, as `merge` does, in a loop that vectorises."""
    weight = 0.5 * width
    for i in range(size):
        distance = mean[2 * i + 1] - mean[2 * i]
        new_mean[i] = fma(mean[2 * i + 1], 0.5, mean[2 * i] * 0.5)
        both = squares[2 * i] + squares[2 * i + 1]
        new_squares[i] = fma(distance * weight, distance, both)


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


def collect_between(rows, lower, upper, positions, values):
    """Collect the numbers inside of intervals; see the Protocol."""
    for begin, end in _row_ranges(rows):
        chosen = slice(begin, end)
        _collect_rows(
            rows[chosen], lower[:, chosen], upper[:, chosen], positions[:, chosen], values
        )


@parallel
def _collect_rows(rows, lower, upper, positions, values):
    """Collect from some rows; see `collect_between`."""
    for r in prange(rows.shape[0]):
        for k in range(lower.shape[0]):
            position = positions[k, r]
            for x in rows[r]:
                if lower[k, r] <= x <= upper[k, r]:
                    values[position] = x
                    position += 1
            positions[k, r] = position
