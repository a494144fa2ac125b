"""Piecewise polynomials for pdf, cdf and sf, for both targets.

The distance b of a point from the centre is shifted to a = b + floor, so that a never vanishes. The
bits of a number the segments: exponent and first mantissa bit select a cell, `splits` more bits a
segment of the cell, and the remaining bits are the coordinate t in [-1, 1] within it. So segments
are of equal size next to the centre and grow with the distance from it; where the distribution
bends more (light tails), cells have more of them.

A segment holds cdf and sf at its middle, and the coefficients of the increase of cdf from there in
powers of t. They come from a polynomial for pdf, and pdf is the derivative: a point reads one row.
"""

import math
from typing import NamedTuple

from hetero.arrays import Array
from hetero.intrinsics.floats import float_of_signed, signed_bits_of
from hetero.jit import FUSED, scalar
from stablegpu._density.tails.heavy_formulas import sum_tail

DEGREE = 11  # of pdf
ROW = DEGREE + 3  # coefficients of t, t^2, ...; low and high at the middle
POINTS = 15  # Chebyshev points that a polynomial is made from; the middle is one
NEWTON_STEPS = 4  # after the first, which is linear: a segment spans a factor of e^1.5 or so
FARTHEST = 600.0  # log y from which on the centre and the shift are nothing beside y
SPLIT_BITS = 4  # of a cell's entry; the others are the number of its first row


class PolynomialHalf(NamedTuple):
    """Polynomials and tail series on one side of the centre."""

    floor: float  # a = b + floor
    first: int  # the bits of floor that name cells
    cells: int  # where this side's cells start
    row: int  # first of this side
    rows: int
    end: float  # of the segments, in b
    high: float  # at the end
    to_tail: float  # y of the tail's series is b + to_tail
    alpha: float
    tail1: float  # coefficients of sf in powers of y^-alpha; 0: nothing there
    tail2: float
    tail3: float
    tail4: float


class Centring(NamedTuple):
    """Map from x to its signed distance from the centre; power times inverse is 1/scale."""

    loc: float
    power: float  # a power of 2
    inverse: float
    shift: float  # subtracted last, in two parts
    shift_low: float


class Segments(NamedTuple):
    """Segments on both sides of the centre."""

    cells: Array  # int64: number of the first row, and how many bits tell its rows apart
    rows: Array  # ROW numbers each, in one piece
    starts: Array  # by segment: where it starts, in a
    lows: Array  # by segment: low and high there
    highs: Array


@scalar
def cell_of(a, polynomial_half):
    """Return the index of the cell's entry, and the bits of a."""
    bits = signed_bits_of(a)
    return polynomial_half.cells + (bits >> 51) - polynomial_half.first, bits


@scalar
def locate_segment(bits, entry):
    """Locate the segment: return its row, t in it, and 2 over its width."""
    splits = entry & ((1 << SPLIT_BITS) - 1)
    free = 51 - splits  # bits
    row = (entry >> SPLIT_BITS) + ((bits >> free) & ((1 << splits) - 1))
    exponent = bits >> 52
    middle = float_of_signed(((bits >> free) << free) | (1 << (free - 1)))
    inverse = float_of_signed((2048 + splits - exponent) << 52)
    return row, (float_of_signed(bits) - middle) * inverse, inverse


@scalar(fastmath=FUSED)
def polynomial(t, coefficients):
    """Return the increase of cdf from the middle to t, and its derivative, by Horner's scheme.

    `coefficients` are those of t, t^2, ..., t^12.
    """
    g1, g2, g3, g4, g5, g6, g7, g8, g9, g10, g11, g12 = coefficients
    p, d = g12, g12
    p = p * t + g11
    d = d * t + p
    p = p * t + g10
    d = d * t + p
    p = p * t + g9
    d = d * t + p
    p = p * t + g8
    d = d * t + p
    p = p * t + g7
    d = d * t + p
    p = p * t + g6
    d = d * t + p
    p = p * t + g5
    d = d * t + p
    p = p * t + g4
    d = d * t + p
    p = p * t + g3
    d = d * t + p
    p = p * t + g2
    d = d * t + p
    p = p * t + g1
    return p * t, d * t + p


@scalar
def evaluate_tail(b, polynomial_half):
    """Return pdf, low and high beyond the segments: at NaN, infinity and in the far tails."""
    if b != b:
        return b, b, b
    if b < math.inf and polynomial_half.tail1 > 0.0:
        f, low, high, _, _, _ = sum_tail(
            b + polynomial_half.to_tail, polynomial_half.alpha, polynomial_half
        )
        return f, low, high
    return 0.0, 1.0, 0.0


# ---- quantiles -------------------------------------------------------------------------------


@scalar
def end_of_support(p, upper, restoration):
    """Return the quantile of 0 or 1, an end of the support; NaN for other p and for NaN."""
    low, high = restoration.low, restoration.high
    if p == 0.0:
        return high if upper else low
    if p == 1.0:
        return low if upper else high
    return math.nan


@scalar
def choose_half(p, upper, right, left, lows, highs):
    """Return whether the quantile of p lies on the right, whether high is matched (else low), and
    its value; p in (0, 1)."""
    at_right = p <= highs[right.row] if upper else p >= lows[right.row]
    tail = p <= 0.5
    q = p if tail else 1.0 - p
    return at_right, tail == (upper == at_right), q


@scalar
def far_quantile(q, polynomial_half):
    """Return the distance b at which the series of the tail is q, and log y there.

    Newton's method solves for z = y^-alpha; b is infinite if it is beyond the range of floats.
    """
    if polynomial_half.tail1 <= 0.0:
        return polynomial_half.end, 0.0
    z = q / polynomial_half.tail1
    for _ in range(3):
        high = (
            ((polynomial_half.tail4 * z + polynomial_half.tail3) * z + polynomial_half.tail2) * z
            + polynomial_half.tail1
        ) * z
        slope = (
            (4.0 * polynomial_half.tail4 * z + 3.0 * polynomial_half.tail3) * z
            + 2.0 * polynomial_half.tail2
        ) * z + polynomial_half.tail1
        z -= (high - q) / slope
    log_y = -math.log(z) / polynomial_half.alpha
    return math.exp(log_y) - polynomial_half.to_tail, log_y


@scalar
def restore_quantile(b, log_y, at_right, restoration):
    """Return the quantile at a distance b from the centre.

    Far out it is computed from log y: with a small scale, it may be finite where b is not.
    """
    loc, scale, shift, shift_low, _, _ = restoration
    if log_y > FARTHEST:
        y = math.exp(log_y + math.log(scale))
        return loc + (y if at_right else -y)
    return loc + scale * (((b if at_right else -b) + shift) + shift_low)


@scalar
def bounded_newton_step(t, gain, slope, target):
    """Return the result of a Newton step, kept inside the segment."""
    t -= (gain - target) / slope if slope > 0.0 else 0.0
    return min(max(t, -1.0), 1.0)


@scalar
def solve_in_segment(target, coefficients):
    """Solve for t where the gain equals `target`."""
    t = bounded_newton_step(0.0, 0.0, coefficients[0], target)
    for _ in range(NEWTON_STEPS):
        gain, slope = polynomial(t, coefficients)
        t = bounded_newton_step(t, gain, slope, target)
    return t
