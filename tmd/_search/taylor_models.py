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

    def case_distance(self, bits: int) -> int:
        """Return the distance below which an argument is a case, in units of 2^-128 test units."""
        return 1 << (FRACTION_BITS + int(self.doubled) - bits)


@dataclass(frozen=True)
class Models:
    """Everything that determines the models of a block, with 2^size arguments each."""

    function: Function
    block: Block
    scale: Scale
    size: int
    degree: int


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


def make_model(models: Models, number: int) -> Model:
    """Compute the Taylor model of super-block `number` of a block.

    Raises
    ------
    ArithmeticError
        The super-block is too long: a coefficient is unbounded, or a slope exceeds 63 bits.
    """
    size, degree = models.size, models.degree
    begin, half = number << size, 1 << (size - 1)
    centred = expand_at(models, begin + half, size, degree + 1)
    # Steps of half a super-block lead from the centre to its ends.
    ends = begin, begin + 2 * half
    remainder = bound_coefficient(models, ends, size - 1, degree + 1)
    coefficients = _expand_about_start([c for c, _ in centred])
    error = moving_error(sum(r for _, r in centred), degree)
    if models.scale.half:
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


def expand_at(models: Models, x: int, size: int, count: int) -> list[tuple[int, int]]:
    """Return the first `count` Taylor coefficients about argument x of a block.

    They are for steps of 2^size arguments: pairs (value, radius) in units of
    2^-(128 + GUARD_BITS) test units.

    Raises
    ------
    ArithmeticError
        A coefficient is unbounded.
    """
    block, run, bits = models.block, models.block.run, FRACTION_BITS + GUARD_BITS
    exponent, power = int(models.scale.doubled) - block.ulp + bits, run.quantum + size
    # 80 bits before the point, and those that the argument reduction of large arguments costs.
    with working_precision(bits + 80 + max(0, run.quantum + 64) * 2):
        series = models.function.coefficients(ball(run.argument(x)), count)
    coefficients = []
    for k, c in enumerate(series):
        if not c.is_finite():
            raise ArithmeticError("a coefficient has no bound: the super-block is too long")
        sign = (-1 if block.negative else 1) * run.sign**k
        (mantissa, e), (radius, r) = c.mid().man_exp(), c.rad().man_exp()
        unit = exponent + k * power
        value = _shift(sign * int(mantissa), int(e) + unit)
        coefficients.append((value, _shift(int(radius), int(r) + unit) + 2))  # both rounded down
    return coefficients


def bound_coefficient(models: Models, ends: tuple[int, int], size: int, k: int) -> int:
    """Bound Taylor coefficient k between two arguments of a block, in units of 2^-128.

    It is for steps of 2^size arguments.

    Raises
    ------
    ArithmeticError
        It is unbounded.
    """
    from flint import arb

    run, ulp = models.block.run, models.block.ulp
    exponent = int(models.scale.doubled) - ulp + k * (run.quantum + size) + FRACTION_BITS
    with working_precision(96 + max(0, run.quantum + 64) * 2):
        first, last = (ball(run.argument(end)) for end in ends)
        enclosure = models.function.coefficients(first.union(last), k + 1)[-1]
        bound = abs(enclosure) * arb(2) ** exponent
        if not bound.is_finite():
            raise ArithmeticError("a remainder has no bound: the super-block is too long")
        return _upper_bound(bound)


def _shift(mantissa: int, power: int) -> int:
    """Return floor(mantissa 2^power)."""
    return mantissa << power if power >= 0 else mantissa >> -power


def _upper_bound(value: Ball) -> int:
    """Return an integer that is not below any number in a ball."""
    mantissa, power = value.upper().mid().man_exp()
    return _shift(int(mantissa), int(power)) + 2


def _expand_about_start(coefficients: list[int]) -> list[int]:
    """Move the expansion point from the centre to the start of a super-block.

    Returns the coefficients in w = v + 1/2, rounded to 2^-128.
    """
    degree = len(coefficients) - 1
    for j in range(degree):
        # Synthetic division by v + 1/2; every shift loses less than one unit.
        for k in range(degree - 1, j - 1, -1):
            coefficients[k] -= coefficients[k + 1] >> 1
    return [c >> GUARD_BITS for c in coefficients]


def moving_error(radii: int, degree: int) -> int:
    """Bound the errors of `_expand_about_start` and of its coefficients, in units of 2^-128.

    `radii` is the sum of the coefficients' radii, which is generous, as |v| <= 1/2.
    """
    roundings = degree * (degree + 1) // 2
    # A unit that is lost on the way changes the value by at most 1.5^degree < 2^15 units.
    return (radii + (roundings << 15) >> GUARD_BITS) + degree + 2
