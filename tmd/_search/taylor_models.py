"""Taylor models of super-blocks: integer coefficients, and proven bounds of all errors.

All sums and errors here are integers in units of 2^-128 test units. The test unit is the unit in
which the rounding breakpoints are the integers: half an ulp of the value, or an ulp.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tmd._search.blocks import Block
from tmd.functions.function import Ball, Function, ball, working_precision

FRACTION_BITS = 128
"""Bits after the point of the coefficients."""

GUARD_BITS = 48
"""Further bits that the coefficients have while the expansion point is moved."""

FIXED_POINT_ERROR = 1 << (FRACTION_BITS - 78)
"""Bound of the rounding errors of both targets' fixed-point arithmetic.

docs/packages/tmd.md has the proof.
"""

_WORD_MASK = (1 << 64) - 1

ROUNDINGS = ("all", "nearest", "directed")


@dataclass(frozen=True)
class Scale:
    """The map from values to test units: |f| 2^-ulp 2^doubled + half / 2.

    With `doubled` the integers are floats and midpoints in turn. Else they are the floats, or with
    `half` the midpoints.
    """

    doubled: bool = True
    half: bool = False

    @classmethod
    def for_rounding(cls, rounding: str) -> Scale:
        """Return the scale of one of `ROUNDINGS`."""
        return cls(rounding == "all", rounding == "nearest")


@dataclass(frozen=True)
class Model:
    """The polynomial of a super-block, in w = x / 2^size for its argument number x.

    Attributes
    ----------
    words : uint64 (degree + 1, 3)
        Coefficients in two's complement, highest word first, by growing power of w.
    error : int
        Bound of the distance between the polynomial as the kernels evaluate it and the function:
        Lagrange's remainder, the radii of the coefficients' balls, the rounding of the
        coefficients, and the arithmetic of the kernels.
    bounds : (int, int, int)
        Bounds of the 2nd and 3rd Taylor coefficient of the polynomial, and of the sum of all from
        the 4th on, anywhere in the super-block; steps are in units of 2^size arguments.
    """

    words: np.ndarray
    error: int
    bounds: tuple[int, int, int]


def make_model(
    function: Function, block: Block, number: int, size: int, degree: int, scale: Scale
) -> Model:
    """Compute the Taylor model of super-block `number` of a block, with 2^size arguments.

    Raises
    ------
    ArithmeticError
        The super-block is too long: a coefficient is unbounded, or a slope exceeds 63 bits.
    """
    centred, remainder = _expand_about_centre(function, block, number, size, degree, scale)
    coefficients, error = _expand_about_start(centred)
    if scale.half:
        coefficients[0] += 1 << (FRACTION_BITS - 1)
    sums = [
        sum(math.comb(k, j) * (abs(coefficients[k]) + 1) for k in range(j, degree + 1))
        for j in (1, 2, 3)
    ]
    if any(s >> (FRACTION_BITS + 63) for s in sums):
        raise OverflowError("a slope exceeds 63 bits: the super-block is too long")
    words = np.empty((degree + 1, 3), np.uint64)
    for k, c in enumerate(coefficients):
        words[k] = ((c >> 128) & _WORD_MASK, (c >> 64) & _WORD_MASK, c & _WORD_MASK)
    tail = sum(
        math.comb(k, j) * (abs(coefficients[k]) + 1)
        for j in range(4, degree + 1)
        for k in range(j, degree + 1)
    )
    return Model(words, remainder + error + FIXED_POINT_ERROR, (sums[1], sums[2], tail))


def _expand_about_centre(
    function: Function, block: Block, number: int, size: int, degree: int, scale: Scale
) -> tuple[list[tuple[int, int]], int]:
    """Return the Taylor coefficients about the centre of a super-block, and the remainder.

    A coefficient is a pair (value, radius) in units of 2^-(128 + GUARD_BITS); the remainder is a
    bound in units of 2^-128.
    """
    from flint import arb

    run = block.run
    half = 1 << (size - 1)
    begin = run.first + (number << size)
    shift = int(scale.doubled) - block.ulp
    power = run.quantum + size
    bits = FRACTION_BITS + GUARD_BITS
    # 80 bits before the point, and those that the argument reduction of large arguments costs.
    with working_precision(bits + 80 + max(0, run.quantum + 64) * 2):
        x = ball(run.argument(begin - run.first + half))
        coefficients = []
        for k, c in enumerate(function.coefficients(x, degree + 1)):
            sign = (-1 if block.negative else 1) * (run.sign**k)
            c = c * sign * arb(2) ** (shift + k * power + bits)
            if not c.is_finite():
                raise ArithmeticError("a coefficient has no bound: the super-block is too long")
            mantissa, e = c.mid().man_exp()
            radius = 2 + math.ceil(float(c.rad().upper()) * (1 + 1e-9))
            coefficients.append((_shift(int(mantissa), int(e)), radius))
    with working_precision(96 + max(0, run.quantum + 64) * 2):
        ends = run.argument(begin - run.first), run.argument(begin - run.first + 2 * half)
        enclosure = function.coefficients(ball(ends[0]).union(ball(ends[1])), degree + 2)[-1]
        bound = abs(enclosure) * arb(2) ** (shift + (degree + 1) * (power - 1) + FRACTION_BITS)
        if not bound.is_finite():
            raise ArithmeticError("a remainder has no bound: the super-block is too long")
        remainder = _upper_bound(bound)
    return coefficients, remainder


def _shift(mantissa: int, power: int) -> int:
    """Return floor(mantissa 2^power)."""
    return mantissa << power if power >= 0 else mantissa >> -power


def _upper_bound(value: Ball) -> int:
    """Return an integer that is not below any number in a ball."""
    mantissa, power = value.upper().mid().man_exp()
    return _shift(int(mantissa), int(power)) + 2


def _expand_about_start(centred: list[tuple[int, int]]) -> tuple[list[int], int]:
    """Move the expansion point from the centre to the start of a super-block.

    Returns the coefficients in w = v + 1/2, rounded to 2^-128, and a bound of the sum of all
    errors so far.
    """
    degree = len(centred) - 1
    radius = sum(r for _, r in centred)  # generous, as |v| <= 1/2
    coefficients = [c for c, _ in centred]
    roundings = 0
    for j in range(degree):
        # Synthetic division by v + 1/2; every shift loses less than one unit.
        for k in range(degree - 1, j - 1, -1):
            coefficients[k] -= coefficients[k + 1] >> 1
            roundings += 1
    # A unit that is lost on the way changes the value by at most 1.5^degree < 2^15 units.
    error = (radius + (roundings << 15) >> GUARD_BITS) + degree + 2
    return [c >> GUARD_BITS for c in coefficients], error
