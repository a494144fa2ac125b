"""Groups of windows: their places, their table rows, and proven bounds of all errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tmd._periodic.columns import REAL_COLUMNS, REALS, WORD_COLUMNS
from tmd._periodic.question import PeriodicQuestion
from tmd._search.model_groups import to_words
from tmd.functions.function import Ball, Function, ball, exponent_of_ball, working_precision

CANDIDATES = 6.0
"""Candidates that a window is expected to have.

A binade takes as long with 4 and 8, and no less with 3 and 12.
"""

MAX_WINDOWS = 1 << 13
"""Most windows on both sides of a group's centre."""

MAX_GROUPS = 1 << 13
"""Most groups whose rows are computed from one expansion."""

_DEGREE = 8
"""Degree of the expansion from which the rows of many groups are computed."""

_TRUNCATION = 2.0**-40
"""What truncated polynomials may differ by, in test units, where a 16th of a distance is less.

Balls then decide one argument in 2^37.
"""

_ROUNDING = 2.0**-38
"""What rounding of the linear forms' slopes in a group may add to values, in test units.

Balls then decide one argument in 2^37 or so, too.
"""

MAX_COORDINATE = 1 << 23
"""Largest coordinate of an argument in the basis: words, whose errors it multiplies, have 62 bits.
"""

_PRECISION = 256
"""Bits of the balls from which the rows are computed."""

_FRACTION_BITS = 192
"""Bits after the point of the integers from which the rows are computed."""


@dataclass(frozen=True)
class Groups:
    """Groups that follow each other from a phase on, with windows of one half width.

    Each has the windows -windows, ..., windows about its centre, and is searched for each of
    `ulps`. `basis` has the lattice vectors u and v, `anchors` the m of the lattice points near the
    centres; `reals` and `words` have the table rows (ulps, groups, columns).
    """

    begin: Fraction
    half_width: Fraction
    windows: int
    ulps: tuple[int, ...]
    basis: tuple[int, int, int, int]
    anchors: np.ndarray
    reals: np.ndarray
    words: np.ndarray

    @property
    def count(self) -> int:
        """The number of groups, those for several ulps counted once."""
        return self.anchors.size

    @property
    def length(self) -> Fraction:
        """Length of the phases of a group."""
        return 2 * (2 * self.windows + 1) * self.half_width

    @property
    def slabs(self) -> np.ndarray:
        """Halves of the heights of the slabs (ulps, groups), in test units."""
        return self.reals[:, :, REALS.slab]


def make_groups(
    question: PeriodicQuestion, lo: Fraction, hi: Fraction, most: int
) -> Iterator[Groups]:
    """Yield groups whose windows cover the phases from lo to hi, away from zeros and poles.

    At most `most` come from one expansion.
    """
    while lo < hi:
        half_width, windows, count = choose_windows(question, lo, hi)
        count = min(count, most)
        length = 2 * (2 * windows + 1) * half_width
        # Where the ulp changes groups are taken one by one.
        while len(ulps := find_ulps(question, lo, lo + count * length)) > 1 and count > 1:
            count = (count + 1) // 2
        yield compute_rows(question, lo, half_width, windows, count, ulps)
        lo += count * length


