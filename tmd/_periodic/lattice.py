"""The two-dimensional lattice of the arguments of a binade and their residues modulo pi."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction

from tmd.formats import Format
from tmd.functions.function import working_precision

PHASE_BITS = 320
"""Bits after the point of `PhaseLattice.step`: those of m alpha are then good to 2^-256."""


@dataclass(frozen=True)
class PhaseLattice:
    """The arguments m 2^quantum, first <= m < 2 first, and their phases m alpha - k.

    Phases are in units of pi, the period of |sin|, |cos| and |tan|. The lattice has the points
    (m, m alpha - k) for all integers m and k; its covolume is 1. `step` is alpha in units of
    2^-320, rounded down.
    """

    quantum: int
    first: int
    step: int

    @classmethod
    def of_binade(cls, exponent: int, fmt: Format) -> PhaseLattice:
        """Return the lattice of the arguments in [2^exponent, 2^(exponent+1))."""
        from flint import arb

        quantum = fmt.quantum(exponent)
        if quantum is None or exponent < 0:
            raise ValueError(f"exponent must be one of the format and at least 0, got {exponent}")
        bits = PHASE_BITS + abs(quantum)
        with working_precision(bits + 64):
            step = ((arb(2) ** (quantum + PHASE_BITS)) / arb.pi()).floor().unique_fmpz()
        if step is None:
            raise ArithmeticError(f"2^{quantum} / pi is too close to an integer")
        return cls(quantum, 1 << (exponent - quantum), int(step) % (1 << PHASE_BITS))

    def phase(self, m: int, k: int = 0) -> Fraction:
        """Return m alpha - k, with an error below |m| 2^-320."""
        return Fraction(m * self.step - (k << PHASE_BITS), 1 << PHASE_BITS)

    def residue(self, m: int) -> int:
        """Return the phase of m modulo 1 in units of 2^-PHASE_BITS, with an error below m units."""
        return m * self.step % (1 << PHASE_BITS)

    @functools.lru_cache(maxsize=64)  # noqa: B019 - few lattices are made
    def basis(self, half_width: Fraction) -> tuple[int, int, int, int]:
        """Return a basis (m, k), (m', k') that is reduced for windows of this half width.

        Lagrange's algorithm, in the norm with m in units of half the binade and the phase in units
        of `half_width`. Its determinant m k' - m' k is 1 or -1.
        """
        # Both squares times (first half_width 2^PHASE_BITS)^2 and its denominator: integers.
        numerator, denominator = half_width.numerator, half_width.denominator
        width, height = 2 * numerator << PHASE_BITS, self.first * denominator

        def scale(v: tuple[int, int]) -> tuple[int, int]:
            return v[0] * width, (v[0] * self.step - (v[1] << PHASE_BITS)) * height

        u, v = (1, 0), (0, 1)
        (a, b), (c, d) = scale(u), scale(v)
        while True:
            if c * c + d * d < a * a + b * b:
                u, v, a, b, c, d = v, u, c, d, a, b
            k = round(Fraction(a * c + b * d, a * a + b * b))
            if k == 0:
                return *u, *v
            c, d = c - k * a, d - k * b
            v = v[0] - k * u[0], v[1] - k * u[1]

    def coordinates(
        self, basis: tuple[int, int, int, int], m: Fraction, phase: Fraction
    ) -> tuple[Fraction, Fraction]:
        """Return the coordinates of a point of the plane in a basis."""
        u_m, u_k, v_m, v_k = basis
        determinant = u_m * v_k - v_m * u_k
        k = m * self.phase(1) - phase
        return (m * v_k - k * v_m) * determinant, (u_m * k - u_k * m) * determinant

    def points(self, lo: Fraction, hi: Fraction) -> list[int]:
        """Return all m of the binade whose phase lies between lo and hi, an integer aside."""
        middle, half = (lo + hi) / 2, (hi - lo) / 2
        basis = u_m, u_k, v_m, v_k = self.basis(half)
        corners = [
            self.coordinates(basis, Fraction(m), phase)
            for m in (self.first, 2 * self.first)
            for phase in (lo, hi)
        ]
        numbers = []
        for b in range(int(min(c[1] for c in corners)) - 1, int(max(c[1] for c in corners)) + 2):
            # The row of points a u + b v: those whose phase is within the interval.
            step, start = self.phase(u_m, u_k), self.phase(v_m, v_k) * b - middle
            ends = sorted(((-half - start) / step, (half - start) / step))
            for a in range(int(ends[0]) - 1, int(ends[1]) + 2):
                m = a * u_m + b * v_m
                if self.first <= m < 2 * self.first and abs(start + a * step) <= half:
                    numbers.append(m)
        return numbers
