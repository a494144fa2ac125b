"""Binning of a large sample on the CPU: a table for each part of the data, then their sum."""

import numpy as np
from numba import get_num_threads, prange

from hetero.jit import parallel
from stablegpu._fit.binning.formulas import BINS, bin_of


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


def accumulate(x, weights, centre, width, low, per_unit, table, stream=0):
    """Write to `table`, by bin, the weights and their first two moments about the bin's middle."""
    tables = np.zeros((get_num_threads(), 3 * BINS))
    _accumulate(x, weights, centre, width, low, per_unit, tables)
    table[:] = tables.sum(axis=0)
