"""Elementwise steps of the quantile search on the CPU."""

from numba import prange

from hetero.jit import parallel
from stablegpu._quantile_math import HIGHEST, LOWEST, advance, restored, standardized_point, start


@parallel
def begin_points(p, upper, centre, s, low, high, x):
    for i in prange(p.size):
        s[i] = start(p[i], upper, centre)
        low[i], high[i] = LOWEST, HIGHEST
        x[i] = standardized_point(s[i], p[i], upper, centre)


@parallel
def advance_points(p, upper, centre, log_pdf, cdf, sf, log_cdf, log_sf, s, low, high, x):
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
    for i in prange(x.size):
        out[i] = restored(x[i], s[i], ends)


def begin(p, upper, centre, s, low, high, x, stream=0):
    """First places `x` for probabilities `p`."""
    begin_points(p, upper, centre, s, low, high, x)


def step(p, upper, centre, values, s, low, high, x, stream=0):
    """Next places from the law's values at the last ones; how many have not settled yet."""
    return advance_points(p, upper, centre, *values, s, low, high, x)


def finish(ends, s, x, out, stream=0):
    """Quantiles from standardised variables `x` and their logarithms `s`."""
    finish_points(ends, s, x, out)
