"""Taylor models of neighbouring super-blocks from one expansion in balls about their centre.

Balls hold Python's lock, so that one expansion for each super-block would let several GPUs wait.
An expansion for a group of up to 32 is moved to each of them by exact shifts in compiled code.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from tmd._search.taylor_models import (
    FIXED_POINT_ERROR,
    FRACTION_BITS,
    GUARD_BITS,
    Models,
    bound_coefficient,
    expand_at,
    moving_error,
)

LOG2_LARGEST_GROUP = 5
"""log2 of the number of super-blocks of a group (not tuned; an expansion takes as long as three to
five models)."""

SMALLEST_GROUP = 4
"""Fewest super-blocks for which an expansion of a group takes less time than their own."""

MAX_DEGREE = 16
"""Largest degree of models with groups: where more is needed, near a pole, a group is too long."""

MAX_ORDER = 80
"""Largest degree of a group's expansion; where it does not suffice, groups are smaller."""

MAX_RADIUS = 1 << 40
"""Largest bound of the errors of a shifted expansion, in units of 2^-176 test units.

Up to here they do not change the rounded bound of a model's error."""


EXACT_TERMS = 4
"""Terms of the bound of Lagrange's remainder that are computed for each super-block.

With four, the bound is that of balls to about 2^-28, so that thresholds are the same."""


class Group(NamedTuple):
    """Neighbouring super-blocks of a block: numbers first, ..., first + length - 1."""

    first: int
    length: int


class GroupArrays(NamedTuple):
    """An expansion about the centre of a group, for steps as long as 2^log2_length super-blocks.

    Integers of four words; coefficients and `tail` are in units of 2^-(128 + GUARD_BITS) test
    units, `error` in units of 2^-128.

    Attributes
    ----------
    coefficients : uint64 (order + 1, 4)
        By growing power.
    log2_length : uint64
    tail : uint64 (4,)
        What all but `EXACT_TERMS` terms, and all errors, add to the bound of the coefficient after
        the last of a model, in any super-block.
    error : uint64 (4,)
        Bound of the errors of a model, without Lagrange's remainder.
    """

    coefficients: np.ndarray
    log2_length: np.uint64
    tail: np.ndarray
    error: np.ndarray


class ModelSettings(NamedTuple):
    """Common parts of the models of a block.

    Attributes
    ----------
    degree : int
    half : bool
        Whether half a test unit is added, as in `Scale`.
    weights : uint64 (4, degree + 1)
        Multiples of the coefficients in the bounds of the 1st, 2nd and 3rd Taylor coefficients, and
        of the sum of all others.
    remainder_weights : uint64 (EXACT_TERMS,)
        Multiples of the coefficients after the last in the bound of Lagrange's remainder.
    shifts : uint64 (8,)
        Of the 2nd, 3rd and later coefficients in the errors of lines over sub-domains and over
        pieces, in this order, then of the later ones in those of values; last the bits after the
        point of the test's numbers.
    lengths : uint64 (2,)
        Arguments of a sub-domain and of a piece.
    twice : uint64 (4,)
        Twice the distance of a case, in units of 2^-128 test units.
    """

    degree: int
    half: bool
    weights: np.ndarray
    remainder_weights: np.ndarray
    shifts: np.ndarray
    lengths: np.ndarray
    twice: np.ndarray


@functools.lru_cache(maxsize=64)
def choose_log2_length(models: Models) -> int:
    """Return log2 of the length of a block's groups: the largest with which its first has one."""
    super_blocks = -(-models.block.run.count >> models.size)
    if models.degree > MAX_DEGREE:
        return 0
    for log2_length in range(LOG2_LARGEST_GROUP, 1, -1):
        group = Group(0, min(1 << log2_length, super_blocks))
        if group.length < SMALLEST_GROUP:
            break
        if expand_group(models, group) is not None:
            return log2_length
    return 0


@functools.lru_cache(maxsize=64)
def expand_group(models: Models, group: Group) -> GroupArrays | None:
    """Return the expansion of a group, or None if its errors cannot be bounded tightly enough."""
    size, degree = models.size, models.degree
    log2_length = (group.length - 1).bit_length()
    length = size + log2_length
    begin = group.first << size
    middle, end = begin + (group.length << (size - 1)), begin + (group.length << size)
    try:
        terms = expand_at(models, middle, length, MAX_ORDER + 1)
        order = _find_order([abs(value) for value, _ in terms], degree)
        if order is None:
            return None
        # Of the coefficient after the last, on the whole group, in units of 2^-176.
        bound = bound_coefficient(models, (begin, end), length, order + 1)
    except ArithmeticError:
        return None
    bound <<= GUARD_BITS
    terms = terms[: order + 1]
    magnitudes = [abs(value) + radius for value, radius in terms]
    largest = max(radius for _, radius in terms)

    def neglected(k: int) -> int:
        """Bound what the terms after the last add to coefficient k of a super-block."""
        return _shift_up(math.comb(order + 1, k) * bound, order + 1 - k + log2_length * k)

    # Roundings of coefficient k are below 2^(k + 2), radii multiply by 2^(k + 1) at most, and the
    # step of a super-block is 2^(log2_length k) times smaller.
    computed = degree + 1 + EXACT_TERMS
    radii = [2 * largest + 6 + neglected(k) for k in range(computed)]
    tail = neglected(degree + 1)
    tail += sum(math.comb(k, degree + 1) * radii[k] for k in range(degree + 1, computed))
    for k in range(computed, order + 1):
        # Coefficient k at the centre of any super-block, which is at most half a length away.
        size_of_term = sum(
            math.comb(m, k) * _shift_up(magnitudes[m], m - k) for m in range(k, order + 1)
        )
        scaled = _shift_up(math.comb(k, degree + 1) * size_of_term, log2_length * k)
        tail += _shift_up(scaled, k - degree - 1)
    # Intermediate sums are below that of all terms, for which C(k, j) <= 2^k.
    if sum(radii) > MAX_RADIUS or max(tail, sum(m << k for k, m in enumerate(magnitudes))) >> 250:
        return None
    error = moving_error(sum(radii[: degree + 1]), degree) + FIXED_POINT_ERROR
    return GroupArrays(
        np.array([to_words(value) for value, _ in terms], np.uint64),
        np.uint64(log2_length),
        np.array(to_words(tail), np.uint64),
        np.array(to_words(error), np.uint64),
    )


def _find_order(magnitudes: list[int], degree: int) -> int | None:
    """Return the power up to which terms of an expansion matter, or None if all do.

    Terms are neglected from the first two neighbours on that are below 2^-160 test units at the
    ends of the group.
    """
    small = [m >> k < 1 << (FRACTION_BITS + GUARD_BITS - 160) for k, m in enumerate(magnitudes)]
    for k in range(degree + EXACT_TERMS + 1, len(small) - 1):
        if small[k] and small[k + 1]:
            return k
    return None


def _shift_up(number: int, bits: int) -> int:
    """Return number / 2^bits, rounded up."""
    return -(-number >> bits)


def to_words(number: int) -> tuple[int, ...]:
    """Return the four words of an integer, the highest first."""
    return tuple(number >> shift & (1 << 64) - 1 for shift in (192, 128, 64, 0))
