"""Special functions on the GPU."""

import math

from numba import uint64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu.special import formulas

_THREADS = launch.THREADS
"""Threads of a block: a constant, so that one address is another plus a constant."""

_EACH = 16
"""Elements of a thread, whose loads are all in flight before the first is used."""


def _elementwise(formula):
    """Make the kernel that applies a formula to each element."""

    @kernel
    def points(x, out):
        # Unsigned: no index counts from the end.
        n, s = uint64(out.size), uint64(_THREADS)
        i = uint64(cuda.blockIdx.x) * uint64(_EACH * _THREADS) + uint64(cuda.threadIdx.x)
        j, k, m = i + uint64(4) * s, i + uint64(8) * s, i + uint64(12) * s
        two, three = uint64(2) * s, uint64(3) * s
        if m + three < n:
            i0, i1, i2, i3 = x[i], x[i + s], x[i + two], x[i + three]
            j0, j1, j2, j3 = x[j], x[j + s], x[j + two], x[j + three]
            k0, k1, k2, k3 = x[k], x[k + s], x[k + two], x[k + three]
            m0, m1, m2, m3 = x[m], x[m + s], x[m + two], x[m + three]
            out[i] = formula(i0)
            out[i + s] = formula(i1)
            out[i + two] = formula(i2)
            out[i + three] = formula(i3)
            out[j] = formula(j0)
            out[j + s] = formula(j1)
            out[j + two] = formula(j2)
            out[j + three] = formula(j3)
            out[k] = formula(k0)
            out[k + s] = formula(k1)
            out[k + two] = formula(k2)
            out[k + three] = formula(k3)
            out[m] = formula(m0)
            out[m + s] = formula(m1)
            out[m + two] = formula(m2)
            out[m + three] = formula(m3)
        else:
            while i < n:
                out[i] = formula(x[i])
                i += s

    return points


apply_log_ndtr, apply_ndtr = _elementwise(formulas.log_ndtr), _elementwise(formulas.ndtr)


def _run(kernel_of_points, x, out, stream):
    """Launch a kernel of `_elementwise`."""
    grid = launch.blocks_for(x.size, _EACH * _THREADS)
    launch.launch(kernel_of_points, grid, _THREADS, stream, (x, out))


def log_ndtr(x, out, stream=0):
    """Fill `out` with the logarithm of the normal distribution function."""
    _run(apply_log_ndtr, x, out, stream)


def ndtr(x, out, stream=0):
    """Fill `out` with the normal distribution function."""
    _run(apply_ndtr, x, out, stream)


@kernel
def apply_expn(x, near, far, expansion, out):
    """Write the exponential integral of each x; see `expn_coefficients.table`."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = formulas.expn(x[i], near, far, expansion)


_tables: dict = {}


def expn(x, near, far, expansion, out, stream=0):
    """Fill `out` with the exponential integral of the order that the table is for."""
    where = (launch.device_id(), x.dtype, near.tobytes())
    if where not in _tables:  # coefficients are uploaded once
        _tables[where] = cuda.to_device(near), cuda.to_device(far)
    grid = launch.grid_stride_blocks(x.size)
    launch.launch(apply_expn, grid, _THREADS, stream, (x, *_tables[where], expansion, out))


@kernel
def fold_lanes(tops, rests, bare, row, lanes, top_out, rest_out):
    """Add up sums of exponentials, a lane in each thread.

    Neighbours read neighbouring numbers, and four loads are in flight.
    """
    t = uint64(cuda.grid(1))
    row, lanes = uint64(row), uint64(lanes)
    if t >= uint64(top_out.size):
        return
    outer = t // lanes
    i, end = outer * row + t - outer * lanes, (outer + uint64(1)) * row
    real = type(top_out[t])
    zero = real(0)
    top, remainder = real(-math.inf), zero
    while i + uint64(3) * lanes < end and bare:
        a, b = tops[i], tops[i + lanes]
        c, d = tops[i + uint64(2) * lanes], tops[i + uint64(3) * lanes]
        top, remainder = formulas.joined(top, remainder, a, zero)
        top, remainder = formulas.joined(top, remainder, b, zero)
        top, remainder = formulas.joined(top, remainder, c, zero)
        top, remainder = formulas.joined(top, remainder, d, zero)
        i += uint64(4) * lanes
    while i < end:
        top, remainder = formulas.joined(top, remainder, tops[i], zero if bare else rests[i])
        i += lanes
    top_out[t] = top
    rest_out[t] = remainder


def fold(tops, rests, bare, row, lanes, top_out, rest_out, stream=0):
    """Add up sums of exponentials: number j of every row goes to lane j % lanes of the row."""
    grid = launch.blocks_for(math.prod(top_out.shape))
    arguments = (tops, rests, bare, row, lanes, top_out, rest_out)
    launch.launch(fold_lanes, grid, _THREADS, stream, arguments)


@kernel
def write_logarithms(tops, rests, out):
    """Write the logarithm of each sum of exponentials."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = formulas.log_of_sum(tops[i], rests[i])


def finish(tops, rests, out, stream=0):
    """Fill `out` with the logarithms of sums."""
    grid = launch.grid_stride_blocks(math.prod(out.shape))
    launch.launch(write_logarithms, grid, _THREADS, stream, (tops, rests, out))


def lanes_wanted(rows):
    """Return the number of lanes in a row that fills the GPU: at least a warp."""
    return max(32, launch.multiprocessors() * 2048 // max(rows, 1))
