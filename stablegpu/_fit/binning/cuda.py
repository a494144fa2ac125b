"""Binning of a large sample on the GPU, by atomic additions to memory."""

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._fit.binning.formulas import BINS, bin_of


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


def accumulate(x, weights, centre, width, low, per_unit, table, stream=0):
    """Write to `table`, by bin, the weights and their first two moments about the bin's middle."""
    clear[launch.grid_stride_blocks(table.size), launch.THREADS, stream](table)
    grid = launch.grid_stride_blocks(x.size)
    accumulate_bins[grid, launch.THREADS, stream](x, weights, centre, width, low, per_unit, table)
