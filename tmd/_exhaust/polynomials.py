"""Taylor polynomials in float64 with proven bounds: of segments, and of the phases of a period."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tmd.functions.function import Ball, Function, ball, working_precision

DEGREE = 7

PRECISION = 200
"""Bits of the balls."""

PHASES = 256
"""Segments of a period."""


@dataclass(frozen=True)
class Period:
    """The period of a function, and how it is computed beside a pole.

    Attributes
    ----------
    number : the period itself, or in units of pi
    is_rational : whether phases are exact, and the four quarters of a period have exact values
    has_poles : whether 1/f(x) = -f(x - period/2) is used in the middle half of the period
    """

    number: int
    is_rational: bool
    has_poles: bool

    @property
    def length(self) -> Ball:
        """The period as a ball at the working precision."""
        from flint import arb

        return arb(self.number) if self.is_rational else arb.pi() * self.number


PERIODS = {
    "sin": Period(2, False, False),
    "cos": Period(2, False, False),
    "tan": Period(1, False, True),
    "sinpi": Period(2, True, False),
    "cospi": Period(2, True, False),
    "tanpi": Period(1, True, True),
}


def expand(f: Function, centre: Ball, unit: Ball, whole: Ball) -> tuple[list[float], float] | None:
    """Return the coefficients of a Taylor polynomial in (x - centre)/unit, and its proven bound.

    The bound holds for |x - centre| <= unit: Lagrange's remainder, the rounding of coefficients,
    and that of Horner's scheme in float64: with S_k = |c_k| + ... + |c_d|, step k adds an error of
    at most u S_(k+1) in the product and u S_k in the sum, u = 2^-53. The bound is doubled, so that
    y - bound and y + bound may be rounded, and t may have an error of u.
    """
    exact = f.coefficients(centre, DEGREE + 1)
    last = f.coefficients(whole, DEGREE + 2)[-1]
    if not last.is_finite() or not all(c.is_finite() for c in exact):
        return None
    scaled = [c * unit**k for k, c in enumerate(exact)]
    coefficients = [float(c.mid()) for c in scaled]
    error = abs(last) * unit ** (DEGREE + 1)
    for c, rounded in zip(scaled, coefficients, strict=True):
        error += abs(c - ball(Fraction(rounded)))
    sums = [math.fsum(map(abs, coefficients[k:])) for k in range(DEGREE + 1)]
    roundings = (2 * math.fsum(sums) + DEGREE * sums[1]) * 2.0**-53
    return coefficients, 2.0 * (float(error.upper()) + roundings) * (1 + 2.0**-20) + 2.0**-1000


def phase_polynomials(f: Function, period: Period) -> np.ndarray:
    """Return the polynomials of all phases, with bounds."""
    rows = np.zeros((PHASES, DEGREE + 3))
    with working_precision(PRECISION):
        length = period.length
        unit = length / (2 * PHASES)
        for j in range(PHASES):
            centre = length * (2 * j + 1) / (2 * PHASES)
            inverse = period.has_poles and PHASES // 4 <= j < 3 * PHASES // 4
            if inverse:
                centre = centre - length / 2
            whole = (centre - unit).union(centre + unit)
            polynomial = expand(f, centre, unit, whole)
            assert polynomial is not None
            coefficients, bound = polynomial
            # The phase is off by at most 2^-62 periods, and its float64 number by u.
            slope = math.fsum(map(abs, coefficients[1:])) * DEGREE
            bound += 2 * slope * (2.0**-53 + 2.0**-62 * 2 * PHASES)
            sign = -1.0 if inverse else 1.0
            rows[j] = (*(sign * c for c in coefficients), bound, float(inverse))
    return rows


def frequencies(period: Period) -> np.ndarray:
    """Return 2^q / period modulo 1 in units of 2^-128, rounded down, by exponent field."""
    words = np.zeros((256, 2), np.uint64)
    with working_precision(512):
        from flint import arb

        for e in range(127, 255):
            turns = arb(2) ** (e - 127 - 23) / period.length
            fraction = int((turns * arb(2) ** 128).floor().unique_fmpz()) % (1 << 128)
            words[e] = fraction >> 64, fraction & ((1 << 64) - 1)
    return words
