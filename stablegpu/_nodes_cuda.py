"""Sums over nodes on the GPU: a thread for every point, the nodes in shared memory."""

import math

from numba import float64

from hetero import launch
from hetero._driver import cuda
from hetero.jit import kernel
from stablegpu._density_math import logarithms, values
from stablegpu._nodes_math import BLOCK, TERMS, completed, is_outside, node, octave_of, outside

_THREADS = 256


@kernel(launch_bounds=(_THREADS, 1))
def evaluate_points(
    x,
    loc,
    scale,
    offset,
    offset_low,
    s0,
    right,
    left,
    right_reach,
    left_reach,
    nodes,
    outputs,
):
    pdf, cdf, sf, logpdf, logcdf, logsf = outputs
    shared = cuda.shared.array(0, float64)  # values and weights in turn
    count = nodes.values.size
    for j in range(cuda.threadIdx.x, count, cuda.blockDim.x):
        shared[2 * j] = nodes.values[j]
        shared[2 * j + 1] = nodes.weights[j]
    cuda.syncthreads()
    logs = logpdf.size + logcdf.size + logsf.size > 0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y = (x[i] - loc) / scale
        if s0:
            y = (y - offset) - offset_low
        mirrored = y < 0.0
        y = abs(y)
        side, reach = right, right_reach
        if mirrored:
            side, reach = left, left_reach
        log_f = log_low = log_high = 0.0
        if is_outside(y, side, reach):
            f, low, high, log_f, log_low, log_high = outside(y, side, reach)
        else:
            level = y**side.kappa
            row = reach.octave + octave_of(level)
            first, last = nodes.first[row], nodes.last[row]
            density = below = above = 0.0
            for j in range(2 * BLOCK * first, 2 * BLOCK * last, 2):
                d, b, a = node(level, shared[j], shared[j + 1])
                density += d
                below += b
                above += a
            z = level * nodes.largest[first]
            high = slope = 0.0
            for k in range(TERMS - 1, 0, -1):
                term = nodes.moments[first, k]
                high = high * z + term
                slope = slope * z + k * term
            before, beyond = nodes.moments[first, 0], nodes.beyond[last]
            g_min = level * reach.limit
            density, below, above = completed(
                (density, below, above), z, high, slope, before, beyond, g_min, side
            )
            f, low, high = values(y, g_min, density, below, above, side)
            if logs:
                log_f, log_low, log_high = logarithms(
                    y, g_min, density, below, above, low, high, side
                )
        if pdf.size:  # an empty array: not wanted
            pdf[i] = f / scale
        if cdf.size:
            cdf[i] = high if mirrored else low
        if sf.size:
            sf[i] = low if mirrored else high
        if logpdf.size:
            logpdf[i] = log_f - math.log(scale)
        if logcdf.size:
            logcdf[i] = log_high if mirrored else log_low
        if logsf.size:
            logsf[i] = log_low if mirrored else log_high


def evaluate(
    x,
    loc,
    scale,
    offset,
    offset_low,
    s0,
    right,
    left,
    right_reach,
    left_reach,
    nodes,
    outputs,
    stream=0,
):
    """pdf, cdf, sf and their logarithms at (x - loc)/scale."""
    arguments = (
        x,
        loc,
        scale,
        offset,
        offset_low,
        s0,
        right,
        left,
        right_reach,
        left_reach,
        launch.on_device(nodes),
        outputs,
    )
    size = 16 * nodes.values.size
    launch.with_shared_memory(evaluate_points, arguments, size, _THREADS, x.size, stream)
