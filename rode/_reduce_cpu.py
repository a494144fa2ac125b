"""Statistics over paths on the CPU: rows of numbers, one for each time and output."""

import numpy as np
from numba import prange

from hetero.jit import parallel


def moments(rows, mean, squares, stream=0):
    """Fill `mean` and `squares`, the sum of squared distances from it, for each row of `rows`."""
    _moments(rows, mean, squares)


@parallel
def _moments(rows, mean, squares):
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


def order(rows, ranks, found, stream=0):
    """Fill found[r, k] with the number of rank `ranks[k]` (from 0) in row r, NaN last."""
    _order(rows, ranks, found)


@parallel
def _order(rows, ranks, found):
    for r in prange(rows.shape[0]):
        line = np.sort(rows[r])
        for k in range(ranks.size):
            found[r, k] = line[ranks[k]]


def lost(o, x, stream=0) -> int:
    """How many paths are infinite or NaN: o of shape (paths,), x of (dimension, paths)."""
    return int(np.count_nonzero(~(np.isfinite(o) & np.isfinite(x).all(axis=0))))
