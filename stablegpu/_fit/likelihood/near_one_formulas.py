"""log pdf and its derivatives next to alpha = 1, by interpolation in a table for S0.

There nodes would be too many (`_fit/likelihood/half_line_formulas.py`), and S0 is smooth in point,
alpha and beta:
`near_one.npz` (tools/make_near_one_table.py) holds Chebyshev series in alpha and b = 1 + beta at
knots of u = asinh(z). They are summed once for a distribution; between the knots of that `profile`
polynomials through six of them interpolate. Where a light tail becomes a heavy one log pdf has a
bend, sharp for small b: there R and log a are interpolated instead, each of which is smooth.

For b = 0 the light tail goes on below e^-80, where the table ends: there its asymptotic formula is
taken (`_density/tails/light_formulas.py`).

Errors of log pdf (tools/make_near_one_table.py): at 200,000 random points, of which half have beta
next to an end, the median is 2e-11, 99.9 % are below 2e-5, and 1.3e-4 is the worst. The mean over a
distribution is below 2e-7.
"""

import math

from hetero.jit import FUSED, scalar
from stablegpu._density.tails.light_formulas import log_pdf_in_thin_tail
from stablegpu._numerics.asinh_formulas import asinh

HALF_WIDTH = 0.12  # of alpha around 1 in the table
FINE, MIDDLE = 1.0 / 32.0, 88  # spacing and number of the knots in the middle, u >= 0
COARSE, OUTER = 1.0 / 8.0, 144  # and of those outside
EDGE = 2.5  # u between them
IN_ALPHA = 10  # terms of the series
EDGES = (0.0, 1 / 64, 1 / 16, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)  # of pieces of b
PIECES, MIDDLE_B = len(EDGES) - 1, 10
OUTER_B = 14
LAST = EDGE + (OUTER - 4) * COARSE  # u from which on the tail is a power
_FARTHEST = 0.5 * math.exp(LAST)  # z there
GONE = -80.0  # log a where no light tail is left
MOST = 10.0  # above all log a
LIGHT = 44  # knots of the middle from which on a is that of a light tail
OF_THIN_TAIL = 8.0  # L from which on a formula replaces the table where b = 0, to 4e-4
THIN = 0.04  # b under which the bend between both tails is sharp

_OF_MIDDLE = MIDDLE * IN_ALPHA  # where the parts of the flat table start
_OF_OUTER = _OF_MIDDLE + MIDDLE * PIECES * MIDDLE_B * IN_ALPHA

# The profile: the coarse knots on the left, with two more; the middle; those on the right.
_SIDE, _CENTRE = OUTER + 2, 2 * MIDDLE - 1
PROFILE = 2 * _SIDE + _CENTRE
# Rows: log pdf and its derivatives by alpha and beta; the same without log(b + a); log a and its
# derivative by alpha.
ROWS = 8


@scalar(fastmath=FUSED)
def _piece(b):
    """Return number, start and width of the piece that holds b."""
    if b >= 0.25:
        piece = min(int(4.0 * b) - 1, PIECES - 4)
        return piece + 3, 0.25 * (piece + 1), 0.25
    if b >= 1.0 / 16.0:
        return 2, 1.0 / 16.0, 0.25 - 1.0 / 16.0
    if b >= 1.0 / 64.0:
        return 1, 1.0 / 64.0, 1.0 / 16.0 - 1.0 / 64.0
    return 0, 0.0, 1.0 / 64.0


@scalar(fastmath=FUSED)
def _knot(knot):
    """Return the sign of a knot, its number among those of its kind, whether it is inner, and u."""
    if _SIDE <= knot < _SIDE + _CENTRE:
        i = knot - _SIDE - (MIDDLE - 1)
        return (1.0 if i >= 0 else -1.0), abs(i), True, FINE * abs(i)
    right = knot >= _SIDE
    i = knot - _SIDE - _CENTRE if right else _SIDE - 1 - knot
    u = EDGE + COARSE * (i - 2)
    sign = 1.0 if right else -1.0
    if i < 2:
        return sign, int(EDGE / FINE) + int(COARSE / FINE) * (i - 2), True, u
    return sign, i - 2, False, u


@scalar(fastmath=FUSED)
def _position(u):
    """Return the number of the knot at u, a fraction between two."""
    size = abs(u)
    if size < EDGE:
        return (_SIDE + MIDDLE - 1) + u / FINE
    knots_out = 2.0 + (min(size, LAST) - EDGE) / COARSE
    return _SIDE + _CENTRE + knots_out if u > 0.0 else _SIDE - 1 - knots_out


@scalar(fastmath=FUSED)
def knots_between(low, high):
    """Return the first knot and one past the last that `log_pdf_near_one` reads in [low, high].

    Both may be infinite. Six knots around a point may all be on one side of it; one more on each
    side is for rounding.
    """
    first = int(_position(asinh(max(low, -_FARTHEST)))) - 6
    end = int(_position(asinh(min(high, _FARTHEST)))) + 7
    return max(first, 0), min(end, PROFILE)


