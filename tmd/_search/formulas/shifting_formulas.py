"""Taylor models of the super-blocks of a group, from one expansion, in integers of 256 bits.

The loop does in compiled code, without Python's lock, what `taylor_models.make_model` and
`batches` for thresholds do with Python's integers. Words are uint64, the highest first.
"""

from __future__ import annotations

import numpy as np

from hetero.jit import scalar_internal, serial
from tmd._search.formulas.wide_integer_formulas import (
    ZERO,
    add,
    floor_shift,
    from_word,
    load,
    magnitude,
    multiply_add,
    negate_if,
    shift_expansion,
    store,
    subtract,
)
from tmd._search.model_groups import EXACT_TERMS
from tmd._search.taylor_models import FRACTION_BITS, GUARD_BITS

_U = np.uint64
_HALF_UNIT = _U(1 << 62)


@scalar_internal
def _limit(t):
    """Return the smaller of a nonnegative integer and half a test unit, as a word."""
    if t[0] | t[1] | t[2] != _U(0) or t[3] > _HALF_UNIT:
        return _HALF_UNIT
    return t[3]


@scalar_internal
def _expand_at(group, position, t):
    """Compute the first coefficients of a group's expansion about the centre of a super-block.

    `position` is the number of its steps of half a super-block from the centre of the group.
    Coefficients are for steps of a super-block; t has as many rows as are wanted.
    """
    log2_length = group.log2_length
    shift_expansion(group.coefficients, position, log2_length + _U(1), t)
    for j in range(t.shape[0]):
        c = floor_shift(load(t, j), log2_length * _U(j))
        store(t, j, negate_if(c, position < 0 and j % 2 == 1))


@scalar_internal
def _bound_remainder(t, settings, tail):
    """Return the bound of Lagrange's remainder, in units of 2^-128.

    Coefficient degree + 1 anywhere in a super-block is expanded about the centre.
    """
    for n in range(EXACT_TERMS):
        size = magnitude(load(t, settings.degree + 1 + n))
        round_up = from_word((_U(1) << _U(n)) - _U(1))
        term = multiply_add(size, settings.remainder_weights[n], round_up)
        tail = add(tail, floor_shift(term, _U(n)))
    return add(floor_shift(tail, _U(settings.degree + 1 + GUARD_BITS)), from_word(_U(2)))


@scalar_internal
def _move_to_start(t, degree, half):
    """Move an expansion from the centre of a super-block to its start, in units of 2^-128."""
    for j in range(degree):
        for k in range(degree - 1, j - 1, -1):
            store(t, k, subtract(load(t, k), floor_shift(load(t, k + 1), _U(1))))
    for k in range(degree + 1):
        store(t, k, floor_shift(load(t, k), _U(GUARD_BITS)))
    if half:
        half_unit = (_U(0), _U(0), _U(1 << (FRACTION_BITS - 65)), _U(0))
        store(t, 0, add(load(t, 0), half_unit))


@scalar_internal
def _find_thresholds(settings, error, second, third, later, row):
    """Fill a row with the thresholds of a super-block, in the order of those of `Batch`."""
    shifts, twice = settings.shifts, settings.twice
    twice = (twice[0], twice[1], twice[2], twice[3])
    bits = shifts[7]
    up = floor_shift((_U(0), _U(1), _U(0), _U(0)), bits)  # 2^(128 - bits)
    rounding = add(up, (_U(0), _U(0), _U(1), _U(0xFFFFFFFFFFFFFFFF)))  # and 2^65 - 1
    for i in range(2):
        chord = add(floor_shift(second, shifts[3 * i]), floor_shift(third, shifts[3 * i + 1]))
        line = add(add(twice, error), add(chord, floor_shift(later, shifts[3 * i + 2])))
        offset = _limit(floor_shift(add(add(line, rounding), from_word(_U(3))), _U(65)))
        row[2 * i] = offset
        bound = ((offset + offset) >> (_U(63) - bits)) + settings.lengths[i] + _U(3)
        row[2 * i + 1] = min(bound, (_U(1) << bits) - _U(1))
    value = add(add(error, floor_shift(later, shifts[6])), from_word(_U(1)))
    value = add(floor_shift(value, _U(65)), from_word(_U(3)))
    row[4] = _limit(add(floor_shift(twice, _U(65)), value))
    row[5] = _limit(value)


@serial
def shift_models(group, positions, settings, table, thresholds):
    """Fill the coefficients and the thresholds of the super-blocks at `positions` of a group.

    Parameters
    ----------
    group : model_groups.GroupArrays
    positions : int64 (n,)
        Steps of half a super-block from the centre of the group to the centres of super-blocks.
    settings : model_groups.ModelSettings
    table : uint64 (n, degree + 1, 3)
    thresholds : uint64 (n, 6)

    Returns
    -------
    bool
        False if the slopes of a super-block exceed 63 bits.
    """
    degree = settings.degree
    t = np.empty((degree + 1 + EXACT_TERMS, 4), _U)
    error = (group.error[0], group.error[1], group.error[2], group.error[3])
    tail = (group.tail[0], group.tail[1], group.tail[2], group.tail[3])
    sums = np.empty((4, 4), _U)
    for i in range(positions.size):
        _expand_at(group, positions[i], t)
        remainder = _bound_remainder(t, settings, tail)
        _move_to_start(t, degree, settings.half)
        for j in range(4):
            store(sums, j, ZERO)
        for k in range(degree + 1):
            size = add(magnitude(load(t, k)), from_word(_U(1)))
            for j in range(4):
                store(sums, j, multiply_add(size, settings.weights[j, k], load(sums, j)))
            for word in range(3):
                table[i, k, word] = t[k, word + 1]
        for j in range(3):
            if sums[j, 0] != _U(0) or sums[j, 1] >> _U(63) != _U(0):
                return False
        second, third, later = load(sums, 1), load(sums, 2), load(sums, 3)
        _find_thresholds(settings, add(remainder, error), second, third, later, thresholds[i])
    return True
