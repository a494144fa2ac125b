"""Search of a group of windows with bases and bounds in float32; `formulas` has it in float64.

Vectors are tuples (x, y, z, a, b) of float32, scaled so that a window and its slab are the cube
[-1, 1]^3. Everything that decides is exact or checked: z is computed from the integers a and b
after each reduction, the determinant shows that three vectors are a basis, and what survives is
computed in words and float64. Windows in which float32 might not suffice are left to float64.
docs/packages/tmd-large-arguments.md has the proofs.
"""

import numpy as np

from hetero.jit import float_scalar, scalar
from tmd._periodic.columns import REALS
from tmd._periodic.formulas import add_to_word, distance_of_word, forms_of_window, linear_form

_F, _I, _N = np.float32, np.int64, np.int32
_ZERO, _ONE, _TWO, _HALF = _F(0.0), _F(1.0), _F(2.0), _F(0.5)
_ROUNDER, _ROUNDER_64 = _F(1.5 * 2.0**23), 1.5 * 2.0**52
_WORD_UNIT = 2.0**-64

_MARGIN = _F(1.0 + 2.0**-7)
"""Factor by which the cube is enlarged, for the rounding errors of float32.

The proof needs 1 + 2^-8.
"""

_UP = _F(0.5 - 2.0**-10)
"""What is added before rounding to the nearest integer gives the first integer of a range."""

_LONGEST = _F(2.0**14)
"""Square of the length of a basis vector up to which float32 suffices; one window in 10^6 has a
longer one."""

_MAX_EXTENT = _F(2.0**14)
"""Coordinates of a square's points in the basis up to which those of all sums are below 2^24."""

_CLOSE = _F(1.0 / 128.0)
"""Distance from an integer, in units of the slab, up to which a candidate is computed exactly.

Values have errors below 2^-9.
"""

_SHORTER = _F(0.999)
_SHRINK = _F(0.998)
_MAX_ROUNDS = 40
_PASSES = 4
"""Reductions of a basis that was not reduced: each leaves its rounding errors to the next."""

(_SLAB, _TOLERANCE, _U_X, _U_Y, _V_X, _V_Y, _A_START, _A_STEP, _B_START, _B_STEP, _VALUE,
 _U_VALUE, _V_VALUE, _SQUARE, _CUBE) = REALS  # fmt: skip


@scalar
def _nearest(x):
    """Return the integer next to x, for |x| < 2^22."""
    return (x + _ROUNDER) - _ROUNDER


@scalar
def _dot(v, w):
    return v[0] * w[0] + v[1] * w[1] + v[2] * w[2]


@scalar
def _subtract(v, k, w):
    """Return v - k w."""
    return (v[0] - k * w[0], v[1] - k * w[1], v[2] - k * w[2], v[3] - k * w[3], v[4] - k * w[4])


@scalar
def _order(v, w):
    """Return two vectors, the shorter one first."""
    return (w, v) if _dot(w, w) < _dot(v, v) else (v, w)


@scalar
def _reduce(b1, b2, b3):
    """Reduce three vectors; what is missed by rounding is seen by those who use them."""
    for _ in range(_MAX_ROUNDS):
        b1, b2 = _order(b1, b2)
        b2, b3 = _order(b2, b3)
        b1, b2 = _order(b1, b2)
        n1 = _dot(b1, b1)
        inverse = _ONE / n1
        k = _nearest(_SHRINK * _dot(b1, b2) * inverse)
        b2 = _subtract(b2, k, b1)
        n2, n3 = _dot(b2, b2), _dot(b3, b3)
        g12, g13, g23 = _dot(b1, b2), _dot(b1, b3), _dot(b2, b3)
        k2 = _nearest((n1 * g23 - g12 * g13) / (n1 * n2 - g12 * g12))
        k1 = _nearest((g13 - k2 * g12) * inverse)
        shorter = _subtract(_subtract(b3, k2, b2), k1, b1)
        moves = (k1 != _ZERO or k2 != _ZERO) and _dot(shorter, shorter) < _SHORTER * n3
        if moves:
            b3 = shorter
        if k == _ZERO and not moves:
            break
    return b1, b2, b3


@scalar
def _form_of(v, u_word, v_word):
    """Return the linear form along a vector modulo 1, as a word."""
    return linear_form(_I(0), u_word, v_word, _N(v[3]), _N(v[4]))


@scalar
def _change(word, last):
    """Return the difference of two words modulo 1, as a word."""
    return _I(np.uint64(word) - np.uint64(last))


@scalar
def _cross(v, w):
    return (v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0])


@scalar
def _times(d, factor):
    return d[0] * factor, d[1] * factor, d[2] * factor


