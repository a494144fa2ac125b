"""Search of a group of windows: lattice points in a slab, by a reduced basis for each window.

docs/packages/tmd-large-arguments.md has the theory and the proofs. A vector of the lattice is a
tuple (x, y, z, a, b): its scaled coordinates in the window, the linear form modulo 1 in test units,
and its coordinates in the basis (u, v). z is a multiple of 2^-50, so that sums of it are exact.
"""

import math

import numpy as np

from hetero.jit import float_scalar, scalar
from tmd._periodic.columns import REALS, WORDS

_U, _I = np.uint64, np.int64
_UNIT = 2.0**-64
_ROUNDER = 1.5 * 2.0**52
_GRID_BITS = _I(14)
_GRID_UNIT = 2.0**-50

MARGIN = 1.0 + 2.0**-10
"""Factor by which a window and its slab are enlarged, for the rounding errors of float64.

The proof needs 1 + 2^-11.
"""

_LEAST = 2.0**-32
"""Share of the largest norm below which norms that have been updated are computed again: the
updates have errors of some 2^-50 of it."""

MAX_ROUNDS = 200
"""Rounds after which a reduction ends. Each shortens a vector, so that 10 are usual."""

(_SLAB, _TOLERANCE, _U_X, _U_Y, _V_X, _V_Y, _A_START, _A_STEP, _B_START, _B_STEP, _VALUE,
 _U_VALUE, _V_VALUE, _SQUARE, _CUBE) = REALS  # fmt: skip
_VALUE_WORD, _U_WORD, _V_WORD = WORDS


@scalar
def _nearest(x):
    """Return the integer next to x, for |x| < 2^51: rounding of the sum does it."""
    return (x + _ROUNDER) - _ROUNDER


@scalar
def _to_word(x):
    """Return x modulo 1 in units of 2^-64, as a signed word."""
    return _I((x - math.floor(x + 0.5)) * 2.0**64)


@scalar
def add_to_word(word, x):
    """Return a word plus x modulo 1."""
    return _I(_U(word) + _U(_to_word(x)))


@scalar
def linear_form(value, u_word, v_word, a, b):
    """Return value + a u_word + b v_word modulo 1, as a word."""
    return _I(_U(value) + _U(_I(a)) * _U(u_word) + _U(_I(b)) * _U(v_word))


@scalar
def distance_of_word(word):
    """Return the distance from the nearest integer."""
    return abs(float(word)) * _UNIT


@scalar
def _to_grid(word):
    """Return a word as a signed number modulo 1, rounded down to a multiple of 2^-50."""
    return float(word >> _GRID_BITS) * _GRID_UNIT


@scalar
def _dot(v, w, weight):
    return v[0] * w[0] + v[1] * w[1] + v[2] * w[2] * weight


@scalar
def _subtract(v, k, w):
    """Return v - k w."""
    return (v[0] - k * w[0], v[1] - k * w[1], v[2] - k * w[2], v[3] - k * w[3], v[4] - k * w[4])


@scalar
def _inner_products(b1, b2, b3, weight):
    """Return n1, n2, n3, g12, g13, g23, and a norm below which their updates have lost digits."""
    n1, n2, n3 = _dot(b1, b1, weight), _dot(b2, b2, weight), _dot(b3, b3, weight)
    g12, g13, g23 = _dot(b1, b2, weight), _dot(b1, b3, weight), _dot(b2, b3, weight)
    return n1, n2, n3, g12, g13, g23, _LEAST * max(n1, n2, n3)


@scalar
def reduce_basis(b1, b2, b3, weight):
    """Reduce three vectors: pairs by Lagrange's algorithm, and the longest by the nearest plane.

    `weight` is the factor of z^2 in the norm. The vectors are returned by growing norm. Their inner
    products are updated rather than computed again, which shortens the chain of operations, until
    cancellation leaves few of their digits.
    """
    n1, n2, n3, g12, g13, g23, least = _inner_products(b1, b2, b3, weight)
    for _ in range(MAX_ROUNDS):
        if n2 < n1:
            b1, b2, n1, n2, g13, g23 = b2, b1, n2, n1, g23, g13
        if n3 < n2:
            b2, b3, n2, n3, g12, g13 = b3, b2, n3, n2, g13, g12
            if n2 < n1:
                b1, b2, n1, n2, g13, g23 = b2, b1, n2, n1, g23, g13
        inverse = 1.0 / n1
        k = _nearest(g12 * inverse)
        shorter = n2 - k * (2.0 * g12 - k * n1)
        if k != 0.0 and shorter < 0.999 * n2:
            b2, n2 = _subtract(b2, k, b1), shorter
            g12, g23 = g12 - k * n1, g23 - k * g13
            if shorter < least:
                n1, n2, n3, g12, g13, g23, least = _inner_products(b1, b2, b3, weight)
            continue
        k2 = _nearest((n1 * g23 - g12 * g13) / (n1 * n2 - g12 * g12))
        k1 = _nearest((g13 - k2 * g12) * inverse)
        h13, h23 = k1 * n1 + k2 * g12, k1 * g12 + k2 * n2
        shorter = n3 - k1 * (2.0 * g13 - h13) - k2 * (2.0 * g23 - h23)
        if (k1 == 0.0 and k2 == 0.0) or not shorter < 0.999 * n3:
            break
        b3, n3 = _subtract(_subtract(b3, k2, b2), k1, b1), shorter
        g13, g23 = g13 - h13, g23 - h23
        if shorter < least:
            n1, n2, n3, g12, g13, g23, least = _inner_products(b1, b2, b3, weight)
    return b1, b2, b3


