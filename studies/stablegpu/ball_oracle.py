"""An independent oracle: Fourier inversion along a path in the complex plane, in ball arithmetic.

With t = e^w, and E the characteristic function times e^(-ixt),

    pdf = 1/pi Re int E(w) e^w dw,     sf = 1/2 + phi/pi + 1/pi Im int E(w) dw,

where the path comes from -inf + i phi and ends where E has vanished. E is an entire function of w,
so any path will do. It is chosen by dynamic programming on a grid such that the integral of |E e^w|
is least: it follows the valleys and crosses the lowest passes. No formula is shared with the
package's evaluators, which use Nolan's real integrals. The integrals over the straight pieces are
rigorous (Petras' algorithm in Arb, with a bound of the error). The parts beyond both ends are only
estimated, at some 2^-5 of that bound. Precision is raised until the values have the requested
digits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import acb, arb, ctx

_ROWS = 64  # of the grid, over phi in [-pi/2, pi/2]: E has one valley at infinity there
_COLUMNS = 160
_REACH = 3  # rows that a path may move by in one column
_MOVE = 0.02  # cost of a move by one row, so that paths are straight where it does not matter
_STRAIGHT = 1.2  # rows by which a path may be straightened
_MARGIN = 20  # bits
_FIRST_BITS, _MOST_BITS = 72, 4000
_UNDERFLOW = 1e-320
_NEAR_ONE, _STEP = 0.01, 2.0**-24  # there differences with respect to alpha of this size


class NotResolved(ArithmeticError):
    """The oracle does not reach the requested accuracy."""


@dataclass(frozen=True)
class Truth:
    """Values of pdf, cdf and sf as balls; derivatives of logpdf by x and alpha as floats.

    `error` is the largest relative radius of the three.
    """

    pdf: arb
    cdf: arb
    sf: arb
    error: float
    dx: float
    dalpha: float


class _Exponent:
    """The function log E of w for the standard distribution in S0.

    It is computed in balls and in NumPy's complex numbers:

    -t^alpha + i beta tan(pi alpha/2) (t^alpha - t) - i x t, or the same sorted by powers of t where
    x is nearer to zeta than to 0.
    """

    def __init__(self, x: Any, alpha: Any, beta: float) -> None:
        self.alpha, self.x, self.beta = arb(alpha), arb(x), arb(beta)
        self.at_one = alpha == 1
        if self.at_one:
            self.skew, self.sorted = self.beta * 2 / arb.pi(), False
        else:
            self.skew = self.beta * (arb.pi() * (1 - self.alpha) / 2).cot()
            y = self.x + self.skew
            self.sorted = abs(self.skew) < 20 or abs(y) < abs(self.skew) / 2
            self.x = y if self.sorted else self.x
        self.floats = float(self.alpha), float(self.x), float(self.skew), float(self.alpha - 1)

    @property
    def inside(self) -> bool:
        """Return whether x lies in the support of a distribution with alpha < 1 and beta = +-1."""
        y = self.x if self.sorted else self.x + self.skew
        return bool(self.beta * y > 0)

    def __call__(self, w: acb) -> acb:
        t = w.exp()
        linear = acb(0, -self.x) * t
        if self.at_one:
            return linear - t - acb(0, self.skew) * t * w
        power = (self.alpha * w).exp()
        if self.sorted:
            return linear - acb(1, -self.skew) * power
        return linear - power + acb(0, self.skew) * t * ((self.alpha - 1) * w).expm1()

    def in_alpha(self, w: acb) -> acb:
        """Return the derivative with respect to alpha; loses digits next to alpha = 1."""
        t, power = w.exp(), (self.alpha * w).exp()
        sine = (arb.pi() * (1 - self.alpha) / 2).sin()
        slope = self.beta * arb.pi() / 2 / sine**2  # of skew
        return acb(-1, self.skew) * power * w + acb(0, slope) * (power - t)

    def terms(self, w: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the terms of log E at complex w, as NumPy's numbers."""
        alpha, x, skew, off = self.floats
        t = np.exp(w)
        if self.at_one:
            return -1j * x * t, -t, -1j * skew * t * w
        if self.sorted:
            return -1j * x * t, -(1 - 1j * skew) * np.exp(alpha * w)
        return -1j * x * t, -np.exp(alpha * w), 1j * skew * t * np.expm1(off * w)


