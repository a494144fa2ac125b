"""What is done to fields [4, cell] on a GPU."""

import numpy as np

from hetero import launch
from hetero._driver import cuda
from hetero.jit import kernel
from lbm._extremes_math import badness

_BLOCKS = 256


def _worst(fields, value, where):
    thread = cuda.grid(1)
    best, at = fields.dtype.type(-1.0), 0
    for i in range(thread, fields.shape[1], cuda.gridsize(1)):
        bad = badness(fields[0, i], fields[1, i], fields[2, i], fields[3, i])
        if bad > best:
            best, at = bad, i
    value[thread], where[thread] = best, at


worst_float32, worst_float64 = kernel(_worst, cache=False), kernel(_worst, cache=False)


def worst(fields):
    """(largest squared speed, its cell); 1e30 for a cell that is not finite."""
    grid = min(_BLOCKS, launch.blocks(fields.shape[1]))
    value = cuda.device_array(grid * launch.THREADS, fields.dtype)
    where = cuda.device_array(grid * launch.THREADS, np.int64)
    run = worst_float32 if fields.dtype == np.float32 else worst_float64
    run[grid, launch.THREADS](fields, value, where)
    value, where = value.copy_to_host(), where.copy_to_host()
    k = int(value.argmax())
    return float(value[k]), int(where[k])


def _accumulate(fields, mean, spread, share):
    i = cuda.grid(1)
    if i < fields.shape[1]:
        for k in range(fields.shape[0]):
            before = fields[k, i] - mean[k, i]
            mean[k, i] += before * share
            spread[k, i] += before * (fields[k, i] - mean[k, i])


accumulate_float32 = kernel(_accumulate, cache=False)
accumulate_float64 = kernel(_accumulate, cache=False)


def accumulate(fields, mean, spread, count):
    """Welford's update by sample number `count` (from 1): mean, and sum of squared deviations."""
    run = accumulate_float32 if fields.dtype == np.float32 else accumulate_float64
    share = fields.dtype.type(1.0 / count)
    run[launch.blocks(fields.shape[1]), launch.THREADS](fields, mean, spread, share)