@scalar
def _shear(v, u_change, v_change):
    """Return a vector of the last window's lattice in the next one, where the slopes differ."""
    return v[0], v[1], v[2] + (v[3] * u_change + v[4] * v_change), v[3], v[4]


@float_scalar
def _refresh(v, row):
    """Return a vector with x and y from the integers a and b, so that no errors accumulate."""
    a, b = v[3], v[4]
    x, y = a * row[_U_X] + b * row[_V_X], a * row[_U_Y] + b * row[_V_Y]
    return x, y, v[2], a, b


@scalar
def _is_exact(v, u_change, v_change, weight):
    """Return whether sums of z, of multiples of 2^-50, stay below 8 and so exact."""
    change = max(abs(v[3] * u_change), abs(v[4] * v_change))
    return change < 1.0 and _dot(v, v, weight) < 4.0 * weight


@float_scalar
def _first_basis(row, u_z, v_z):
    """Return a basis of the lattice that is not reduced."""
    u = (row[_U_X], row[_U_Y], u_z, 1.0, 0.0)
    v = (row[_V_X], row[_V_Y], v_z, 0.0, 1.0)
    return u, v, (0.0, 0.0, 1.0, 0.0, 0.0)


@float_scalar
def forms_of_window(row, words, i):
    """Return a window's linear form modulo 1 (at the anchor, along u and v), and K and Q."""
    k = _VALUE
    change = i * (row[k] + i * (row[k + 1] + i * (row[k + 2] + i * row[k + 3])))
    value = add_to_word(words[_VALUE_WORD], change)
    k = _U_VALUE
    u_word = add_to_word(words[_U_WORD], i * (row[k] + i * (row[k + 1] + i * row[k + 2])))
    k = _V_VALUE
    v_word = add_to_word(words[_V_WORD], i * (row[k] + i * (row[k + 1] + i * row[k + 2])))
    square = row[_SQUARE] + i * (row[_SQUARE + 1] + i * row[_SQUARE + 2])
    return value, u_word, v_word, square, row[_CUBE] + i * row[_CUBE + 1]


@scalar
def _cross(v, w, scale):
    """Return the cross product of (x, y, z scale) of two vectors."""
    return (
        (v[1] * w[2] - v[2] * w[1]) * scale,
        (v[2] * w[0] - v[0] * w[2]) * scale,
        v[0] * w[1] - v[1] * w[0],
    )


@scalar
def _project(d, v, scale):
    return d[0] * v[0] + d[1] * v[1] + d[2] * v[2] * scale


@scalar
def _length(d):
    """Return the sum of the magnitudes: the half width of a range of coordinates."""
    return (abs(d[0]) + abs(d[1]) + abs(d[2])) * MARGIN


@scalar
def _invert(b):
    """Return 1/b; for 0 a number with which `_clip` leaves all of a range or nothing."""
    return 1.0 / b if b != 0.0 else 1e300


@scalar
def _clip(lo, hi, o, inverse):
    """Return the part of [lo, hi] in which |o + x b| <= MARGIN, where `inverse` is 1/b."""
    middle, half = -o * inverse, MARGIN * abs(inverse)
    return max(lo, middle - half), min(hi, middle + half)


