"""Order statistics of large samples and their bins on the GPU.

Radix selection passes over the data eight times, and sorts nothing. A pass counts, for every rank
that is looked for, the values of the next byte among the elements that agree with the bytes found
so far. Bins are filled by atomic additions to memory.
"""

import numpy as np
from numba import int32

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel, scalar
from hetero.measurement import profiling
from stablegpu._fit.observations.large_samples.formulas import BINS, bin_of

_DIGITS = 256
_MOST = 12  # distinct prefixes in a pass, or values that are counted
_COUNTERS = _MOST * _DIGITS
_SIGN = np.uint64(1 << 63)
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@scalar
def sortable(bits):
    """Return the bits of a float64 as an unsigned integer of the same order."""
    return bits ^ (_ONES if bits >= _SIGN else _SIGN)


@kernel
def count_digits(bits, prefixes, shift, counts):
    """Count elements by digit: those whose higher bytes equal prefixes[k] and whose next byte is d.

    The higher bytes are those above bit `shift` + 8. The counts are added to counts[k, d].
    """
    local = cuda.shared.array(_COUNTERS, int32)
    target = prefixes.size
    for i in range(cuda.threadIdx.x, target * _DIGITS, cuda.blockDim.x):
        local[i] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), bits.size, cuda.gridsize(1)):
        key = sortable(bits[i])
        # A shift by 64 is undefined: two steps.
        above = (key >> np.uint64(shift)) >> np.uint64(8)
        digit = int32((key >> np.uint64(shift)) & np.uint64(255))
        for k in range(target):
            if above == prefixes[k]:
                cuda.atomic.add(local, k * _DIGITS + digit, 1)
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, target * _DIGITS, cuda.blockDim.x):
        if local[i] != 0:
            cuda.atomic.add(counts, (i // _DIGITS, i % _DIGITS), local[i])


def select(data, ranks, stream=0):
    """Return the values of given ranks (0 is the smallest) of a flat float64 array."""
    bits = data.view(np.uint64)
    grid = launch.grid_stride_blocks(bits.size, per_sm=8)
    result = np.zeros(len(ranks), np.uint64)  # the bytes so far of every rank
    left = np.array(ranks, np.int64)  # the rank among the elements that share them
    for shift in range(56, -8, -8):
        prefixes, which = np.unique(result, return_inverse=True)
        counts = cuda.to_device(np.zeros((prefixes.size, _DIGITS), np.int64), stream=stream)
        profiling.count_transfer(to_device=counts.nbytes, to_host=counts.nbytes)
        arguments = (bits, cuda.to_device(prefixes, stream=stream), shift, counts)
        launch.launch(count_digits, grid, launch.THREADS, stream, arguments)
        reached = np.cumsum(counts.copy_to_host(stream=stream), axis=1)
        for k, row in enumerate(which):
            digit = int(np.searchsorted(reached[row], left[k], side="right"))
            left[k] -= reached[row][digit - 1] if digit else 0
            result[k] = (result[k] << np.uint64(8)) | np.uint64(digit)
    return (result ^ np.where(result >= _SIGN, _SIGN, _ONES)).view(np.float64)


@kernel
def count_equals(data, values, counts):
    """Count equal elements in registers: atomic additions of many equal values would queue up."""
    local = cuda.local.array(_MOST, int32)
    for k in range(values.size):
        local[k] = 0
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        for k in range(values.size):
            if data[i] == values[k]:
                local[k] += 1
    for k in range(values.size):
        if local[k] != 0:
            cuda.atomic.add(counts, k, local[k])


def count(data, values, stream=0):
    """Count the elements of a flat float64 array that equal each of `values`, twelve at most."""
    counts = cuda.to_device(np.zeros(len(values), np.int64), stream=stream)
    arguments = (data, cuda.to_device(np.asarray(values, np.float64), stream=stream), counts)
    launch.launch_over(count_equals, data.size, arguments, stream)
    return counts.copy_to_host(stream=stream)


@kernel
def clear(table):
    """Set a table to zero."""
    for i in range(cuda.grid(1), table.size, cuda.gridsize(1)):
        table[i] = 0.0


@kernel
def accumulate_bins(x, weights, centre, width, low, per_unit, table):
    """Add weights and moments of the observations to their bins, atomically."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        k, d = bin_of(x[i], centre, width, low, per_unit)
        weight = weights[i] if weights.size else 1.0
        cuda.atomic.add(table, k, weight)
        cuda.atomic.add(table, BINS + k, weight * d)
        cuda.atomic.add(table, 2 * BINS + k, weight * d * d)


def start_table(table, stream=0):
    """Set a table of bins to zero."""
    launch.launch_over(clear, table.size, (table,), stream)


def accumulate(x, weights, centre, width, low, per_unit, table, stream=0):
    """Add to `table`, by bin, the weights and their first two moments about the bin's middle."""
    grid = launch.grid_stride_blocks(x.size)
    arguments = (x, weights, centre, width, low, per_unit, table)
    launch.launch(accumulate_bins, grid, launch.THREADS, stream, arguments)
