"""What is done to fields [4, cell] on the CPU."""

import numpy as np
from numba import prange

from hetero.jit import parallel
from lbm._extremes_math import badness

_PARTS = 64


@parallel(cache=False)
def _worst(fields, value, where):
    n = fields.shape[1]
    for part in prange(value.size):
        best, at = fields.dtype.type(-1.0), np.int64(0)
        for i in range(np.int64(part) * n // value.size, (np.int64(part) + 1) * n // value.size):
            bad = badness(fields[0, i], fields[1, i], fields[2, i], fields[3, i])
            if bad > best:
                best, at = bad, i
        value[part], where[part] = best, at


def worst(fields):
    """(largest squared speed, its cell); 1e30 for a cell that is not finite."""
    value, where = np.empty(_PARTS, fields.dtype), np.empty(_PARTS, np.int64)
    _worst(fields, value, where)
    k = int(value.argmax())
    return float(value[k]), int(where[k])


@parallel(cache=False)
def _accumulate(fields, mean, spread, share):
    for i in prange(fields.shape[1]):
        for k in range(fields.shape[0]):
            before = fields[k, i] - mean[k, i]
            mean[k, i] += before * share
            spread[k, i] += before * (fields[k, i] - mean[k, i])


def accumulate(fields, mean, spread, count):
    """Welford's update by sample number `count` (from 1): mean, and sum of squared deviations."""
    _accumulate(fields, mean, spread, fields.dtype.type(1.0 / count))