@scalar
def _length(d):
    """Return the sum of the magnitudes: the half width of a range of coordinates."""
    return (abs(d[0]) + abs(d[1]) + abs(d[2])) * _MARGIN


@scalar
def _invert(b):
    return _ONE / b if b != _ZERO else _F(1e30)


@scalar
def _clip(lo, hi, o, inverse):
    """Return the part of [lo, hi] in which |o + x b| <= MARGIN, where `inverse` is 1/b."""
    middle, half = -o * inverse, _MARGIN * abs(inverse)
    return max(lo, middle - half), min(hi, middle + half)


@float_scalar
def search_group(row, words, windows, points, skipped):
    """Search the windows -windows, ..., windows of a group.

    Parameters
    ----------
    row, words : float64, int64 arrays
        The group's row of both tables; see `columns`.
    windows : int64
    points : int64 (capacity, 2)
        Gets the coordinates (a, b) of the survivors; those beyond its capacity are only counted.
    skipped : int64 (capacity,)
        Gets the numbers of windows that were left out, as far as it has room.

    Returns
    -------
    (survivors, candidates, skips) : int64
        Numbers of lattice points with a value near an integer, of those in the slabs, and of
        windows that were left out.
    """
    scale64 = 1.0 / row[_SLAB]
    scale, to_z = _F(scale64), _F(scale64 * _WORD_UNIT)
    near = _F(row[_TOLERANCE] * scale64) + _CLOSE
    u_x, u_y, v_x, v_y = _F(row[_U_X]), _F(row[_U_Y]), _F(row[_V_X]), _F(row[_V_Y])
    area = abs(u_x * v_y - u_y * v_x)
    if abs(u_x) + abs(u_y) + abs(v_x) + abs(v_y) > _MAX_EXTENT * area:
        # Integers might exceed 24 bits. The windows are more than there is room for.
        return 0, 0, max(2 * windows + 1, skipped.shape[0] + 1)
    determinant = area * scale
    b1 = b2 = b3 = (_ZERO, _ZERO, _ZERO, _ZERO, _ZERO)
    u_last = v_last = _I(0)
    is_reduced = False
    survivors, candidates, skips = 0, 0, 0
    for number in range(-windows, windows + 1):
        i = float(number)
        value, u_word, v_word, square, cube = forms_of_window(row, words, i)
        passes = 1
        if is_reduced:
            u_z, v_z = _F(_change(u_word, u_last)) * to_z, _F(_change(v_word, v_last)) * to_z
            b1 = (b1[0], b1[1], b1[2] + (b1[3] * u_z + b1[4] * v_z), b1[3], b1[4])
            b2 = (b2[0], b2[1], b2[2] + (b2[3] * u_z + b2[4] * v_z), b2[3], b2[4])
            b3 = (b3[0], b3[1], b3[2] + (b3[3] * u_z + b3[4] * v_z), b3[3], b3[4])
        else:
            b1 = (u_x, u_y, _F(u_word) * to_z, _ONE, _ZERO)
            b2 = (v_x, v_y, _F(v_word) * to_z, _ZERO, _ONE)
            b3 = (_ZERO, _ZERO, scale, _ZERO, _ZERO)
            passes = _PASSES
        u_last, v_last = u_word, v_word
        for _ in range(passes):
            b1, b2, b3 = _reduce(b1, b2, b3)
            # Coordinates from the integers, so that no errors accumulate.
            z1 = _form_of(b1, u_word, v_word)
            z2 = _form_of(b2, u_word, v_word)
            z3 = _form_of(b3, u_word, v_word)
            b1 = (b1[3] * u_x + b1[4] * v_x, b1[3] * u_y + b1[4] * v_y, _F(z1) * to_z, b1[3], b1[4])
            b2 = (b2[3] * u_x + b2[4] * v_x, b2[3] * u_y + b2[4] * v_y, _F(z2) * to_z, b2[3], b2[4])
            b3 = (b3[3] * u_x + b3[4] * v_x, b3[3] * u_y + b3[4] * v_y, _F(z3) * to_z, b3[3], b3[4])
        # Rows of the inverse matrix give the ranges of coordinates.
        d1, d2, d3 = _cross(b2, b3), _cross(b3, b1), _cross(b1, b2)
        volume = d1[0] * b1[0] + d1[1] * b1[1] + d1[2] * b1[2]
        n1, n2, n3 = _dot(b1, b1), _dot(b2, b2), _dot(b3, b3)
        ratio = abs(volume) / determinant
        is_reduced = (
            _F(0.75) < ratio
            and ratio < _F(1.5)
            and n1 * n2 * n3 <= _F(3.9) * volume * volume
            and max(n1, n2, n3) < _LONGEST
        )
        c1 = c2 = c3 = _TWO
        o = (_ZERO, _ZERO, _ZERO)
        a_0 = b_0 = _I(0)
        o_a = o_b = _ZERO
        a_rest = b_rest = 0.0
        if is_reduced:
            factor = _ONE / volume
            d1, d2, d3 = _times(d1, factor), _times(d2, factor), _times(d3, factor)
            # A lattice point near the centre of the window and its slab.
            a, b = row[_A_START] + i * row[_A_STEP], row[_B_START] + i * row[_B_STEP]
            a_near = (a + _ROUNDER_64) - _ROUNDER_64
            b_near = (b + _ROUNDER_64) - _ROUNDER_64
            a_0, b_0, a_rest, b_rest = _I(a_near), _I(b_near), a_near - a, b_near - b
            centre = add_to_word(linear_form(value, u_word, v_word, a_0, b_0), 0.5 * square)
            o_a, o_b = _F(a_rest), _F(b_rest)
            o = (o_a * u_x + o_b * v_x, o_a * u_y + o_b * v_y, _F(centre) * to_z)
            k1, k2, k3 = _nearest(_dot(d1, o)), _nearest(_dot(d2, o)), _nearest(_dot(d3, o))
            m1, m2, m3 = _N(k1), _N(k2), _N(k3)
            m_a = -(m1 * _N(b1[3]) + m2 * _N(b2[3]) + m3 * _N(b3[3]))
            m_b = -(m1 * _N(b1[4]) + m2 * _N(b2[4]) + m3 * _N(b3[4]))
            centre = linear_form(centre, u_word, v_word, m_a, m_b)
            o_a, o_b = _F(m_a), _F(m_b)
            x_a, x_b = o_a + _F(a_rest), o_b + _F(b_rest)
            o = (x_a * u_x + x_b * v_x, x_a * u_y + x_b * v_y, _F(centre) * to_z)
            c1, c2, c3 = -_dot(d1, o), -_dot(d2, o), -_dot(d3, o)
            is_reduced = max(abs(c1), abs(c2), abs(c3)) < _F(0.75)
        if not is_reduced:
            if skips < skipped.shape[0]:
                skipped[skips] = number
            skips += 1
            continue
        l1, l2, l3 = _length(d1), _length(d2), _length(d3)
        i1, i2, i3 = _invert(b1[0]), _invert(b1[1]), _invert(b1[2])
        square_z, cube_z = _F(square * scale64), _F(cube * scale64)
        # All lattice points in the cube, o + x b1 + y b2 + z b3, by a single loop: the threads of a
        # warp take as many rounds as one of them needs, instead of the largest number in each row.
        z, z_last = _nearest((c3 - l3) + _UP) - _ONE, c3 + l3
        y, y_last, x, x_last = _ONE, _ZERO, _ONE, _ZERO
        p_y, p_z = _ZERO, _ZERO
        while True:
            if x > x_last:
                y += _ONE
                if y > y_last:
                    z += _ONE
                    if z > z_last:
                        break
                    y, y_last = _nearest((c2 - l2) + _UP), c2 + l2
                    if y > y_last:
                        continue
                p_x = o[0] + z * b3[0] + y * b2[0]
                p_y = o[1] + z * b3[1] + y * b2[1]
                p_z = o[2] + z * b3[2] + y * b2[2]
                lo, x_last = _clip(c1 - l1, c1 + l1, p_x, i1)
                lo, x_last = _clip(lo, x_last, p_y, i2)
                lo, x_last = _clip(lo, x_last, p_z, i3)
                x = _nearest(lo + _UP)
                if x > x_last:
                    continue
            t = p_y + x * b1[1]
            candidates += 1
            height = p_z + x * b1[2] + (t * t * (square_z + t * cube_z) - _HALF * square_z)
            if abs(height) <= near:
                p_a = o_a + x * b1[3] + y * b2[3] + z * b3[3]
                p_b = o_b + x * b1[4] + y * b2[4] + z * b3[4]
                t64 = (p_a + a_rest) * row[_U_Y] + (p_b + b_rest) * row[_V_Y]
                a_point, b_point = a_0 + _I(p_a), b_0 + _I(p_b)
                bend = t64 * t64 * (square + t64 * cube)
                exact = add_to_word(linear_form(value, u_word, v_word, a_point, b_point), bend)
                if distance_of_word(exact) <= row[_TOLERANCE]:
                    if survivors < points.shape[0]:
                        points[survivors, 0] = a_point
                        points[survivors, 1] = b_point
                    survivors += 1
            x += _ONE
    return survivors, candidates, skips
