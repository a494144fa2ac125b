"""Groups of windows: their place, their table rows, and proven bounds of all errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tmd._periodic.columns import REAL_COLUMNS, REALS, WORD_COLUMNS, WORDS
from tmd._periodic.lattice import PhaseLattice
from tmd._search.taylor_models import Scale
from tmd.formats import Format, format_fraction
from tmd.functions.function import Ball, Function, ball, working_precision

CANDIDATES = 4.0
"""Candidates that a window is expected to have: 1/4, 1 and 16 took more time for a binade."""

MAX_WINDOWS = 1 << 13
"""Most windows on both sides of a group's centre: a group's row costs as much as 300 windows."""

_TRUNCATION = 2.0**-40
"""What truncated polynomials may differ by, in test units, where a 16th of a distance is less.

Balls then decide one argument in 2^37.
"""

MAX_POINTS = 1 << 9
"""Arguments around a zero or pole that balls decide one by one."""

_PRECISION = 256
"""Bits of the balls from which the rows are computed."""


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


@dataclass(frozen=True)
class Group:
    """Windows -windows, ..., windows of one half width about a centre, for values of one ulp.

    `basis` has the lattice vectors u and v, `anchor` the lattice point (m, k) near the centre.
    """

    centre: Fraction
    half_width: Fraction
    windows: int
    basis: tuple[int, int, int, int]
    anchor: tuple[int, int]
    ulp: int
    reals: np.ndarray
    words: np.ndarray

    @property
    def begin(self) -> Fraction:
        """The phase at which the first window begins."""
        return self.centre - (2 * self.windows + 1) * self.half_width

    @property
    def slab(self) -> float:
        """Half the height of the slab in which candidates are enumerated, in test units."""
        return float(self.reals[REALS.slab])

    def argument(self, a: int, b: int) -> int:
        """Return the m of a lattice point."""
        return self.anchor[0] + a * self.basis[0] + b * self.basis[2]


def make_groups(
    question: PeriodicQuestion, lo: Fraction, hi: Fraction
) -> Iterator[tuple[Group, ...]]:
    """Yield groups whose windows cover the phases from lo to hi, away from zeros and poles.

    The groups of an interval come together: one for each ulp of its values.
    """
    while lo < hi:
        half_width, windows = choose_windows(question, lo, hi)
        radius = (2 * windows + 1) * half_width
        ulps = find_ulps(question, lo + radius, radius)
        yield tuple(make_group(question, lo + radius, half_width, windows, ulp) for ulp in ulps)
        lo += 2 * radius


def choose_windows(question: PeriodicQuestion, lo: Fraction, hi: Fraction) -> tuple[Fraction, int]:
    """Return half the width of windows from the phase lo on, and their number on both sides."""
    lattice, distance = question.lattice, float(question.distance(lo))
    with working_precision(64):
        c = [float(x.mid()) for x in _phase_coefficients(question.function, lo, Fraction(0), 6)]
    ulp = question.format.ulp(math.frexp(abs(c[0]))[1] - 1) or 0
    unit = 2.0 ** (int(question.scale.doubled) - ulp)
    curvature = abs(c[2]) * unit
    fifth = (abs(c[5]) + abs(c[4])) * unit
    radius = min(distance / 64, (max(question.limit / 16, _TRUNCATION) / fifth) ** 0.2)
    width = min(
        distance / 64,
        (CANDIDATES / (2 * lattice.first * curvature)) ** (1 / 3) if curvature else 1.0,
        (8 * curvature) ** -0.5 if curvature else 1.0,
    )
    # A few digits are enough, and one basis serves many groups.
    mantissa, power = math.frexp(width)
    half_width = Fraction(math.floor(mantissa * 64)) * Fraction(2) ** (power - 6)
    wanted = math.ceil((hi - lo) / (2 * half_width))
    basis = lattice.basis(half_width)
    steps = max(abs(2 * half_width * basis[0]), abs(2 * half_width * basis[2]), Fraction(1))
    limits = MAX_WINDOWS, math.ceil((wanted - 1) / 2), int((1 << 20) / steps)
    return half_width, max(0, min(*limits, int(radius / (2 * half_width))))


def _phase_coefficients(f: Function, phase: Fraction, radius: Fraction, count: int) -> list[Ball]:
    """Return the Taylor coefficients of f(pi phase) in the phase, on a ball around it."""
    from flint import arb

    pi = arb.pi()
    centre = ball(phase) if not radius else ball(phase) + arb(0, ball(radius))
    return [c * pi**j for j, c in enumerate(f.coefficients(centre * pi, count))]


def find_ulps(question: PeriodicQuestion, centre: Fraction, radius: Fraction) -> list[int]:
    """Return log2 of the ulps of all values on a group."""
    with working_precision(_PRECISION):
        value = abs(_phase_coefficients(question.function, centre, radius, 1)[0])
        ends = [end.mid().man_exp() for end in (value.lower(), value.upper())]
    first, last = (int(m).bit_length() + int(e) - 1 for m, e in ends)
    if question.function.below_one:
        last = min(last, -1)
    ulps = {question.format.ulp(e) for e in range(first, last + 1)}
    return sorted(ulp for ulp in ulps if ulp is not None)


def make_group(
    question: PeriodicQuestion, centre: Fraction, half_width: Fraction, windows: int, ulp: int
) -> Group:
    """Compute the row of a group, with bounds of its errors."""
    from flint import arb

    lattice, scale = question.lattice, question.scale
    basis = u_m, u_k, v_m, v_k = lattice.basis(half_width)
    middle = Fraction(3 * lattice.first, 2)
    a, b = lattice.coordinates(basis, middle, centre)
    near = round(a), round(b)
    m, k = near[0] * u_m + near[1] * v_m, near[0] * u_k + near[1] * v_k
    steps = lattice.coordinates(basis, Fraction(0), 2 * half_width)
    u, v = lattice.phase(u_m, u_k), lattice.phase(v_m, v_k)
    reals, words = np.empty(REAL_COLUMNS), np.empty(WORD_COLUMNS, np.int64)
    reals[REALS.u_x], reals[REALS.v_x] = float(u_m / middle * 3), float(v_m / middle * 3)
    reals[REALS.u_y], reals[REALS.v_y] = float(u / half_width), float(v / half_width)
    reals[REALS.a_start], reals[REALS.b_start] = float(a - near[0]), float(b - near[1])
    reals[REALS.a_step], reals[REALS.b_step] = float(steps[0]), float(steps[1])
    with working_precision(_PRECISION):
        unit = arb(2) ** (int(scale.doubled) - ulp)
        c = [x * unit for x in _phase_coefficients(question.function, centre, Fraction(0), 5)]
        if c[0] < 0:
            c = [-x for x in c]
        c[0] += arb(0.5) if scale.half else arb(0)
        radius = (2 * windows + 1) * half_width
        wide = _phase_coefficients(question.function, centre, radius, 6)[5] * unit
        remainder = abs(wide) * ball(radius) ** 5 + abs(c[4]) * ball(half_width) ** 4
        w, anchor = ball(half_width), ball(lattice.phase(m, k) - centre)
        c.append(arb(0))
        value = [((1 - j) * c[j] + (j + 1) * c[j + 1] * anchor) * (2 * w) ** j for j in range(5)]
        slopes = [(j + 1) * c[j + 1] * (2 * w) ** j for j in range(4)]
        along = [[slope * ball(vector) for slope in slopes] for vector in (u, v)]
        square = [c[2] * w**2, 6 * c[3] * w**3, 24 * c[4] * w**4]
        cube = [c[3] * w**3, 8 * c[4] * w**4]
        for column, number in zip(WORDS, (value[0], along[0][0], along[1][0]), strict=True):
            words[column] = _to_word(number)
        for column, numbers in (
            (REALS.value, value[1:]),
            (REALS.u_value, along[0][1:]),
            (REALS.v_value, along[1][1:]),
            (REALS.square, square),
            (REALS.cube, cube),
        ):
            reals[column : column + len(numbers)] = [float(x.mid()) for x in numbers]
        error = float(remainder.upper())
    _set_bounds(question, reals, windows, error)
    return Group(centre, half_width, windows, basis, (m, k), ulp, reals, words)


def _to_word(number: Ball) -> int:
    """Return a number modulo 1 as a signed word in units of 2^-64, with an error below 2^-63."""
    word = int((number.mid() * 2**64).floor().unique_fmpz()) + (1 << 63)
    return word % (1 << 64) - (1 << 63)


def _set_bounds(question: PeriodicQuestion, reals: np.ndarray, windows: int, error: float) -> None:
    """Set the height of the slab and the tolerance of survivors.

    `error` bounds the truncated terms of the polynomials; the rounding errors of the formulas are
    added here, as docs/packages/tmd-large-arguments.md lists them.
    """

    def bound(column: int, count: int, first: int) -> float:
        powers = float(windows) ** np.arange(first, first + count)
        return float(np.abs(reals[column : column + count]) @ powers)

    u_x, u_y, v_x, v_y = (reals[i] for i in (REALS.u_x, REALS.u_y, REALS.v_x, REALS.v_y))
    area = abs(u_x * v_y - u_y * v_x)
    extent = (abs(u_x) + abs(u_y) + abs(v_x) + abs(v_y)) / area
    reach = extent + 1 + windows * (abs(reals[REALS.a_step]) + abs(reals[REALS.b_step]))
    square, cube = bound(REALS.square, 3, 0), bound(REALS.cube, 2, 0)
    slopes = bound(REALS.u_value, 3, 1) + bound(REALS.v_value, 3, 1)
    error += (
        (2 + 2 * reach) * 2.0**-62
        + (bound(REALS.value, 4, 1) + reach * slopes) * 2.0**-50
        + (square + cube) * (1 + abs(u_y) + abs(v_y)) * 2.0**-27
    )
    tolerance = 1.01 * (2 * question.limit + error)
    slab = 1.01 * (square / 2 + cube + tolerance)
    # A higher slab has more candidates. It keeps the rounding errors below those of the proof.
    slab = max(slab, extent * 2.0**-38, area * extent**2 * 2.0**-29)
    if reach > 1 << 22:
        raise ValueError(
            f"exponent {question.exponent} is too small for this search, whose windows would "
            "contain long rows of arguments: use tmd.search"
        )
    reals[REALS.slab], reals[REALS.tolerance] = slab, tolerance