@scalar(fastmath=FUSED)
def profile_at(knot, table, profile, alpha, beta):
    """Compute the values of the profile at a knot."""
    sign, i, in_middle, u = _knot(knot)
    b = 1.0 + sign * beta
    if in_middle:
        piece, low, width = _piece(b)
        start, terms = _OF_MIDDLE + (i * PIECES + piece) * MIDDLE_B * IN_ALPHA, MIDDLE_B
        growth_b = 2.0 / width
        y = growth_b * (b - low) - 1.0
    else:
        start, terms = _OF_OUTER + i * OUTER_B * IN_ALPHA, OUTER_B
        growth_b = 1.0
        y = b - 1.0
    x = (alpha - 1.0) / HALF_WIDTH
    value = by_a = by_b = log_a_a = 0.0
    log_a = 0.0 if in_middle else GONE
    t0, t1, d0, d1 = 1.0, x, 0.0, 1.0  # Chebyshev polynomials in alpha and their derivatives
    for k in range(IN_ALPHA):
        s0, s1, e0, e1 = 1.0, y, 0.0, 1.0
        inner = slope = 0.0
        for n in range(terms):
            c = table[start + n * IN_ALPHA + k]
            inner += c * s0
            slope += c * e0
            s0, s1, e0, e1 = s1, 2.0 * y * s1 - s0, e1, 2.0 * s1 + 2.0 * y * e1 - e0
        value += inner * t0
        by_a += inner * d0
        by_b += slope * t0
        if in_middle:
            log_a += table[i * IN_ALPHA + k] * t0
            log_a_a += table[i * IN_ALPHA + k] * d0
        t0, t1, d0, d1 = t1, 2.0 * x * t1 - t0, d1, 2.0 * t1 + 2.0 * x * d1 - d0
    if in_middle:  # the series is that of log(MOST - log a)
        log_a = MOST - math.exp(log_a)
        log_a_a *= log_a - MOST
        log_a = max(log_a, GONE)  # so that polynomials between knots stay small
    growth = u + math.log(0.5 * (1.0 + math.exp(-2.0 * u)))  # log cosh
    value -= (1.0 + alpha) * growth
    by_a = by_a / HALF_WIDTH - growth
    by_b *= growth_b
    a = math.exp(log_a)
    share = a / (b + a) * (log_a_a / HALF_WIDTH)
    profile[knot] = value + math.log(b + a)
    profile[PROFILE + knot] = by_a + share
    profile[2 * PROFILE + knot] = sign * (by_b + 1.0 / (b + a))
    profile[3 * PROFILE + knot] = value
    profile[4 * PROFILE + knot] = by_a
    profile[5 * PROFILE + knot] = sign * by_b
    profile[6 * PROFILE + knot] = log_a
    profile[7 * PROFILE + knot] = log_a_a / HALF_WIDTH


@scalar(fastmath=FUSED)
def _first_knot(u, knot, light):
    """Return the first of six knots around `knot`: all of them in the light tail, or none in it."""
    first, centre = int(knot) - 2, _SIDE + MIDDLE - 1
    if light:
        return max(first, centre + LIGHT) if u > 0.0 else min(first, centre - LIGHT - 5)
    if abs(u) < LIGHT * FINE:
        return min(first, centre + LIGHT - 5) if u > 0.0 else max(first, centre - LIGHT)
    return first


@scalar(fastmath=FUSED)
def log_pdf_near_one(z, profile, alpha, beta):
    """Return log pdf of the standard S0 distribution at z, its derivatives by z, alpha, beta."""
    u = asinh(z)
    size, sign = abs(u), 1.0 if u > 0.0 else -1.0
    beyond = max(size - LAST, 0.0)
    spacing = FINE if size < EDGE else COARSE
    knot = _position(u)
    b = 1.0 + sign * beta
    if b == 0.0:
        result, by_distance, by_a, level = log_pdf_in_thin_tail(abs(z), alpha)
        if level > OF_THIN_TAIL:
            return result, sign * by_distance, by_a, 0.0
    light = b < THIN and LIGHT * FINE <= size < EDGE
    first = _first_knot(u, knot, light)
    row = first + 3 * PROFILE if light else first
    t = knot - (first + 2)
    value = slope = by_a = by_b = log_a = log_a_u = log_a_a = 0.0
    # Lagrange's polynomials through -2, ..., 3 by their products from both ends.
    left, left_d = 1.0, 0.0
    for k in range(6):
        right, right_d = 1.0, 0.0
        weight = 1.0
        for n in range(6):
            if n != k:
                weight *= k - n
            if n > k:
                right_d = right_d * (t + 2.0 - n) + right
                right *= t + 2.0 - n
        w = left * right / weight
        d = (left_d * right + left * right_d) / weight
        value += w * profile[row + k]
        slope += d * profile[row + k]
        by_a += w * profile[PROFILE + row + k]
        by_b += w * profile[2 * PROFILE + row + k]
        if light:
            log_a += w * profile[6 * PROFILE + first + k]
            log_a_u += d * profile[6 * PROFILE + first + k]
            log_a_a += w * profile[7 * PROFILE + first + k]
        left_d = left_d * (t + 2.0 - k) + left
        left *= t + 2.0 - k
    if light:
        a = math.exp(log_a)
        both = b + a
        value += math.log(both)
        slope += a / both * log_a_u
        by_a += a / both * log_a_a
        by_b += sign / both
    by_z = slope / (spacing * math.hypot(1.0, z))
    if beyond > 0.0:
        value -= (1.0 + alpha) * beyond
        by_a -= beyond
        by_z = -(1.0 + alpha) / z
    return value, by_z, by_a, by_b
