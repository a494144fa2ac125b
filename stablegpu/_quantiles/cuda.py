"""The quantile search on the GPU: by nodes in one launch, else in elementwise steps."""

import numpy as np
from numba import float64

from hetero.cuda import launch
from hetero.cuda.device_cache import resident_table
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._density.nodes.cuda import evaluate_point, load_nodes
from stablegpu._quantiles import formulas


@kernel
def begin_points(p, upper, centre, search, x):
    """Set the initial bracket of each quantile."""
    s, low, high = search
    for i in range(cuda.grid(1), p.size, cuda.gridsize(1)):
        s[i] = formulas.choose_first(p[i], upper, centre)
        low[i], high[i] = formulas.LOWEST, formulas.HIGHEST
        x[i] = formulas.standardized_point(s[i], p[i], upper, centre)


@kernel
def advance_points(p, upper, centre, values, search, x, unsettled):
    """Take one safeguarded Newton step for each quantile that has not converged."""
    s, low, high = search
    log_pdf, cdf, sf, log_cdf, log_sf = values
    for i in range(cuda.grid(1), p.size, cuda.gridsize(1)):
        s[i], low[i], high[i], moved = formulas.advance(
            formulas.Search(s[i], low[i], high[i]),
            p[i],
            upper,
            formulas.Values(log_pdf[i], cdf[i], sf[i], log_cdf[i], log_sf[i]),
            centre,
        )
        x[i] = formulas.standardized_point(s[i], p[i], upper, centre)
        if moved > 0.0:
            cuda.atomic.add(unsettled, 0, 1)


@kernel
def finish_points(restoration, s, x, out):
    """Write the quantiles, moved to their location and scale."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = formulas.restore_quantile(x[i], s[i], restoration)


_THREADS = 64
"""Threads of a block that inverts by nodes: a thousand quantiles are shared by many
multiprocessors."""


@kernel(launch_bounds=(_THREADS, 1))
def invert_points(
    p, upper, centre, restoration, frame, right, left, right_range, left_range, nodes, out
):
    """Search each quantile from start to end, a thread for each, with sums over nodes."""
    shared = cuda.shared.array(0, float64)
    load_nodes(nodes, shared)
    for i in range(cuda.grid(1), p.size, cuda.gridsize(1)):
        s, low, high = formulas.choose_first(p[i], upper, centre), formulas.LOWEST, formulas.HIGHEST
        x = formulas.standardized_point(s, p[i], upper, centre)
        for _ in range(formulas.MOST_STEPS):
            _, cdf, sf, log_pdf, log_cdf, log_sf = evaluate_point(
                x, frame, right, left, right_range, left_range, nodes, shared, True
            )
            values = formulas.Values(log_pdf, cdf, sf, log_cdf, log_sf)
            s, low, high, moved = formulas.advance(
                formulas.Search(s, low, high), p[i], upper, values, centre
            )
            x = formulas.standardized_point(s, p[i], upper, centre)
            if not moved > 0.0:
                break
        out[i] = formulas.restore_quantile(x, s, restoration)


def invert_by_nodes(p, upper, centre, restoration, distribution, out, stream=0):
    """Write the quantiles of probabilities `p`."""
    frame, sides, node_ranges, nodes = distribution
    table = resident_table(nodes)
    arguments = (p, upper, centre, restoration, frame, *sides, *node_ranges, table, out)
    size = 16 * nodes.values.size
    launch.launch_over(invert_points, p.size, arguments, stream, _THREADS, size)


def begin(p, upper, centre, search, x, stream=0):
    """Write the first trial points `x` for probabilities `p`, and the state of the search."""
    launch.launch_over(begin_points, p.size, (p, upper, centre, search, x), stream)


def step(p, upper, centre, values, search, x, stream=0):
    """Write the next trial points, from the values at the last; count those not converged."""
    unsettled = cuda.to_device(np.zeros(1, np.int64), stream=stream)
    arguments = (p, upper, centre, values, search, x, unsettled)
    launch.launch_over(advance_points, p.size, arguments, stream)
    return int(unsettled.copy_to_host(stream=stream)[0])


def finish(restoration, s, x, out, stream=0):
    """Write quantiles from standardized variables `x` and their logarithms `s`."""
    launch.launch_over(finish_points, x.size, (restoration, s, x, out), stream)
