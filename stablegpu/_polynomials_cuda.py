"""Piecewise polynomials on the GPU, a thread for every point; the rows in shared memory."""

from numba import float64

from hetero import launch
from hetero._driver import cuda
from hetero.jit import kernel
from stablegpu._polynomials_math import ROW, beyond, cell_of, place, polynomial

_THREADS = 512
_STRIDE = ROW + 1  # odd: rows that differ by a power of two do not meet in the same bank


def _kernel(shared: bool):
    """Two of a kind: small tables are copied to shared memory, large ones read where they are."""

    @kernel(launch_bounds=(_THREADS, 2))
    def evaluate_points(
        x, loc, power, inverse, shift, shift_low, right, left, cells, table, rows, pdf, cdf, sf
    ):
        if shared:
            near = cuda.shared.array(0, float64)
            for j in range(cuda.threadIdx.x, rows * ROW, cuda.blockDim.x):
                near[j // ROW * _STRIDE + j % ROW] = table[j]
            cuda.syncthreads()
        else:
            near = table
        stride = _STRIDE if shared else ROW
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            y = (((x[i] - loc) * power) * inverse - shift) - shift_low
            mirrored = y < 0.0
            b = abs(y)
            wing = left if mirrored else right
            if b < wing.end:
                at, bits = cell_of(b + wing.floor, wing)
                row, t, inverse_width = place(bits, cells[at])
                k = row * stride
                g1, g2, g3, g4 = near[k], near[k + 1], near[k + 2], near[k + 3]
                g5, g6, g7, g8 = near[k + 4], near[k + 5], near[k + 6], near[k + 7]
                g9, g10, g11, g12 = near[k + 8], near[k + 9], near[k + 10], near[k + 11]
                gain, f = polynomial(t, g1, g2, g3, g4, g5, g6, g7, g8, g9, g10, g11, g12)
                f, low, high = f * inverse_width, near[k + 12] + gain, near[k + 13] - gain
            else:
                f, low, high = beyond(b, wing)
            if pdf.size:  # an empty array: not wanted
                pdf[i] = f * power * inverse
            if cdf.size:
                cdf[i] = high if mirrored else low
            if sf.size:
                sf[i] = low if mirrored else high

    return evaluate_points


evaluate_near, evaluate_far = _kernel(True), _kernel(False)


def evaluate(x, loc, power, inverse, shift, shift_low, right, left, segments, outputs, stream=0):
    """pdf, cdf and sf at (x - loc) power inverse - shift."""
    table = launch.on_device(segments)
    rows = segments.edges.size
    arguments = (
        x,
        loc,
        power,
        inverse,
        shift,
        shift_low,
        right,
        left,
        table.cells,
        table.rows,
        rows,
        *outputs,
    )
    size = 8 * _STRIDE * rows
    if 2 * size + 4096 < launch.shared_memory():
        launch.with_shared_memory(evaluate_near, arguments, size, _THREADS, x.size, stream)
    else:
        evaluate_far[launch.strided(x.size, _THREADS), _THREADS, stream](*arguments)
