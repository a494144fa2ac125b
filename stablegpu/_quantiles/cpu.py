"""Elementwise steps of the quantile search on the CPU."""

from numba import prange

from hetero.jit import parallel
from stablegpu._quantiles.formulas import (
    HIGHEST,
    LOWEST,
    advance,
    restored,
    standardized_point,
    start,
)


@parallel
def begin_points(p, upper, centre, s, low, high, x):
    """Set the initial bracket of each quantile."""
    for i in prange(p.size):
        s[i] = start(p[i], upper, centre)
        low[i], high[i] = LOWEST, HIGHEST
        x[i] = standardized_point(s[i], p[i], upper, centre)


@parallel
def advance_points(p, upper, centre, log_pdf, cdf, sf, log_cdf, log_sf, s, low, high, x):
    """Take one safeguarded Newton step for each quantile that has not converged."""
    unsettled = 0
    for i in prange(p.size):
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
        unsettled += moved > 0.0
    return unsettled


@parallel
def finish_points(ends, s, x, out):
    """Write the quantiles, moved to their location and scale."""
    for i in prange(x.size):
        out[i] = restored(x[i], s[i], ends)


def begin(p, upper, centre, s, low, high, x, stream=0):
    """Write the first trial points `x` for probabilities `p`."""
    begin_points(p, upper, centre, s, low, high, x)


def step(p, upper, centre, values, s, low, high, x, stream=0):
    """Write the next trial points, from the values at the last; count those not converged."""
    return advance_points(p, upper, centre, *values, s, low, high, x)


def finish(ends, s, x, out, stream=0):
    """Write quantiles from standardized variables `x` and their logarithms `s`."""
    finish_points(ends, s, x, out)
