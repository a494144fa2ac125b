"""Loops over the moments of all cells on the CPU; `lbm._post.Loops` has their arguments."""

import numpy as np
from numba import prange

from hetero.jit import parallel
from lbm._kernels.formulas.stability_formulas import badness

_PARTS = 64  # parts of a field, shared out to the threads; not tuned


@parallel
def _find_worst(fields, values, cells):
    n = fields.shape[1]
    for part in prange(values.size):
        largest, cell = fields.dtype.type(-1.0), np.int64(0)
        for i in range(np.int64(part) * n // values.size, (np.int64(part) + 1) * n // values.size):
            value = badness(fields[0, i], fields[1, i], fields[2, i], fields[3, i])
            if value > largest:
                largest, cell = value, i
        values[part], cells[part] = largest, cell


def find_worst_cell(fields):
    """Return the largest badness and its cell."""
    values, cells = np.empty(_PARTS, fields.dtype), np.empty(_PARTS, np.int64)
    _find_worst(fields, values, cells)
    k = int(values.argmax())
    return float(values[k]), int(cells[k])


@parallel
def _accumulate(fields, mean, squares, share):
    for i in prange(fields.shape[1]):
        for k in range(fields.shape[0]):
            deviation = fields[k, i] - mean[k, i]
            mean[k, i] += deviation * share
            squares[k, i] += deviation * (fields[k, i] - mean[k, i])


def accumulate(fields, mean, squares, count):
    """Add a sample to the mean and the sum of squared deviations."""
    _accumulate(fields, mean, squares, fields.dtype.type(1.0 / count))
