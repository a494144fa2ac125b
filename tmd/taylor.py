"""Taylor models of super-blocks: integer coefficients and proven bounds of every error.

Unit of all sums and errors here: 2^-128 of the unit of the values (a half ulp, or an ulp).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tmd.blocks import Block
from tmd.functions import Function, ball, working_precision

POINT = 128
GUARD = 48
FIXED = 1 << (POINT - 78)
"""Rounding of the fixed-point arithmetic of both targets: the bound is proven in docs/tmd.md."""

_MASK = (1 << 64) - 1


ROUNDINGS = ("all", "nearest", "directed")


@dataclass(frozen=True)
class Scale:
    """How values become test units: |f| 2^-ulp 2^doubled + half / 2.

    `doubled`: floats and midpoints are the integers. Else only floats, or (`half`) only midpoints.
    """

    doubled: bool = True
    half: bool = False

    @classmethod
    def of(cls, rounding: str) -> Scale:
        return cls(rounding == "all", rounding == "nearest")


@dataclass(frozen=True)
class Model:
    """The polynomial of a super-block.

    Attributes
    ----------
    words : uint64 (degree + 1, 3)
        Coefficients, highest word first, of w = x / 2^size.
    error : int
        Of the polynomial with these coefficients against the function: Lagrange's remainder,
        radii of the coefficients' balls, their rounding, the arithmetic of the kernels.
    bounds : (int, int, int)
        Of the polynomial's 2nd to 4th Taylor coefficients (the last: of all from the 4th on)
        anywhere in the super-block, in units of 2^size arguments.
    """

    words: np.ndarray
    error: int
    bounds: tuple[int, int, int]


def model(function: Function, block: Block, number: int, size: int, degree: int, scale) -> Model:
    """The model of super-block `number` of a block, 2^size arguments."""
    centre, remainder = _centre(function, block, number, size, degree, scale)
    moved, error = _from_the_start(centre)
    if scale.half:
        moved[0] += 1 << (POINT - 1)
    sums = [
        sum(math.comb(k, j) * (abs(moved[k]) + 1) for k in range(j, degree + 1)) for j in (1, 2, 3)
    ]
    if any(s >> (POINT + 63) for s in sums):
        raise OverflowError("a slope exceeds 63 bits: the super-block is too long")
    words = np.empty((degree + 1, 3), np.uint64)
    for k, c in enumerate(moved):
        words[k] = ((c >> 128) & _MASK, (c >> 64) & _MASK, c & _MASK)
    tail = sum(
        math.comb(k, j) * (abs(moved[k]) + 1)
        for j in range(4, degree + 1)
        for k in range(j, degree + 1)
    )
    return Model(words, remainder + error + FIXED, (*sums[1:], tail))


def _centre(function, block, number, size, degree, scale):
    """Coefficients about the centre with their radii, by 2^-(128 + GUARD), and the remainder."""
    from flint import arb

    run = block.run
    half = 1 << (size - 1)
    begin = run.first + (number << size)
    shift = int(scale.doubled) - block.ulp
    power = run.quantum + size
    bits = POINT + GUARD
    # Digits before the point, and what the argument's own size takes away.
    with working_precision(bits + 80 + max(0, run.quantum + 64) * 2):
        x = ball(run.argument(begin - run.first + half))
        found = function.coefficients(x, degree + 1)
        coefficients = []
        for k, c in enumerate(found):
            sign = (-1 if block.negative else 1) * (run.sign**k)
            c = c * sign * arb(2) ** (shift + k * power + bits)
            if not c.is_finite():
                raise ArithmeticError("a coefficient has no bound: the super-block is too long")
            mantissa, e = c.mid().man_exp()
            whole = _scaled(int(mantissa), int(e))
            coefficients.append((whole, 2 + math.ceil(float(c.rad().upper()) * (1 + 1e-9))))
    with working_precision(96 + max(0, run.quantum + 64) * 2):
        ends = run.argument(begin - run.first), run.argument(begin - run.first + 2 * half)
        wide = function.coefficients(ball(ends[0]).union(ball(ends[1])), degree + 2)[-1]
        bound = abs(wide) * arb(2) ** (shift + (degree + 1) * (power - 1) + POINT)
        if not bound.is_finite():
            raise ArithmeticError("a remainder has no bound: the super-block is too long")
        remainder = _above(bound)
    return coefficients, remainder


def _scaled(mantissa: int, power: int) -> int:
    return mantissa << power if power >= 0 else mantissa >> -power


def _above(bound) -> int:
    """An integer not below a ball."""
    mantissa, power = bound.upper().mid().man_exp()
    return _scaled(int(mantissa), int(power)) + 2


def _from_the_start(centre) -> tuple[list[int], int]:
    """Coefficients of w = v + 1/2, rounded to 2^-128, and a bound of the sum of all errors."""
    degree = len(centre) - 1
    radius = sum(r for _, r in centre)  # at |v| <= 1/2, with room
    moved = [c for c, _ in centre]
    lost = 0
    for j in range(degree):
        # Synthetic division by v + 1/2; every shift loses less than one unit.
        for k in range(degree - 1, j - 1, -1):
            moved[k] -= moved[k + 1] >> 1
            lost += 1
    # A unit lost on the way changes the value by 1.5^degree < 2^15 units at most.
    error = (radius + (lost << 15) >> GUARD) + degree + 2
    return [c >> GUARD for c in moved], error
