"""Piecewise polynomials on the CPU."""

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel
from stablegpu._density.polynomials import formulas

_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13 = map(np.uint64, range(1, formulas.ROW))


_FIRST = 1 << 21
"""Points of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""


@parallel
def _evaluate_points(x, centring, right, left, cells, rows, outputs):
    """Evaluate pdf, cdf and sf at each point from its segment; `outputs` holds their arrays.

    The arrays are not unpacked, because Numba 0.68 would then drop what the loop writes.
    """
    loc, power, inverse, shift, shift_low = centring
    for i in prange(x.size):
        y = (((x[i] - loc) * power) * inverse - shift) - shift_low
        mirrored = y < 0.0
        b = abs(y)
        polynomial_half = left if mirrored else right
        if b < polynomial_half.end:
            cell, bits = formulas.cell_of(b + polynomial_half.floor, polynomial_half)
            row, t, inverse_width = formulas.locate_segment(bits, cells[cell])
            k = np.uint64(row * formulas.ROW)  # a signed index may count from the end
            coefficients = (
                *(rows[k], rows[k + _1], rows[k + _2], rows[k + _3], rows[k + _4], rows[k + _5]),
                *(rows[k + _6], rows[k + _7], rows[k + _8]),
                *(rows[k + _9], rows[k + _10], rows[k + _11]),
            )
            gain, f = formulas.polynomial(t, coefficients)
            f, low, high = f * inverse_width, rows[k + _12] + gain, rows[k + _13] - gain
        else:
            f, low, high = formulas.evaluate_tail(b, polynomial_half)
        if outputs[0].size:  # an empty array: not requested
            outputs[0][i] = f * power * inverse
        if outputs[1].size:
            outputs[1][i] = high if mirrored else low
        if outputs[2].size:
            outputs[2][i] = low if mirrored else high


def evaluate(x, centring, halves, segments, outputs, stream=0):
    """Write pdf, cdf and sf at points; `halves` holds the right half first."""
    constants = (centring, *halves, segments.cells, segments.rows)
    for a, b in ranges(x.size, first=_FIRST):
        _evaluate_points(x[a:b], *constants, tuple(values[a:b] for values in outputs))


@parallel
def _invert_points(p, upper, restoration, right, left, segments, x):
    """Compute the quantile of each probability."""
    rows = segments.rows
    for i in prange(p.size):
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


def invert(p, upper, restoration, halves, segments, x, stream=0):
    """Write x with P(X <= x) = p, or P(X > x) = p if `upper`; `halves` holds the right first."""
    constants = (upper, restoration, *halves, segments)
    for a, b in ranges(p.size, first=_FIRST):
        _invert_points(p[a:b], *constants, x[a:b])
