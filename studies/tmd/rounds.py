"""Boolean tests of many lines, with the rounds of their loops: on the CPU, whatever the device.

A line is the chord of the polynomial, half a sagitta away from it, as in `tmd.search`, or the
tangent at the first argument, as in Fortin, Gouicem and Graillat (2016, section 3.1). The study
needs the rounds, which the library's loops do not keep.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np

from hetero.jit import parallel, scalar
from tmd._search.formulas import boolean_test_formulas as tests
from tmd._search.formulas.division_formulas import floor
from tmd._search.formulas.line_formulas import (
    fraction_as_float,
    line_differences,
    taylor_coefficients,
)
from tmd._search.formulas.wide_integer_formulas import shift_right, subtract

WARP = 32
"""Threads of a warp: as many neighbouring lines wait for the slowest of them."""

ONE = 2.0 ** tests.UNIT_BITS[float]
"""Length of the circle, in the unit of the tests of float64 integers."""


@scalar
def plain_lefevre(a: float, b: float, count: float, bound: float) -> tuple[bool, int]:
    """Return whether b - a x mod 1 <= bound is possible for x < count, and the rounds.

    This is Algorithm 1 of Fortin, Gouicem and Graillat (2016) as printed: points to the left of b
    are taken one by one, and only the other rows of points in one division.
    `boolean_test_formulas` has the meaning of the numbers, which are integers in float64.
    """
    p, q, d, u, v = a, ONE - a, b, 1.0, 1.0
    rounds = 0
    while d > bound and p > 0.0 and q > 0.0:
        rounds += 1
        if d < p:
            k = floor(q / p)
            q -= k * p
            u += k * v
            if u + v >= count:
                break
            p -= q
            v += u
        else:
            d -= p
            if d <= bound:
                break
            k = floor(p / q)
            p -= k * q
            v += k * u
            if u + v >= count:
                break
            q -= p
            u += v
    return d <= bound, rounds


PLAIN = "plain"
"""Name of the test `plain_lefevre` beside those of `boolean_test_formulas.ALGORITHMS`."""


def find_test(name: str) -> Callable:
    """Return a Boolean test of float64 integers by its name."""
    return plain_lefevre if name == PLAIN else tests.compile_test(name, "float64")


@scalar
def _chord(t: tuple, size: int, length: int) -> tuple[np.uint64, np.uint64]:
    """Return value and slope of the line that `tmd.search` tests over 2^length arguments."""
    b, _, _, _, a, _, _ = line_differences(t, size - length, size, length)
    return b[0], a[0]


@scalar
def _tangent(t: tuple, size: int, length: int) -> tuple[np.uint64, np.uint64]:
    """Return value and slope of the tangent at the first argument, likewise with a = -slope."""
    zero, one = (np.uint64(0), np.uint64(0)), np.uint64(1)
    return shift_right(t[0], one)[0], subtract(zero, shift_right(t[1], np.uint64(size) + one))[0]


LINES = {"chord": _chord, "tangent": _tangent}
"""Formulas of the lines, by name."""


class Window(NamedTuple):
    """A line's offset, in units of 2^-63 test units, and the bound of its test, in 2^-52."""

    offset: int
    bound: float


@functools.cache
def _make_loop(test: str, line: str) -> Callable:
    """Make the loop that stores rounds and result of a test for each line."""
    run_test, make_line = find_test(test), LINES[line]

    @parallel
    def test_lines(
        table: np.ndarray,
        starts: np.ndarray,
        size: int,
        length: int,
        offset: np.uint64,
        bound: float,
        rounds: np.ndarray,
        failed: np.ndarray,
    ) -> None:
        for i in numba.prange(starts.size):
            t = taylor_coefficients(table, 0, starts[i], np.uint64(size))
            b, a = make_line(t, size, length)
            b0 = fraction_as_float(b + offset)
            fails, k = run_test(fraction_as_float(a), b0, float(1 << length), bound)
            rounds[i], failed[i] = k, fails

    return test_lines


def count_rounds(
    test: str, line: str, words: np.ndarray, starts: np.ndarray, size: int, length: int, w: Window
) -> tuple[np.ndarray, np.ndarray]:
    """Test lines of a super-block; return the rounds of each, and whether its test fails.

    Parameters
    ----------
    test : `PLAIN`, or a name of `boolean_test_formulas.ALGORITHMS`
    line : a name of `LINES`
    words : uint64 (degree + 1, 3), coefficients of a super-block of 2^size arguments
    starts : uint64 array, numbers of the first arguments
    length : log2 of the number of arguments of each line
    """
    rounds, failed = np.empty(starts.size, np.int32), np.empty(starts.size, np.bool_)
    offset = np.uint64(w.offset)
    _make_loop(test, line)(words[None], starts, size, length, offset, w.bound, rounds, failed)
    return rounds, failed


def nmdm(rounds: np.ndarray) -> np.ndarray:
    """Return the normalized mean deviation to the maximum of each warp (section 2.2)."""
    warps = rounds[: rounds.size // WARP * WARP].reshape(-1, WARP)
    return 1.0 - warps.mean(axis=1) / warps.max(axis=1)


def count_warp_rounds(rounds: np.ndarray) -> int:
    """Return the rounds of all warps together: each takes as many as its slowest thread."""
    full = rounds.size // WARP * WARP
    warps = rounds[:full].reshape(-1, WARP).max(axis=1).sum() if full else 0
    return int(warps) + (int(rounds[full:].max()) if full < rounds.size else 0)
