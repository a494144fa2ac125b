"""Table rows of many groups of windows from one expansion, without Python's lock.

Integers have 256 bits: four uint64 words, the highest first, in units of 2^-192. The words after
the first are therefore the fraction.
"""

import math

import numpy as np

from hetero.jit import scalar_internal, serial
from tmd._periodic.columns import REALS, WORDS
from tmd._search.formulas.wide_integer_formulas import (
    ZERO,
    add,
    floor_shift,
    horner,
    is_negative,
    load,
    magnitude,
    multiply_add,
    negate_if,
    shift_expansion,
    store,
    subtract,
)

_U, _I = np.uint64, np.int64
_HALF = (_U(0), _U(1 << 63), _U(0), _U(0))
_DIGIT = _U(62)
_SQUARE_FACTORS = (1, 6, 24)
_CUBE_FACTORS = (1, 8)
(_SLAB, _TOLERANCE, _U_X, _U_Y, _V_X, _V_Y, _A_START, _A_STEP, _B_START, _B_STEP, _VALUE,
 _U_VALUE, _V_VALUE, _SQUARE, _CUBE) = REALS  # fmt: skip
_VALUE_WORD, _U_WORD, _V_WORD = WORDS


@scalar_internal
def _multiply(t, factor):
    """Return t factor, with an error below |t| 2^-123 and few units, for |factor| < 2^62.

    The fraction of the factor is cut to two digits of 62 bits.
    """
    whole, high, low, _ = magnitude(factor)
    first = high >> _U(2)
    second = ((high & _U(3)) << _U(60)) | (low >> _U(4))
    product = floor_shift(horner(t, second, _DIGIT, ZERO), _DIGIT)
    product = multiply_add(t, whole, horner(t, first, _DIGIT, product))
    return negate_if(product, is_negative(factor))


@scalar_internal
def _to_float(t, power):
    """Return t 2^power in units of 1, with one rounding."""
    a, b, c, d = magnitude(t)
    for _ in range(3):
        if a == _U(0):
            a, b, c, d = b, c, d, _U(0)
            power -= 64
    for bits in (32, 16, 8, 4, 2, 1):
        if a >> _U(64 - bits) == _U(0):
            a = (a << _U(bits)) | (b >> _U(64 - bits))
            b <<= _U(bits)
            power -= bits
    if b | c | d != _U(0):
        a |= _U(1)  # the sticky bit
    x = math.ldexp(float(a), power)
    return -x if is_negative(t) else x


@serial
def fill_rows(coefficients, vectors, starts, moves, spacing, log2_unit, reals, words, near):
    """Fill the columns of polynomials and of the places of windows, for groups in a row.

    Parameters
    ----------
    coefficients : uint64 (n, 4)
        Expansion about the centre of all groups, in units of 2^log2_unit half widths of a window.
    vectors : uint64 (2, 4)
        Phases of the lattice vectors u and v in these units.
    starts, moves : uint64 (2, 4)
        Coordinates of the centre of the first group in the basis, and from group to group.
    spacing : int64
        Half the distance of two groups, in half widths.
    log2_unit : int64
    reals, words : float64, int64 arrays
        Rows of the tables; see `columns`.
    near : int64 (groups, 2)
        Gets the coordinates of the lattice points near the centres.
    """
    t = np.empty((5, 4), _U)
    slopes = np.empty((8, 4), _U)
    fractions = np.empty((2, 4), _U)
    count = near.shape[0]
    for n in range(count):
        position = (2 * n - (count - 1)) * spacing
        shift_expansion(coefficients, position, _U(log2_unit), t)
        for j in (1, 3):
            store(t, j, negate_if(load(t, j), position < 0))
        for i in range(2):
            place = multiply_add(load(moves, i), _U(n), load(starts, i))
            whole = add(place, _HALF)[0]
            near[n, i] = _I(whole)
            fraction = subtract(place, (whole, _U(0), _U(0), _U(0)))
            store(fractions, i, fraction)
            reals[n, _A_START if i == 0 else _B_START] = _to_float(fraction, 0)
            for j in range(4):
                slope = multiply_add(_multiply(load(t, j + 1), load(vectors, i)), _U(j + 1), ZERO)
                store(slopes, 4 * i + j, slope)
                if j == 0:
                    words[n, _U_WORD if i == 0 else _V_WORD] = _I(slope[1])
                else:
                    column = (_U_VALUE if i == 0 else _V_VALUE) + j - 1
                    reals[n, column] = _to_float(slope, j - j * log2_unit)
        for j in range(5):
            # (1 - j) c_j, and the slope times the distance from the centre to the lattice point
            c = load(t, j)
            value = c if j == 0 else negate_if(multiply_add(c, _U(j - 1), ZERO), True)
            if j < 4:
                for i in range(2):
                    moved = _multiply(load(slopes, 4 * i + j), load(fractions, i))
                    value = subtract(value, moved)
            if j == 0:
                words[n, _VALUE_WORD] = _I(value[1])
            else:
                reals[n, _VALUE + j - 1] = _to_float(value, j - j * log2_unit)
        for j in range(3):
            term = multiply_add(load(t, j + 2), _U(_SQUARE_FACTORS[j]), ZERO)
            reals[n, _SQUARE + j] = _to_float(term, -(j + 2) * log2_unit)
        for j in range(2):
            term = multiply_add(load(t, j + 3), _U(_CUBE_FACTORS[j]), ZERO)
            reals[n, _CUBE + j] = _to_float(term, -(j + 3) * log2_unit)