@float_scalar
def search_group(row, words, first, last, points):
    """Search the windows from a first to a last one of a group.

    Parameters
    ----------
    row, words : float64, int64 arrays
        The group's row of both tables; see `columns`.
    first, last : int64
    points : int64 (capacity, 2)
        Gets the coordinates (a, b) of the survivors; those beyond its capacity are only counted.

    Returns
    -------
    (survivors, candidates) : int64
        Numbers of the lattice points with a value near an integer, and of those in the slabs; -1
        candidates if a basis could not be reduced.
    """
    slab = row[_SLAB]
    near = row[_TOLERANCE] + slab / 64.0
    scale = 1.0 / slab
    weight = scale * scale
    b1, b2, b3 = _first_basis(row, 0.0, 0.0)
    u_grid, v_grid = 0.0, 0.0
    survivors, candidates = 0, 0
    for number in range(first, last + 1):
        i = float(number)
        value, u_word, v_word, square, cube = forms_of_window(row, words, i)
        # The basis of the last window, reduced again.
        u_next, v_next = _to_grid(u_word), _to_grid(v_word)
        u_change, v_change = u_next - u_grid, v_next - v_grid
        u_change -= _nearest(u_change)
        v_change -= _nearest(v_change)
        u_grid, v_grid = u_next, v_next
        b1 = _shear(b1, u_change, v_change)
        b2 = _shear(b2, u_change, v_change)
        b3 = _shear(b3, u_change, v_change)
        passes = 1
        if number == first or not (
            _is_exact(b1, u_change, v_change, weight)
            and _is_exact(b2, u_change, v_change, weight)
            and _is_exact(b3, u_change, v_change, weight)
        ):
            b1, b2, b3 = _first_basis(row, u_grid, v_grid)
            passes = 3  # the first loses digits of x and y
        for _ in range(passes):
            b1, b2, b3 = reduce_basis(b1, b2, b3, weight)
            b1, b2, b3 = _refresh(b1, row), _refresh(b2, row), _refresh(b3, row)
        # Rows of the inverse matrix give the ranges of coordinates.
        d1, d2, d3 = _cross(b2, b3, scale), _cross(b3, b1, scale), _cross(b1, b2, scale)
        volume = _project(d1, b1, scale)
        norms = _dot(b1, b1, weight) * _dot(b2, b2, weight) * _dot(b3, b3, weight)
        if not norms <= 4.0 * volume * volume:
            return survivors, -1
        factor = 1.0 / volume
        d1 = (d1[0] * factor, d1[1] * factor, d1[2] * factor)
        d2 = (d2[0] * factor, d2[1] * factor, d2[2] * factor)
        d3 = (d3[0] * factor, d3[1] * factor, d3[2] * factor)
        # A lattice point near the centre of the window and its slab.
        a, b = row[_A_START] + i * row[_A_STEP], row[_B_START] + i * row[_B_STEP]
        a0, b0 = _nearest(a), _nearest(b)
        centre = linear_form(value, u_word, v_word, a0, b0)
        o = (
            (a0 - a) * row[_U_X] + (b0 - b) * row[_V_X],
            (a0 - a) * row[_U_Y] + (b0 - b) * row[_V_Y],
            _to_grid(add_to_word(centre, 0.5 * square)),
            a0,
            b0,
        )
        k1 = _nearest(_project(d1, o, scale))
        k2 = _nearest(_project(d2, o, scale))
        k3 = _nearest(_project(d3, o, scale))
        o = _subtract(_subtract(_subtract(o, k1, b1), k2, b2), k3, b3)
        c1, c2, c3 = -_project(d1, o, scale), -_project(d2, o, scale), -_project(d3, o, scale)
        l1, l2, l3 = _length(d1), _length(d2), _length(d3)
        i1, i2, i3 = _invert(b1[0]), _invert(b1[1]), _invert(b1[2] * scale)
        # All lattice points in the cube: x b1 + y b2 + z b3 - o.
        for z in range(math.ceil(c3 - l3), math.floor(c3 + l3) + 1):
            oz = _subtract(o, -float(z), b3)
            for y in range(math.ceil(c2 - l2), math.floor(c2 + l2) + 1):
                oy = _subtract(oz, -float(y), b2)
                lo, hi = _clip(c1 - l1, c1 + l1, oy[0], i1)
                lo, hi = _clip(lo, hi, oy[1], i2)
                lo, hi = _clip(lo, hi, oy[2] * scale, i3)
                if lo > hi:
                    continue  # such ends may lie beyond all integers where b1 has a zero
                for x in range(math.ceil(lo), math.floor(hi) + 1):
                    p = _subtract(oy, -float(x), b1)
                    candidates += 1
                    bend = p[1] * p[1] * (square + p[1] * cube)
                    if abs(p[2] + (bend - 0.5 * square)) > near:
                        continue  # the linear form in float64 is enough to exclude most
                    exact = add_to_word(linear_form(value, u_word, v_word, p[3], p[4]), bend)
                    if distance_of_word(exact) <= row[_TOLERANCE]:
                        if survivors < points.shape[0]:
                            points[survivors, 0] = _I(p[3])
                            points[survivors, 1] = _I(p[4])
                        survivors += 1
    return survivors, candidates
