"""The quantile search on the CPU: by nodes in one loop, else in elementwise steps."""

from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, scalar
from stablegpu._density.nodes.cpu import evaluate_point
from stablegpu._quantiles import formulas


@scalar
def _write(search, i, s, low, high):
    """Write to the arrays of a `Search`: Numba 0.68 drops what a parallel loop itself writes."""
    search.s[i], search.low[i], search.high[i] = s, low, high


@scalar
def _search_at(search, i):
    return formulas.Search(search.s[i], search.low[i], search.high[i])


@scalar
def _values_at(values, i):
    return formulas.Values(
        values.log_pdf[i], values.cdf[i], values.sf[i], values.log_cdf[i], values.log_sf[i]
    )


@parallel
def begin_points(p, upper, centre, search, x):
    """Set the initial bracket of each quantile."""
    for i in prange(p.size):
        s = formulas.choose_first(p[i], upper, centre)
        _write(search, i, s, formulas.LOWEST, formulas.HIGHEST)
        x[i] = formulas.standardized_point(s, p[i], upper, centre)


@parallel
def advance_points(p, upper, centre, values, search, x):
    """Take one safeguarded Newton step for each quantile that has not converged."""
    unsettled = 0
    for i in prange(p.size):
        s, low, high, moved = formulas.advance(
            _search_at(search, i), p[i], upper, _values_at(values, i), centre
        )
        _write(search, i, s, low, high)
        x[i] = formulas.standardized_point(s, p[i], upper, centre)
        unsettled += moved > 0.0
    return unsettled


@parallel
def finish_points(restoration, s, x, out):
    """Write the quantiles, moved to their location and scale."""
    for i in prange(x.size):
        out[i] = formulas.restore_quantile(x[i], s[i], restoration)


_FIRST = 1 << 14
"""Quantiles of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""


@scalar
def _search_by_nodes(
    p, upper, centre, restoration, frame, right, left, right_range, left_range, nodes
):
    """Return a quantile by a search whose values come from nodes."""
    s, low, high = formulas.choose_first(p, upper, centre), formulas.LOWEST, formulas.HIGHEST
    x = formulas.standardized_point(s, p, upper, centre)
    for _ in range(formulas.MOST_STEPS):
        _, cdf, sf, log_pdf, log_cdf, log_sf = evaluate_point(
            x, frame, right, left, right_range, left_range, nodes, True
        )
        values = formulas.Values(log_pdf, cdf, sf, log_cdf, log_sf)
        s, low, high, moved = formulas.advance(
            formulas.Search(s, low, high), p, upper, values, centre
        )
        x = formulas.standardized_point(s, p, upper, centre)
        if not moved > 0.0:
            break
    return formulas.restore_quantile(x, s, restoration)


@parallel
def invert_points(
    p, upper, centre, restoration, frame, right, left, right_range, left_range, nodes, out
):
    """Search each quantile from start to end with sums over nodes."""
    for i in prange(p.size):
        out[i] = _search_by_nodes(
            p[i], upper, centre, restoration, frame, right, left, right_range, left_range, nodes
        )


def invert_by_nodes(p, upper, centre, restoration, distribution, out, stream=0):
    """Write the quantiles of probabilities `p`."""
    frame, sides, node_ranges, nodes = distribution
    constants = (upper, centre, restoration, frame, *sides, *node_ranges, nodes)
    for a, b in ranges(p.size, first=_FIRST):
        invert_points(p[a:b], *constants, out[a:b])


def begin(p, upper, centre, search, x, stream=0):
    """Write the first trial points `x` for probabilities `p`, and the state of the search."""
    begin_points(p, upper, centre, search, x)


def step(p, upper, centre, values, search, x, stream=0):
    """Write the next trial points, from the values at the last; count those not converged."""
    return advance_points(p, upper, centre, values, search, x)


def finish(restoration, s, x, out, stream=0):
    """Write quantiles from standardized variables `x` and their logarithms `s`."""
    finish_points(restoration, s, x, out)
