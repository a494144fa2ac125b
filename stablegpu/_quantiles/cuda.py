"""Elementwise steps of the quantile search on the GPU."""

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._quantiles.formulas import (
    HIGHEST,
    LOWEST,
    advance,
    restored,
    standardized_point,
    start,
)


@kernel
def begin_points(p, upper, centre, s, low, high, x):
    """Set the initial bracket of each quantile."""
    for i in range(cuda.grid(1), p.size, cuda.gridsize(1)):
        s[i] = start(p[i], upper, centre)
        low[i], high[i] = LOWEST, HIGHEST
        x[i] = standardized_point(s[i], p[i], upper, centre)


@kernel
def advance_points(p, upper, centre, log_pdf, cdf, sf, log_cdf, log_sf, s, low, high, x, unsettled):
    """Take one safeguarded Newton step for each quantile that has not converged."""
    for i in range(cuda.grid(1), p.size, cuda.gridsize(1)):
        s[i], low[i], high[i], moved = advance(
            s[i],
            low[i],
            high[i],
            p[i],
            upper,
            log_pdf[i],
            cdf[i],
            sf[i],
            log_cdf[i],
            log_sf[i],
            centre,
        )
        x[i] = standardized_point(s[i], p[i], upper, centre)
        if moved > 0.0:
            cuda.atomic.add(unsettled, 0, 1)


@kernel
def finish_points(ends, s, x, out):
    """Write the quantiles, moved to their location and scale."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = restored(x[i], s[i], ends)


def begin(p, upper, centre, s, low, high, x, stream=0):
    """Write the first trial points `x` for probabilities `p`."""
    begin_points[launch.grid_stride_blocks(p.size), launch.THREADS, stream](
        p, upper, centre, s, low, high, x
    )


def step(p, upper, centre, values, s, low, high, x, stream=0):
    """Write the next trial points, from the values at the last; count those not converged."""
    unsettled = cuda.to_device(np.zeros(1, np.int64), stream=stream)
    advance_points[launch.grid_stride_blocks(p.size), launch.THREADS, stream](
        p, upper, centre, *values, s, low, high, x, unsettled
    )
    return int(unsettled.copy_to_host(stream=stream)[0])


def finish(ends, s, x, out, stream=0):
    """Write quantiles from standardized variables `x` and their logarithms `s`."""
    finish_points[launch.grid_stride_blocks(x.size), launch.THREADS, stream](ends, s, x, out)
