"""Elementwise steps of the quantile search on the CPU."""

from numba import prange

from hetero.jit import parallel, scalar
from stablegpu._quantiles.formulas import (
    HIGHEST,
    LOWEST,
    Search,
    Values,
    advance,
    choose_first,
    restore_quantile,
    standardized_point,
)


@scalar
def _write(search, i, s, low, high):
    """Write to the arrays of a `Search`: Numba 0.68 drops what a parallel loop itself writes."""
    search.s[i], search.low[i], search.high[i] = s, low, high


@scalar
def _search_at(search, i):
    return Search(search.s[i], search.low[i], search.high[i])


@scalar
def _values_at(values, i):
    return Values(
        values.log_pdf[i], values.cdf[i], values.sf[i], values.log_cdf[i], values.log_sf[i]
    )


@parallel
def begin_points(p, upper, centre, search, x):
    """Set the initial bracket of each quantile."""
    for i in prange(p.size):
        s = choose_first(p[i], upper, centre)
        _write(search, i, s, LOWEST, HIGHEST)
        x[i] = standardized_point(s, p[i], upper, centre)


@parallel
def advance_points(p, upper, centre, values, search, x):
    """Take one safeguarded Newton step for each quantile that has not converged."""
    unsettled = 0
    for i in prange(p.size):
        s, low, high, moved = advance(
            _search_at(search, i), p[i], upper, _values_at(values, i), centre
        )
        _write(search, i, s, low, high)
        x[i] = standardized_point(s, p[i], upper, centre)
        unsettled += moved > 0.0
    return unsettled


@parallel
def finish_points(restoration, s, x, out):
    """Write the quantiles, moved to their location and scale."""
    for i in prange(x.size):
        out[i] = restore_quantile(x[i], s[i], restoration)


def begin(p, upper, centre, search, x, stream=0):
    """Write the first trial points `x` for probabilities `p`, and the state of the search."""
    begin_points(p, upper, centre, search, x)


def step(p, upper, centre, values, search, x, stream=0):
    """Write the next trial points, from the values at the last; count those not converged."""
    return advance_points(p, upper, centre, values, search, x)


def finish(restoration, s, x, out, stream=0):
    """Write quantiles from standardized variables `x` and their logarithms `s`."""
    finish_points(restoration, s, x, out)
