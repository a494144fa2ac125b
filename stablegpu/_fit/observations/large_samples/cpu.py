"""Order statistics of large samples by NumPy's partition, and their bins, on the CPU.

Each part of the data has a table of bins; they are added up at the end.
"""

import numpy as np
from numba import get_num_threads, prange

from hetero.jit import parallel
from stablegpu._fit.observations.large_samples.formulas import BINS, bin_of


@parallel
def _accumulate(x, weights, centre, width, low, per_unit, tables):
    parts = tables.shape[0]
    size = (x.size + parts - 1) // parts
    for part in prange(parts):
        table = tables[part]
        for i in range(part * size, min((part + 1) * size, x.size)):
            k, d = bin_of(x[i], centre, width, low, per_unit)
            weight = weights[i] if weights.size else 1.0
            table[k] += weight
            table[BINS + k] += weight * d
            table[2 * BINS + k] += weight * d * d


def start_table(table, stream=0):
    """Set a table of bins to zero."""
    table[:] = 0.0


def accumulate(x, weights, centre, width, low, per_unit, table, stream=0):
    """Add to `table`, by bin, the weights and their first two moments about the bin's middle."""
    tables = np.zeros((get_num_threads(), 3 * BINS))
    _accumulate(x, weights, centre, width, low, per_unit, tables)
    table += tables.sum(axis=0)


def select(data, ranks, stream=0):
    """Return the values of given ranks (0 is the smallest) of a flat float64 array."""
    return np.partition(data, np.unique(ranks))[ranks]


def count(data, values, stream=0):
    """Count the elements of a flat float64 array that equal each of `values`."""
    return np.array([np.count_nonzero(data == value) for value in values])
