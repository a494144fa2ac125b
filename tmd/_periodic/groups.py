"""Groups of windows: their places, their table rows, and proven bounds of all errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tmd._periodic.columns import REAL_COLUMNS, REALS, WORD_COLUMNS, WORDS
from tmd._periodic.lattice import PhaseLattice
from tmd._periodic.question import PeriodicQuestion
from tmd.functions.function import Ball, Function, ball, exponent_of_ball, working_precision

CANDIDATES = 6.0
"""Candidates that a window is expected to have.

A binade takes as long with 4 and 8, and no less with 3 and 12.
"""

MAX_WINDOWS = 1 << 13
"""Most windows on both sides of a group's centre."""

MAX_GROUPS = 1 << 8
"""Most groups whose rows are computed from one expansion."""

_DEGREE = 8
"""Degree of the expansion from which the rows of many groups are computed."""

_TRUNCATION = 2.0**-40
"""What truncated polynomials may differ by, in test units, where a 16th of a distance is less.

Balls then decide one argument in 2^37.
"""

_PRECISION = 256
"""Bits of the balls from which the rows are computed, and bits after the point of their numbers."""


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


def make_groups(question: PeriodicQuestion, lo: Fraction, hi: Fraction) -> Iterator[Groups]:
    """Yield groups whose windows cover the phases from lo to hi, away from zeros and poles."""
    while lo < hi:
        half_width, windows, count = choose_windows(question, lo, hi)
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
    radius = min(distance / 64, (truncation / ((c[5] + c[4]) * unit)) ** 0.2)
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
    limits = MAX_WINDOWS, math.ceil((needed - 1) / 2), int((1 << 20) / steps)
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
    """Compute the rows of groups that follow each other, with bounds of their errors.

    The numbers are integers in units of 2^-256, one for each group in arrays of objects.
    """
    lattice = question.lattice
    basis = u_m, u_k, v_m, v_k = lattice.basis(half_width)
    length = 2 * (2 * windows + 1) * half_width
    centre, middle = begin + length / 2, Fraction(3 * lattice.first, 2)
    number = np.arange(count).astype(object)
    # Coordinates of the centres in the basis, in units of 2^-64.
    starts = lattice.coordinates(basis, middle, centre)
    moves = lattice.coordinates(basis, Fraction(0), length)
    a, b = (int(x * 2**64) + number * int(dx * 2**64) for x, dx in zip(starts, moves, strict=True))
    near_a, near_b = a + 2**63 >> 64, b + 2**63 >> 64
    m, k = near_a * u_m + near_b * v_m, near_a * u_k + near_b * v_k
    anchors = _from_phase(lattice, m, k) - (_to_unit(centre) + number * _to_unit(length))
    u, v = lattice.phase(u_m, u_k), lattice.phase(v_m, v_k)
    reals = np.empty((len(ulps), count, REAL_COLUMNS))
    words = np.empty((len(ulps), count, WORD_COLUMNS), np.int64)
    reals[:, :, REALS.u_x], reals[:, :, REALS.v_x] = u_m / middle * 3, v_m / middle * 3
    reals[:, :, REALS.u_y], reals[:, :, REALS.v_y] = u / half_width, v / half_width
    for start, step, x, near, i in (
        (REALS.a_start, REALS.a_step, a, near_a, 0), (REALS.b_start, REALS.b_step, b, near_b, 1)
    ):  # fmt: skip
        reals[:, :, start] = np.ldexp((x - (near << 64)).astype(float), -64)
        reals[:, :, step] = lattice.coordinates(basis, Fraction(0), 2 * half_width)[i]
    for i, ulp in enumerate(ulps):
        c, error = _expand(question, begin, length, number, half_width, ulp)
        _fill_rows(reals[i], words[i], c, anchors, (u, v), half_width)
        # The constant of the second coefficient of y^3 is 8 times the term in y^4.
        fourth = abs(reals[i, :, REALS.cube + 1]) / 8
        _set_bounds(question, reals[i], windows, (error + fourth) * (1 + 2.0**-40))
    return Groups(begin, half_width, windows, ulps, basis, m, reals, words)


def _to_unit(x: Fraction) -> int:
    """Return x in units of 2^-256, rounded down."""
    return (x.numerator << _PRECISION) // x.denominator