@dataclass(frozen=True)
class _Path:
    """Path of integration: the start of its bend, its corners (w, row), and its scale."""

    start: float
    size: float  # log of t where the exponent is of order one
    corners: tuple[tuple[float, int], ...]


def _path(exponent: _Exponent, drop: float) -> _Path:
    """Return a path along which the integral of |E e^w| is small, until it fell by e^-drop."""
    phi = np.arange(-_ROWS // 2, _ROWS // 2 + 1) * (np.pi / _ROWS)
    with np.errstate(all="ignore"):
        line = np.linspace(-2000.0, 700.0, 27001)
        size = sum(abs(term) for term in exponent.terms(line + 0j))
        first = int(np.argmax(~(size < 1.0)))
        scale, start = line[first], line[first] - 3.0
        coarse = line[first : first + 20000 : 20]
        falls = _heights(exponent, coarse, phi).min(axis=1) < scale - drop
        if not falls.any():
            raise NotResolved("the integrand does not fall")
        w = np.linspace(start, coarse[np.argmax(falls)] + 0.4, _COLUMNS)
        heights = _heights(exponent, w, phi)
    rows = _valley(heights)
    corners = [(0, rows[0]), *_straightened(rows, 0, len(rows) - 1), (len(rows) - 1, rows[-1])]
    return _Path(start, scale, tuple((float(w[i]), int(r) - _ROWS // 2) for i, r in corners))


def _heights(exponent: _Exponent, w: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Return log |E e^w| at w + i phi."""
    grid = w[:, None] + 1j * phi
    result = sum(term.real for term in exponent.terms(grid)) + w[:, None]
    return np.where(np.isnan(result), np.inf, result)


def _valley(heights: np.ndarray) -> list[int]:
    """Return the rows of the path over all columns with the least sum of e^height."""
    columns, rows = heights.shape
    total, came = heights[0], np.zeros((columns, rows), int)
    moves = np.arange(-_REACH, _REACH + 1)
    index = np.arange(rows)[:, None] + moves
    inside = (index >= 0) & (index < rows)
    index = np.clip(index, 0, rows - 1)
    for i in range(1, columns):
        options = np.where(inside, total[index] + _MOVE * np.abs(moves), np.inf)
        best = options.argmin(axis=1)
        came[i] = index[np.arange(rows), best]
        total = np.logaddexp(heights[i], options.min(axis=1))
    path = [int(np.argmin(np.where(heights[-1] < heights[-1].min() + 10.0, total, np.inf)))]
    for i in range(columns - 1, 0, -1):
        path.append(int(came[i, path[-1]]))
    return path[::-1]


def _straightened(rows: list[int], i: int, j: int) -> list[tuple[int, int]]:
    """Return the corners strictly between i and j (Ramer, Douglas, Peucker)."""
    chord = np.interp(np.arange(i, j + 1), [i, j], [rows[i], rows[j]])
    away = np.abs(np.asarray(rows[i : j + 1]) - chord)
    k = i + int(away.argmax())
    if away[k - i] <= _STRAIGHT:
        return []
    return [*_straightened(rows, i, k), (k, rows[k]), *_straightened(rows, k, j)]


def _integral(function: Callable[[acb, Any], acb], path: _Path, left: float, tolerance: arb) -> acb:
    """Integrate `function` along the path, from `left` on."""
    turn = arb.pi() / _ROWS
    corners = ((path.start - left, path.corners[0][1]), *path.corners)
    corner_points = [acb(arb(w), row * turn) for w, row in corners]
    total = acb(0)
    for a, b in itertools.pairwise(corner_points):
        if not (a - b).is_zero():
            total += acb.integral(
                function, a, b, rel_tol=arb(2) ** -ctx.prec, abs_tol=tolerance, eval_limit=10**6
            )
    return total


def evaluate(
    x: float, alpha: float, beta: float, digits: float = 15.0, slopes: bool = True
) -> Truth:
    """Return pdf, cdf and sf of the standard distribution in S0.

    Relative errors are below 10^-digits.

    Parameters
    ----------
    x, alpha, beta : float, taken as exact
    slopes : bool
        Compute `dx` = |x dlogpdf/dx| and `dalpha` = alpha |dlogpdf/dalpha| too, to two digits.

    Raises
    ------
    NotResolved
    """
    if alpha < 1.0 and abs(beta) == 1.0 and not _Exponent(x, alpha, beta).inside:
        raise NotResolved(f"{alpha=} {beta=} {x=}: outside the support")
    goal = 2.0 ** -math.ceil(digits * math.log2(10.0))
    before, bits = ctx.prec, _FIRST_BITS
    try:
        while bits <= _MOST_BITS:
            ctx.prec = bits + 64
            result = _attempt(x, alpha, beta, bits, goal, slopes)
            if isinstance(result, Truth):
                return result
            bits = result
        raise NotResolved(f"{alpha=} {beta=} {x=} needs more than {_MOST_BITS} bits")
    finally:
        ctx.prec = before


def _attempt(
    x: float, alpha: float, beta: float, bits: int, goal: float, slopes: bool
) -> Truth | int:
    """Return the true values, or the number of bits to try next."""
    exponent = _Exponent(x, alpha, beta)
    path = _path(exponent, (bits + _MARGIN) * math.log(2.0))
    small = (bits + _MARGIN) * math.log(2.0)
    scale = arb(path.size).exp()
    tolerance = arb(2) ** -bits

    density = _integral(lambda w, _: (exponent(w) + w).exp(), path, small, tolerance * scale)
    pdf = density.real / arb.pi()
    left = (small + 3.0) / min(1.0, float(alpha))
    tail = _integral(lambda w, _: exponent(w).exp(), path, left, tolerance)
    sf = arb(1) / 2 + arb(path.corners[0][1]) / _ROWS + tail.imag / arb.pi()
    sf += arb(0, (4 * tolerance).upper()) * arb(2) ** -_MARGIN
    cdf = 1 - sf

    errors = [_relative(v) for v in (pdf, cdf, sf)]
    if max(errors) > goal:
        if any(abs(v).upper() < _UNDERFLOW for v in (pdf, cdf, sf)):
            raise NotResolved(f"{alpha=} {beta=} {x=}: underflow")
        missing = max(errors) / goal
        return 2 * bits if missing > 2.0**40 * bits else bits + int(math.log2(missing)) + 8
    dx = dalpha = 0.0
    if slopes:
        rough = 2.0**-8 * abs(pdf) / max(abs(x), 1e-300)
        slope = (
            _integral(lambda w, _: (exponent(w) + 2 * w).exp(), path, small, arb(rough.mid())).imag
            / arb.pi()
        )
        dx = abs(x * float((slope / pdf).mid()))
        if alpha < 2.0:  # the end of the range
            dalpha = _slope_in_alpha(x, alpha, beta, path, small, pdf)
    return Truth(pdf, cdf, sf, max(errors), dx, dalpha)


def _slope_in_alpha(
    x: float, alpha: float, beta: float, path: _Path, small: float, pdf: arb
) -> float:
    """Return alpha |dlogpdf/dalpha|; next to alpha = 1 by a difference under the integral."""
    accuracy = arb((abs(pdf) * 2.0**-6).mid())
    if abs(alpha - 1.0) > _NEAR_ONE:
        middle = _Exponent(x, alpha, beta)
        factor = arb(alpha)

        def function(w: acb, _: Any) -> acb:
            return middle.in_alpha(w) * (middle(w) + w).exp()

    else:
        step = arb(_STEP) * alpha
        low, high = _Exponent(x, arb(alpha) - step, beta), _Exponent(x, arb(alpha) + step, beta)
        factor = 1 / arb(2 * _STEP)

        def function(w: acb, _: Any) -> acb:
            return (high(w) + w).exp() - (low(w) + w).exp()

    slope = _integral(function, path, small, accuracy / factor).real * factor / arb.pi()
    return abs(float((slope / pdf).mid()))


def _relative(value: arb) -> float:
    """Return the relative radius of a ball, infinite if it holds 0."""
    if value.contains(0):
        return math.inf
    return float(value.rad() / abs(value).lower())
