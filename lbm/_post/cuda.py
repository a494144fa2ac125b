"""Kernels over the moments of all cells on a GPU; `lbm._post.Loops` has their arguments."""

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from lbm._kernels.formulas.stability_formulas import badness

_BLOCKS = 256  # at most; a thread then looks at several cells of large domains; not tuned


def _find_worst(fields, values, cells):
    thread = cuda.grid(1)
    largest, cell = fields.dtype.type(-1.0), 0
    for i in range(thread, fields.shape[1], cuda.gridsize(1)):
        value = badness(fields[0, i], fields[1, i], fields[2, i], fields[3, i])
        if value > largest:
            largest, cell = value, i
    values[thread], cells[thread] = largest, cell


find_worst_float32 = kernel(_find_worst)
find_worst_float64 = kernel(_find_worst)


def find_worst_cell(fields):
    """Return the largest badness and its cell."""
    grid = min(_BLOCKS, launch.blocks_for(fields.shape[1]))
    values = cuda.device_array(grid * launch.THREADS, fields.dtype)
    cells = cuda.device_array(grid * launch.THREADS, np.int64)
    find_worst = find_worst_float32 if fields.dtype == np.float32 else find_worst_float64
    find_worst[grid, launch.THREADS](fields, values, cells)
    values, cells = values.copy_to_host(), cells.copy_to_host()
    k = int(values.argmax())
    return float(values[k]), int(cells[k])


def _accumulate(fields, mean, squares, share):
    i = cuda.grid(1)
    if i < fields.shape[1]:
        for k in range(fields.shape[0]):
            deviation = fields[k, i] - mean[k, i]
            mean[k, i] += deviation * share
            squares[k, i] += deviation * (fields[k, i] - mean[k, i])


accumulate_float32 = kernel(_accumulate)
accumulate_float64 = kernel(_accumulate)


def accumulate(fields, mean, squares, count):
    """Add a sample to the mean and the sum of squared deviations."""
    add_sample = accumulate_float32 if fields.dtype == np.float32 else accumulate_float64
    share = fields.dtype.type(1.0 / count)
    add_sample[launch.blocks_for(fields.shape[1]), launch.THREADS](fields, mean, squares, share)
