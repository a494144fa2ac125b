"""Response spectra on the GPU: a thread for each oscillator and record; samples are shared."""

from numba import int64, uint32

from hetero.cpu.interruptible import ranges
from hetero.cuda.driver import cuda
from hetero.cuda.launch import launch
from hetero.jit import kernel
from rode.spectra.formulas import advance, total_acceleration

THREADS = 128
"""Number of threads in a block, which share a record."""

TILE = 1024
"""Samples that a block loads at a time; not tuned."""

WITH_LAST = TILE + 1  # a step ends at the first sample of the next tile

FIRST_SAMPLES = 1 << 26
"""Samples of all records of the first launch, which takes less than half a second."""


@kernel
def follow(records, coefficients, first, result):
    """Follow the oscillators of a block through record number `first` + blockIdx.y."""
    tile = cuda.shared.array(WITH_LAST, records.dtype)
    t, i = cuda.threadIdx.x, int64(cuda.grid(1))
    record = first + int64(cuda.blockIdx.y)
    samples, c = records.shape[1], coefficients
    k = min(i, int64(c.shape[1] - 1))
    x_x, x_v, x_a, x_b = c[0, k], c[1, k], c[2, k], c[3, k]
    v_x, v_v, v_a, v_b = c[4, k], c[5, k], c[6, k], c[7, k]
    stiffness, damping = c[8, k], c[9, k]
    real = type(stiffness)
    x, v = real(0.0), real(0.0)
    largest_x, largest_v, largest_a = real(0.0), real(0.0), real(0.0)
    for base in range(0, samples - 1, TILE):
        count = min(TILE, samples - 1 - base)
        cuda.syncthreads()
        for j in range(t, count + 1, THREADS):
            tile[j] = records[record, base + j]
        cuda.syncthreads()
        before, j, last = tile[0], uint32(1), uint32(count)
        # Signed indices and `range` take more instructions than the arithmetic.
        while j <= last:
            after = tile[j]
            x, v = advance(x, v, before, after, x_x, x_v, x_a, x_b, v_x, v_v, v_a, v_b)
            before = after
            largest_x = max(largest_x, abs(x))
            largest_v = max(largest_v, abs(v))
            largest_a = max(largest_a, total_acceleration(x, v, stiffness, damping))
            j = uint32(j + uint32(1))
    if i < c.shape[1]:
        result[0, record, i] = largest_x
        result[1, record, i] = largest_v
        result[2, record, i] = largest_a


def compute_peaks(records, coefficients, result, stream=0):
    """Fill `result` with the largest responses; see the Protocol."""
    blocks = -(-coefficients.shape[1] // THREADS)
    first = max(1, FIRST_SAMPLES // records.shape[1])
    for begin, end in ranges(records.shape[0], first=first):
        arguments = (records, coefficients, begin, result)
        launch(follow, (blocks, end - begin), THREADS, stream, arguments)
        if end < records.shape[0]:  # the time of this launch sizes the next
            cuda.synchronize()
