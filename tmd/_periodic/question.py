"""Questions about large arguments: what is asked of a binade, checked once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hetero import validation
from tmd._periodic.lattice import PhaseLattice
from tmd._search.planning import MAX_BITS
from tmd._search.taylor_models import ROUNDINGS, Scale
from tmd.formats import Format, Precision, format_fraction, to_interval
from tmd.functions import NAMES, load_function
from tmd.functions.function import Function

MAX_POINTS = 1 << 9
"""Arguments around a zero or pole that balls decide one by one."""

MAX_CASES = 1 << 22
"""Largest number of cases that may be expected: balls decide each of them, in some 0.1 ms."""


@dataclass(frozen=True)
class PeriodicQuestion:
    """A question: the cases of a function among the arguments of a binade with phases [lo, hi)."""

    function: Function
    exponent: int
    lattice: PhaseLattice
    format: Format
    rounding: str
    bits: int
    phases: tuple[Fraction, Fraction]

    @property
    def scale(self) -> Scale:
        """The map from values to test units."""
        return Scale.for_rounding(self.rounding)

    @property
    def names(self) -> dict[str, Any]:
        """The arguments of the search, as certificates name them."""
        return {
            "function": self.function.name,
            "exponent": self.exponent,
            "phases": [format_fraction(end) for end in self.phases],
            "bits": self.bits,
            "precision": self.format.names[0],
            "rounding": self.rounding,
        }

    def intervals(self) -> Iterator[tuple[Fraction, Fraction, bool]]:
        """Yield the parts of the phases, and whether each is next to a zero or pole."""
        lo, hi = self.phases
        near = Fraction(MAX_POINTS // 2, self.lattice.first)
        begin = lo
        for s in sorted(s + k for s in self.function.singular_phases for k in (0, 1)):
            parts = (begin, s - near, False), (max(begin, s - near), min(hi, s + near), True)
            for first, end, is_near in parts:
                if max(lo, first) < min(hi, end):
                    yield max(lo, first), min(hi, end), is_near
            begin = max(begin, s + near)
        if begin < hi:
            yield begin, hi, False

    @property
    def limit(self) -> float:
        """Distance of a case from an integer, in test units."""
        return 2.0 ** (int(self.scale.doubled) - self.bits)

    def distance(self, phase: Fraction) -> Fraction:
        """Return the distance from the nearest zero or pole."""
        return min(abs(phase - s - k) for s in self.function.singular_phases for k in (-1, 0, 1))


def check_question(
    name: str, exponent: int, phases: Any, bits: int, precision: Precision, rounding: str
) -> PeriodicQuestion:
    """Return what is asked; raise what `search_periodic` raises if it cannot be."""
    periodic = tuple(n for n in NAMES if load_function(n).singular_phases)
    validation.check_choice("name", name, periodic)
    fmt = Format.create(precision)
    validation.check_choice("rounding", rounding, ROUNDINGS)
    exponent = validation.check_integer("exponent", exponent, 0, 1 << 14)
    bits = validation.check_integer("bits", bits, 4, MAX_BITS)
    lo, hi = to_interval("phases", phases)
    if not 0 <= lo < hi <= 1:
        raise ValueError(f"phases must be (lo, hi) with 0 <= lo < hi <= 1, got ({lo}, {hi})")
    lattice = PhaseLattice.of_binade(exponent, fmt)
    function, scale = load_function(name), Scale.for_rounding(rounding)
    expected = lattice.first * (hi - lo) * Fraction(2) ** (1 + scale.doubled - bits)
    if expected > MAX_CASES:
        raise ValueError(
            f"bits={bits} would give about {float(expected):.2g} cases, too many to decide: use "
            "more bits or a smaller part of the phases"
        )
    return PeriodicQuestion(function, exponent, lattice, fmt, rounding, bits, (lo, hi))