def choose_windows(
    question: PeriodicQuestion, lo: Fraction, hi: Fraction
) -> tuple[Fraction, int, int]:
    """Return half the width of windows from the phase lo on, and numbers of windows and groups.

    The windows are those on both sides of a group's centre.
    """
    lattice, distance = question.lattice, float(question.distance(lo))
    with working_precision(64):
        balls = expand_at_phase(question.function, lo, Fraction(0), _DEGREE + 2)
    c = [abs(float(x.mid())) for x in balls]
    ulp = question.format.ulp(math.frexp(c[0])[1] - 1) or 0
    unit = 2.0 ** (int(question.scale.doubled) - ulp)
    curvature = c[2] * unit
    truncation = max(question.limit / 16, _TRUNCATION)
    radius = min(
        distance / 64,
        (truncation / ((c[5] + c[4]) * unit)) ** 0.2,
        (_ROUNDING * 2.0**50 / (2 * curvature)) ** 0.5 if curvature else 1.0,
    )
    width = min(
        distance / 64,
        (CANDIDATES / (2 * lattice.first * curvature)) ** (1 / 3) if curvature else 1.0,
        (8 * curvature) ** -0.5 if curvature else 1.0,
    )
    # A few digits are enough, and one basis serves many groups.
    mantissa, power = math.frexp(width)
    half_width = Fraction(math.floor(mantissa * 64)) * Fraction(2) ** (power - 6)
    needed = math.ceil((hi - lo) / (2 * half_width))
    basis = lattice.basis(half_width)
    steps = max(abs(2 * half_width * basis[0]), abs(2 * half_width * basis[2]), Fraction(1))
    limits = MAX_WINDOWS, math.ceil((needed - 1) / 2), int(MAX_COORDINATE / 2 / steps)
    windows = max(0, min(*limits, int(radius / (2 * half_width))))
    reach = (truncation / 16 / ((c[-1] + c[-2]) * unit)) ** (1 / (_DEGREE + 1))
    group = (2 * windows + 1) * float(half_width)
    count = min(MAX_GROUPS, needed // (2 * windows + 1), int(min(reach, distance / 64) / group))
    return half_width, windows, max(1, count)


def expand_at_phase(f: Function, phase: Fraction, radius: Fraction, count: int) -> list[Ball]:
    """Return the Taylor coefficients of f(pi phase) in the phase, on a ball around it."""
    from flint import arb

    pi = arb.pi()
    centre = ball(phase) if not radius else ball(phase) + arb(0, ball(radius))
    return [c * pi**j for j, c in enumerate(f.coefficients(centre * pi, count))]


def find_ulps(question: PeriodicQuestion, lo: Fraction, hi: Fraction) -> tuple[int, ...]:
    """Return log2 of the ulps of all values at phases between two."""
    with working_precision(_PRECISION):
        centre, radius = (lo + hi) / 2, (hi - lo) / 2
        value = abs(expand_at_phase(question.function, centre, radius, 1)[0])
        if not value > 0:
            raise ArithmeticError(f"values next to the phase {float(centre)} may be 0")
        first, last = exponent_of_ball(value.lower()), exponent_of_ball(value.upper())
    if question.function.below_one:
        last = min(last, -1)
    ulps = {question.format.ulp(e) for e in range(first, last + 1)}
    return tuple(sorted(ulp for ulp in ulps if ulp is not None))


def compute_rows(
    question: PeriodicQuestion,
    begin: Fraction,
    half_width: Fraction,
    windows: int,
    count: int,
    ulps: tuple[int, ...],
) -> Groups:
    """Compute the rows of groups that follow each other, with bounds of their errors."""
    from tmd._periodic.row_formulas import fill_rows

    lattice = question.lattice
    basis = u_m, u_k, v_m, v_k = lattice.basis(half_width)
    spacing = 2 * windows + 1
    length = 2 * spacing * half_width
    middle = Fraction(3 * lattice.first, 2)
    u, v = lattice.phase(u_m, u_k), lattice.phase(v_m, v_k)
    # Few groups may be shorter than a vector, whose multiples of coefficients would be too large.
    step = min(max(abs(u), abs(v)), question.distance(begin) / 64) / half_width
    log2_unit = max(1, ((count - 1) * spacing).bit_length(), math.ceil(step).bit_length())
    unit = half_width * 2**log2_unit
    places = [
        [_to_words(x) for x in xs]
        for xs in (
            (u / unit, v / unit),
            lattice.coordinates(basis, middle, begin + length / 2),
            lattice.coordinates(basis, Fraction(0), length),
        )
    ]
    vectors, starts, moves = np.array(places, np.uint64)
    reals = np.empty((len(ulps), count, REAL_COLUMNS))
    words = np.empty((len(ulps), count, WORD_COLUMNS), np.int64)
    near = np.empty((count, 2), np.int64)
    reals[:, :, REALS.u_x], reals[:, :, REALS.v_x] = u_m / middle * 3, v_m / middle * 3
    reals[:, :, REALS.u_y], reals[:, :, REALS.v_y] = u / half_width, v / half_width
    steps = lattice.coordinates(basis, Fraction(0), 2 * half_width)
    reals[:, :, REALS.a_step], reals[:, :, REALS.b_step] = steps
    for i, ulp in enumerate(ulps):
        largest = max(1, abs(u / unit), abs(v / unit))
        coefficients, error = _expand(question, begin, length, count, unit, ulp, largest)
        fill_rows(
            coefficients, vectors, starts, moves, spacing, log2_unit, reals[i], words[i], near
        )
        # The constant of the second coefficient of y^3 is 8 times the term in y^4.
        fourth = abs(reals[i, :, REALS.cube + 1]) / 8
        _set_bounds(question, reals[i], windows, (error + fourth) * (1 + 2.0**-40))
    anchors = near @ np.array([u_m, v_m], np.int64)
    return Groups(begin, half_width, windows, ulps, basis, anchors, reals, words)


def _to_words(x: Fraction) -> tuple[int, ...]:
    """Return x in units of 2^-192, rounded down, as four words."""
    return to_words((x.numerator << _FRACTION_BITS) // x.denominator)


def _expand(
    question: PeriodicQuestion,
    begin: Fraction,
    length: Fraction,
    count: int,
    unit: Fraction,
    ulp: int,
    largest: Fraction,
) -> tuple[np.ndarray, float]:
    """Return the expansion about the centre of all groups, for steps of `unit`, as words.

    Also return a bound of what coefficients of degree 5 and higher add in a group. `largest`
    bounds what coefficients are multiplied with.
    """
    from flint import arb

    scale = question.scale
    with working_precision(_PRECISION):
        factor = arb(2) ** (int(scale.doubled) - ulp)
        centre, radius = begin + count * length / 2, count * length / 2
        balls = expand_at_phase(question.function, centre, Fraction(0), _DEGREE + 1)
        wide = expand_at_phase(question.function, centre, radius, _DEGREE + 2)[-1]
        balls = [x * factor * (-1 if balls[0] < 0 else 1) for x in balls]
        balls[0] += arb(0.5) if scale.half else arb(0)
        size, group, step = ball(radius), ball(length / 2), ball(unit)
        fifth = sum(math.comb(k, 5) * abs(balls[k]) * size ** (k - 5) for k in range(5, len(balls)))
        error = abs(wide) * factor * size ** (_DEGREE + 1) + fifth * group**5
        scaled = [x * step**k for k, x in enumerate(balls)]
        if not sum(abs(x) * 2**k for k, x in enumerate(scaled)) * 64 * ball(largest) < 2**62:
            raise ArithmeticError(
                "coefficients exceed 256 bits: this is a bug in tmd, please report it"
            )
        whole = [int((x.mid() * arb(2) ** _FRACTION_BITS).floor().unique_fmpz()) for x in scaled]
        bound = float(error.upper())
    return np.array([to_words(x) for x in whole], np.uint64), bound


def _set_bounds(
    question: PeriodicQuestion, reals: np.ndarray, windows: int, error: np.ndarray
) -> None:
    """Set the heights of the slabs and the tolerances of survivors.

    `error` bounds the truncated terms of the polynomials; the rounding errors of the formulas are
    added here, as docs/packages/tmd-large-arguments.md lists them.
    """

    def bound(column: int, count: int, first: int) -> np.ndarray:
        powers = float(windows) ** np.arange(first, first + count)
        total: np.ndarray = np.abs(reals[:, column : column + count]) @ powers
        return total

    u_x, u_y, v_x, v_y = (reals[0, i] for i in (REALS.u_x, REALS.u_y, REALS.v_x, REALS.v_y))
    area = abs(u_x * v_y - u_y * v_x)
    extents = (abs(v_x) + abs(v_y)) / area, (abs(u_x) + abs(u_y)) / area
    extent = sum(extents)
    a, b = (x + 1 + windows * abs(reals[0, step])
            for x, step in zip(extents, (REALS.a_step, REALS.b_step), strict=True))  # fmt: skip
    square, cube = bound(REALS.square, 3, 0), bound(REALS.cube, 2, 0)
    slopes = a * bound(REALS.u_value, 3, 1) + b * bound(REALS.v_value, 3, 1)
    rounding = (
        (2 + a + b) * 2.0**-62
        + (bound(REALS.value, 4, 1) + slopes) * 2.0**-50
        + (square + cube) * (2.0**-38 + (a * abs(u_y) + b * abs(v_y)) * 2.0**-48)
    )
    tolerance = 1.01 * (2 * question.limit + error + rounding)
    slab = 1.01 * (square / 2 + cube + tolerance)
    # A higher slab has more candidates. It keeps the rounding errors below those of the proof.
    slab = np.maximum(slab, max(extent * 2.0**-38, area * extent**2 * 2.0**-29))
    if max(a, b) > MAX_COORDINATE:
        raise ValueError(
            f"exponent {question.exponent} is too small for this search, whose windows would "
            "contain long rows of arguments: use tmd.search"
        )
    reals[:, REALS.slab], reals[:, REALS.tolerance] = slab, tolerance