def _from_phase(lattice: PhaseLattice, m: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return the phases m alpha - k in units of 2^-256."""
    return _to_unit(lattice.phase(1)) * m - (k << _PRECISION)


def _expand(
    question: PeriodicQuestion,
    begin: Fraction,
    length: Fraction,
    number: np.ndarray,
    half_width: Fraction,
    ulp: int,
) -> tuple[list[np.ndarray], float]:
    """Return the Taylor coefficients 0 to 4 about the centres of groups, in units of 2^-256.

    Also return a bound of what those of higher degree add in a group. One polynomial about the
    centre of all groups is expanded again about each of theirs.
    """
    from flint import arb

    scale, count = question.scale, number.size
    with working_precision(_PRECISION):
        unit = arb(2) ** (int(scale.doubled) - ulp)
        centre, radius = begin + count * length / 2, count * length / 2
        balls = expand_at_phase(question.function, centre, Fraction(0), _DEGREE + 1)
        wide = expand_at_phase(question.function, centre, radius, _DEGREE + 2)[-1]
        balls = [x * unit * (-1 if balls[0] < 0 else 1) for x in balls]
        balls[0] += arb(0.5) if scale.half else arb(0)
        size, group = ball(radius), ball(length / 2)
        fifth = sum(math.comb(k, 5) * abs(balls[k]) * size ** (k - 5) for k in range(5, len(balls)))
        error = abs(wide) * unit * size ** (_DEGREE + 1) + fifth * group**5
        whole = [int((x.mid() * arb(2) ** _PRECISION).floor().unique_fmpz()) for x in balls]
        bound = float(error.upper())
    # The distance of the centres from that of all is a binary fraction.
    h = _to_unit(length / 2) * (2 * number - (count - 1))
    c = []
    for j in range(5):
        total = 0 * h + whole[_DEGREE] * math.comb(_DEGREE, j)
        for k in range(_DEGREE - 1, j - 1, -1):
            total = (total * h >> _PRECISION) + whole[k] * math.comb(k, j)
        c.append(total)
    return c, bound


def _fill_rows(
    reals: np.ndarray,
    words: np.ndarray,
    c: list[np.ndarray],
    anchors: np.ndarray,
    vectors: tuple[Fraction, Fraction],
    half_width: Fraction,
) -> None:
    """Set the columns of linear forms and of the terms in y^2 and y^3."""
    power = 1 - half_width.denominator.bit_length()  # that of 2 in half_width

    def as_float(x: np.ndarray, j: int) -> np.ndarray:
        """Return x half_width^j, with one rounding."""
        total: np.ndarray = np.ldexp(
            (x * half_width.numerator**j).astype(float), j * power - _PRECISION
        )
        return total

    def as_word(x: np.ndarray) -> np.ndarray:
        """Return x modulo 1, rounded down, as signed words in units of 2^-64."""
        words: np.ndarray = (x >> (_PRECISION - 64) & (1 << 64) - 1).astype(np.uint64)
        return words.view(np.int64)

    c = [*c, 0 * c[0]]
    value = [(1 - j) * c[j] + ((j + 1) * c[j + 1] * anchors >> _PRECISION) for j in range(5)]
    words[:, WORDS.value] = as_word(value[0])
    for j in range(1, 5):
        reals[:, REALS.value + j - 1] = as_float(value[j] << j, j)
    for word, column, vector in zip(
        (WORDS.u_value, WORDS.v_value), (REALS.u_value, REALS.v_value), vectors, strict=True
    ):
        step = _to_unit(vector)
        slopes = [(j + 1) * c[j + 1] * step >> _PRECISION for j in range(4)]
        words[:, word] = as_word(slopes[0])
        for j in range(1, 4):
            reals[:, column + j - 1] = as_float(slopes[j] << j, j)
    for j, factor in enumerate((1, 6, 24)):
        reals[:, REALS.square + j] = as_float(factor * c[j + 2], j + 2)
    for j, factor in enumerate((1, 8)):
        reals[:, REALS.cube + j] = as_float(factor * c[j + 3], j + 3)


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
    extent = (abs(u_x) + abs(u_y) + abs(v_x) + abs(v_y)) / area
    reach = extent + 1 + windows * (abs(reals[0, REALS.a_step]) + abs(reals[0, REALS.b_step]))
    square, cube = bound(REALS.square, 3, 0), bound(REALS.cube, 2, 0)
    slopes = bound(REALS.u_value, 3, 1) + bound(REALS.v_value, 3, 1)
    rounding = (
        (2 + 2 * reach) * 2.0**-62
        + (bound(REALS.value, 4, 1) + reach * slopes) * 2.0**-50
        + (square + cube) * (1 + abs(u_y) + abs(v_y)) * 2.0**-27
    )
    tolerance = 1.01 * (2 * question.limit + error + rounding)
    slab = 1.01 * (square / 2 + cube + tolerance)
    # A higher slab has more candidates. It keeps the rounding errors below those of the proof.
    slab = np.maximum(slab, max(extent * 2.0**-38, area * extent**2 * 2.0**-29))
    if reach > 1 << 22:
        raise ValueError(
            f"exponent {question.exponent} is too small for this search, whose windows would "
            "contain long rows of arguments: use tmd.search"
        )
    reals[:, REALS.slab], reals[:, REALS.tolerance] = slab, tolerance
