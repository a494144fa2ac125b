"""Piecewise polynomials on the GPU: a thread for each point, and the rows in shared memory."""

from numba import float64

from hetero.cuda import launch
from hetero.cuda.device_cache import resident_tuple
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._density.polynomials import formulas

_THREADS = 512
_STRIDE = formulas.ROW + 1  # odd: rows that differ by a power of two do not meet in the same bank


def _kernel(shared: bool):
    """Make the kernel for small tables (copied to shared memory) or large ones (read in place)."""

    @kernel(launch_bounds=(_THREADS, 2))
    def evaluate_points(x, centring, right, left, cells, table, rows, outputs):
        loc, power, inverse, shift, shift_low = centring
        pdf, cdf, sf = outputs
        if shared:
            near = cuda.shared.array(0, float64)
            for j in range(cuda.threadIdx.x, rows * formulas.ROW, cuda.blockDim.x):
                near[j // formulas.ROW * _STRIDE + j % formulas.ROW] = table[j]
            cuda.syncthreads()
        else:
            near = table
        stride = _STRIDE if shared else formulas.ROW
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            y = (((x[i] - loc) * power) * inverse - shift) - shift_low
            mirrored = y < 0.0
            b = abs(y)
            polynomial_half = left if mirrored else right
            if b < polynomial_half.end:
                cell, bits = formulas.cell_of(b + polynomial_half.floor, polynomial_half)
                row, t, inverse_width = formulas.locate_segment(bits, cells[cell])
                k = row * stride
                coefficients = (
                    *(near[k], near[k + 1], near[k + 2], near[k + 3], near[k + 4], near[k + 5]),
                    *(near[k + 6], near[k + 7], near[k + 8]),
                    *(near[k + 9], near[k + 10], near[k + 11]),
                )
                gain, f = formulas.polynomial(t, coefficients)
                f, low, high = f * inverse_width, near[k + 12] + gain, near[k + 13] - gain
            else:
                f, low, high = formulas.evaluate_tail(b, polynomial_half)
            if pdf.size:  # an empty array: not requested
                pdf[i] = f * power * inverse
            if cdf.size:
                cdf[i] = high if mirrored else low
            if sf.size:
                sf[i] = low if mirrored else high

    return evaluate_points


evaluate_near, evaluate_far = _kernel(True), _kernel(False)


@kernel
def invert_points(p, upper, restoration, right, left, segments, x):
    """Compute the quantile of each probability."""
    rows = segments.rows
    for i in range(cuda.grid(1), p.size, cuda.gridsize(1)):
        if not 0.0 < p[i] < 1.0:
            x[i] = formulas.end_of_support(p[i], upper, restoration)
            continue
        at_right, outward, q = formulas.choose_half(
            p[i], upper, right, left, segments.lows, segments.highs
        )
        polynomial_half = right if at_right else left
        log_y = 0.0
        if outward and q < polynomial_half.high:
            b, log_y = formulas.far_quantile(q, polynomial_half)
        elif q == (segments.highs if outward else segments.lows)[polynomial_half.row]:
            b = 0.0
        else:
            # The last segment that starts before the quantile.
            row, after = polynomial_half.row, polynomial_half.row + polynomial_half.rows
            while after - row > 1:
                middle = (row + after) // 2
                before = segments.highs[middle] >= q if outward else segments.lows[middle] <= q
                if before:
                    row = middle
                else:
                    after = middle
            k = row * formulas.ROW
            coefficients = (
                *(rows[k], rows[k + 1], rows[k + 2], rows[k + 3], rows[k + 4], rows[k + 5]),
                *(rows[k + 6], rows[k + 7], rows[k + 8], rows[k + 9], rows[k + 10], rows[k + 11]),
            )
            requested = rows[k + 13] - q if outward else q - rows[k + 12]
            t = formulas.solve_in_segment(requested, coefficients)
            cell, bits = formulas.cell_of(segments.starts[row], polynomial_half)
            _, _, inverse_width = formulas.locate_segment(bits, segments.cells[cell])
            b = segments.starts[row] + (1.0 + t) / inverse_width - polynomial_half.floor
        x[i] = formulas.restore_quantile(b, log_y, at_right, restoration)


def evaluate(x, centring, halves, segments, outputs, stream=0):
    """Write pdf, cdf and sf at points; see `_density/polynomials/cpu.py`."""
    table = resident_tuple(segments)
    rows = segments.starts.size
    arguments = (x, centring, *halves, table.cells, table.rows, rows, outputs)
    size = 8 * _STRIDE * rows
    if 2 * size + 4096 < launch.max_shared_memory():
        launch.launch_over(evaluate_near, x.size, arguments, stream, _THREADS, size)
    else:
        launch.launch_over(evaluate_far, x.size, arguments, stream, _THREADS)


def invert(p, upper, restoration, halves, segments, x, stream=0):
    """Write x with P(X <= x) = p, or P(X > x) = p if `upper`; see `_density/polynomials/cpu.py`."""
    arguments = (p, upper, restoration, *halves, resident_tuple(segments), x)
    launch.launch_over(invert_points, p.size, arguments, stream)
