"""Points with parameters of their own on the GPU: a thread for each, a block for each hard one."""

import math

import numpy as np

from hetero import launch
from hetero._driver import cuda
from hetero.jit import kernel
from stablegpu._density_cuda import _memory_of_block, _rule_on_device, point_of_block
from stablegpu._density_math import is_trivial, trivial
from stablegpu._points_math import located, oriented, place, summed

_THREADS = 256


# Hard points take fifty times as long, and a warp would wait for each: they are only listed here.
@kernel(launch_bounds=(_THREADS, 1))
def evaluate_points(x, alpha, beta, loc, scale, s0, outputs, hard, count):
    pdf, cdf, sf, logpdf, logcdf, logsf = outputs
    size = hard.size
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        # Arrays of one element hold for all points.
        own_scale = scale[i if scale.size > 1 else 0]
        y, z, side, mirrored = located(
            x[i if x.size > 1 else 0],
            alpha[i if alpha.size > 1 else 0],
            beta[i if beta.size > 1 else 0],
            loc[i if loc.size > 1 else 0],
            own_scale,
            s0,
        )
        done = is_trivial(z, y, side)
        if done:
            found = trivial(z, y, side)
        else:
            nodes = place(y, z, side)
            done = nodes.light > 0
            if done:
                found = summed(y, nodes, side)
            else:
                hard[cuda.atomic.add(count, 0, 1)] = i
        if done:
            f, low, high, log_f, log_low, log_high = oriented(found, mirrored, own_scale)
            if pdf.size:  # an empty array: not wanted
                pdf[i] = f
            if cdf.size:
                cdf[i] = low
            if sf.size:
                sf[i] = high
            if logpdf.size:
                logpdf[i] = log_f
            if logcdf.size:
                logcdf[i] = log_low
            if logsf.size:
                logsf[i] = log_high


@kernel(launch_bounds=(256, 1))
def evaluate_hard(
    x, alpha, beta, loc, scale, s0, nodes, kronrod, gauss, tolerance, outputs, hard, count
):
    pdf, cdf, sf, logpdf, logcdf, logsf = outputs
    j = cuda.threadIdx.x
    first = j == 0 and cuda.threadIdx.y == 0
    node = nodes[j]
    weight = kronrod[j]
    excess = weight - gauss[j]
    for k in range(cuda.blockIdx.x, count[0], cuda.gridDim.x):
        i = hard[k]
        own_scale = scale[i if scale.size > 1 else 0]
        y, z, side, mirrored = located(
            x[i if x.size > 1 else 0],
            alpha[i if alpha.size > 1 else 0],
            beta[i if beta.size > 1 else 0],
            loc[i if loc.size > 1 else 0],
            own_scale,
            s0,
        )
        forced = side.alpha < 0.3
        found, _ = point_of_block(y, z, side, node, weight, excess, tolerance, forced)
        if first:
            f, low, high, log_f, log_low, log_high = oriented(found, mirrored, own_scale)
            if pdf.size:
                pdf[i] = f
            if cdf.size:
                cdf[i] = low
            if sf.size:
                sf[i] = high
            if logpdf.size:
                logpdf[i] = log_f
            if logcdf.size:
                logcdf[i] = log_low
            if logsf.size:
                logsf[i] = log_high


def evaluate(x, alpha, beta, loc, scale, s0, rule, panels, tolerance, outputs, stream=0):
    """pdf, cdf, sf and their logarithms; inputs have one element or as many as the outputs."""
    size = max(math.prod(array.shape) for array in outputs)
    hard = cuda.device_array(size, np.int64, stream=stream)
    count = cuda.to_device(np.zeros(1, np.int64), stream=stream)
    points = (x, alpha, beta, loc, scale, s0)
    evaluate_points[launch.strided(size, _THREADS), _THREADS, stream](*points, outputs, hard, count)
    columns = rule[0].size
    grid = launch.strided(size, 1, per_sm=64)
    evaluate_hard[grid, (columns, panels), stream, _memory_of_block(columns, panels)](
        *points, *_rule_on_device(rule), tolerance, outputs, hard, count
    )
