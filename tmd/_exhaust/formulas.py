"""The results of an argument in all modes, as float64 arithmetic with a proven bound gives them.

For both targets. `rules` and `numbers` have a row for each segment (`segments.Table`).
"""

import math

import numpy as np

from hetero.intrinsics.bits import bits_of, float_of
from hetero.jit import float_scalar, scalar
from tmd._exhaust import segments
from tmd._exhaust.polynomials import DEGREE, PHASES

_U = np.uint64
_LARGEST = float(np.finfo(np.float32).max)
_LOW_BITS = _U((1 << 29) - 1)
_NORMAL = 2.0**-126
_STEP = 2.0**-149
_LOG2_PHASES = PHASES.bit_length() - 1


@scalar
def number_at(start, k):
    """Return the number whose bits are k more than those of another."""
    return float_of(np.uint32(start + np.uint32(k)))


@scalar
def _high_product(a, b):
    """Return the upper 64 bits of the product of two 64-bit words, of which a < 2^32."""
    low = a * (b & _U(0xFFFFFFFF))
    return (a * (b >> _U(32)) + (low >> _U(32))) >> _U(32)


@scalar
def _round_all(y, bound):
    """Return (decided, nearest, up, down, zero, near a midpoint) of all values within a bound."""
    size = abs(y)
    low, high = size - bound, size + bound
    if not low > 0.0:
        return False, 0.0, 0.0, 0.0, 0.0, False
    if low >= _NORMAL:
        below = float_of(bits_of(low) & ~_LOW_BITS)
        step = float_of(bits_of(low) & _U(0x7FF0000000000000)) * 2.0**-23
    else:
        step = _STEP
        below = math.floor(low / _STEP) * _STEP
    above, middle = below + step, below + 0.5 * step
    if not (low > below and high < above and (high < middle or low > middle)):
        return False, 0.0, 0.0, 0.0, 0.0, False
    nearest = below if high < middle else above
    is_middle = abs(size - middle) < 0.25 * step
    if nearest > _LARGEST:
        nearest = math.inf
    if above > _LARGEST:
        above = math.inf
    if below > _LARGEST:
        below = _LARGEST
    if y > 0.0:
        return True, nearest, above, below, below, is_middle
    return True, -nearest, -below, -above, -below, is_middle


@float_scalar
def _evaluate(row, first, t):
    """Return a polynomial, whose coefficients begin at row[first], by Horner's scheme."""
    y = row[first + DEGREE]
    for k in range(DEGREE - 1, -1, -1):
        y = y * t + row[first + k]
    return y


@float_scalar
def _periodic_results(bits, phases, frequencies, quarters):
    """Return the results for an argument of at least 1, by its phase in units of 2^-64 periods."""
    e = (bits >> np.uint32(23)) & np.uint32(0xFF)
    digits = _U((bits & np.uint32(0x7FFFFF)) | np.uint32(0x800000))
    phase = digits * frequencies[e, 0] + _high_product(digits, frequencies[e, 1])
    is_negative = bits >> np.uint32(31) != 0
    if is_negative:
        phase = _U(0) - phase
    if not math.isnan(quarters[0]) and (phase << _U(2)) == _U(0):
        y = quarters[np.int64(phase >> _U(62))]
        return not math.isnan(y), y, y, y, y, False
    j = np.int64(phase >> _U(64 - _LOG2_PHASES))
    remainder = np.int64(phase & ((_U(1) << _U(64 - _LOG2_PHASES)) - _U(1)))
    half = 1 << (63 - _LOG2_PHASES)
    t = float(remainder - half) / float(half)
    y, bound = _evaluate(phases[j], 0, t), phases[j, DEGREE + 1]
    if phases[j, DEGREE + 2] != 0.0:
        if not abs(y) > 2.0 * bound:
            return False, 0.0, 0.0, 0.0, 0.0, False
        y = 1.0 / y
        bound = 2.0 * bound * y * y + 2.0**-52 * abs(y)
    return _round_all(y, bound)


@float_scalar
def results_at(table, s, bits):
    """Return (decided, nearest, up, down, zero, near a midpoint) for an argument of segment s.

    `table` has the arrays of `Table.arrays`.
    """
    rules, numbers, phases, frequencies, quarters = table
    rule, row = rules[s], numbers[s]
    if rule == segments.POLYNOMIAL:
        t = (float(number_at(bits, 0)) - row[segments.CENTRE]) * row[segments.SCALE]
        return _round_all(_evaluate(row, segments.COEFFICIENTS, t), row[segments.BOUND])
    if rule == segments.CONSTANT:
        r = segments.RESULTS
        return True, row[r], row[r + 1], row[r + 2], row[r + 3], False
    if rule == segments.NEXT_TO_X:
        x = float(number_at(bits, 0))
        outer = row[segments.BOUND] > 0.0
        other = float(number_at(bits, 1 if outer else -1))
        low, high = min(x, other), max(x, other)
        return True, x, high, low, low if x > 0.0 else high, False
    if rule == segments.BALLS or rule == segments.NOT_JUDGED:
        return False, 0.0, 0.0, 0.0, 0.0, False
    if rule == segments.NO_VALUE:
        return True, math.nan, math.nan, math.nan, math.nan, False
    return _periodic_results(bits, phases, frequencies, quarters)


@scalar
def is_wrong(results, column, y):
    """Return whether a returned value differs from the result of a mode; all NaN are equal."""
    right = results[1]
    if column == 1:
        right = results[2]
    elif column == 2:
        right = results[3]
    elif column == 3:
        right = results[4]
    return y != right and not (math.isnan(y) and math.isnan(right))
