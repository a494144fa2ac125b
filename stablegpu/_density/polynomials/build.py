"""Piecewise polynomials for one (alpha, beta), made from an exact evaluator."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.arrays import Workspace
from hetero.devices import Device
from stablegpu._density.half_line import HalfLine, half_lines
from stablegpu._density.nodes import evaluate as nodes_evaluate
from stablegpu._density.quadrature import evaluate as quadrature_evaluate
from stablegpu._density.tails.heavy_series import (
    FAR_LOG,
    log_limit_of_light_tail,
    tail_coefficients,
)
from stablegpu._parameters import Parameters, zeta
from stablegpu.evaluators import InterpolationError, Quadrature

if TYPE_CHECKING:
    from stablegpu._density.polynomials.formulas import PolynomialHalf, Segments

SMALLEST_ALPHA = 0.1

_SAFETY = 0.1  # bound of the last coefficients over the tolerance: the omitted ones are smaller
_SAFETY_OF_QUADRATURES = 0.4  # those are rougher
_CENTRED = 0.1  # within this distance of alpha from 1 the centre is that of S0: zeta may be far out
_MOST_SPLITS = 14
_MOST_SEGMENTS = 20_000
_TINY = 1e-290  # values below have an absolute tolerance
_LOG_CUT = math.log(1e-14)  # of the first term of Taylor's series that is left out
_FAR_AT_ONE = 1e40  # there the first term is


@functools.lru_cache(maxsize=32)
def segments_of(
    alpha: float, beta: float, tolerance: float
) -> tuple[Parameters, tuple[PolynomialHalf, ...], Segments]:
    """Return the centred distribution, both its halves, and the segments in host memory.

    Raises
    ------
    InterpolationError
    """
    from stablegpu._density.polynomials.formulas import Segments

    if alpha < SMALLEST_ALPHA:
        raise InterpolationError(
            f"distributions are interpolated for alpha >= {SMALLEST_ALPHA}, got alpha={alpha!r}; "
            f"use the evaluator 'nodes' or 'quadrature'"
        )
    centred = abs(alpha - 1.0) < _CENTRED
    standard = Parameters(alpha, beta, 0.0, 1.0, "S0" if centred else "S1")
    halves, parts, cells, rows = [], [], 0, 0
    for sign in (1.0, -1.0):
        polynomial_half, part = _polynomial_half(standard, sign, cells, rows, tolerance)
        cells += part.cells.size
        rows += part.starts.size
        halves.append(polynomial_half)
        parts.append(part)
    return standard, tuple(halves), Segments(*map(np.concatenate, zip(*parts, strict=True)))


def _polynomial_half(
    standard: Parameters, sign: float, first_cell: int, first_row: int, tolerance: float
) -> tuple[PolynomialHalf, Segments]:
    """Return the segments of one side of the centre; cells are split until they converge."""
    from stablegpu._density.polynomials.formulas import SPLIT_BITS, PolynomialHalf, Segments

    side = half_lines(standard.alpha, standard.beta)[0 if sign > 0.0 else 1]
    to_tail = (
        -sign * zeta(standard.alpha, standard.beta) if standard.parameterization == "S0" else 0.0
    )
    series = _tail_coefficients_of(standard, side, sign)
    floor = _floor(standard, side)
    low, high = _cell(floor), _cell(floor + _end(standard, side, sign, series[0] > 0.0, to_tail))
    splits: dict[Any, int] = {}
    rows: dict[Any, np.ndarray] = {}
    pending = np.arange(low, high + 1)
    for level in range(_MOST_SPLITS + 1):
        if pending.size << level > _MOST_SEGMENTS:
            break
        converged, fitted = _fit_cells(standard, sign, floor, pending, level, tolerance)
        splits |= dict.fromkeys(pending[converged], level)
        rows |= dict(zip(pending[converged], fitted[converged], strict=True))
        pending = pending[~converged]
        if not pending.size:
            break
    if pending.size:
        raise InterpolationError(
            f"polynomials do not converge for alpha={standard.alpha!r}, beta={standard.beta!r}; "
            f"use the evaluator 'nodes' or 'quadrature'"
        )
    cells = np.arange(low, high + 1)
    levels = np.array([splits[c] for c in cells])
    starts = first_row + np.cumsum(2**levels) - 2**levels
    edges = [_edges(int(c), n)[:-1] for c, n in zip(cells, levels, strict=True)]
    table = np.concatenate([rows[c] for c in cells])
    powers = table[:, :-2]
    at_start = powers @ (-1.0) ** np.arange(1, powers.shape[1] + 1)
    # A distance that rounds up to the last edge is no longer in the last cell.
    end = (float(_edge(high + 1)) - floor) * (1.0 - 1e-15)
    last = float(table[-1, -1] - powers[-1].sum())
    polynomial_half = PolynomialHalf(
        floor, low, first_cell, first_row, len(table), end, last, to_tail, standard.alpha, *series
    )
    entries = (starts << SPLIT_BITS) | levels
    lows, highs = table[:, -2] + at_start, table[:, -1] - at_start
    if standard.beta == 0.0 or standard.alpha == 2.0:  # symmetric: the centre is the median
        lows[0] = highs[0] = 0.5
    return polynomial_half, Segments(entries, table.reshape(-1), np.concatenate(edges), lows, highs)


def _cell(a: float) -> int:
    return int(np.float64(a).view(np.int64)) >> 51


def _edge(cell: int) -> np.ndarray:
    """Return the lower end of a cell."""
    return np.asarray(np.int64(cell) << 51).view(np.float64)


def _edges(cell: int, level: int) -> np.ndarray:
    """Return the ends of the segments of a cell."""
    return np.linspace(_edge(cell), _edge(cell + 1), 2**level + 1)


def _floor(standard: Parameters, side: HalfLine) -> float:
    """Return the size of the first segments: the scale of changes next to the centre."""
    from stablegpu._density.polynomials.formulas import DEGREE

    alpha = standard.alpha
    if (
        standard.parameterization == "S1"
        and side.g_increases_with_theta
        and side.left_angle == 0.0 < side.length
    ):
        # A light tail ends at zeta: the density underflows closer to it.
        scale = math.exp((math.log(745.0) - log_limit_of_light_tail(side)) / side.kappa)
    else:
        # Taylor's coefficients at zeta are Gamma(1 + k/alpha)/k! times a sine, all over pi.
        first, second, last = (math.lgamma(1.0 + k / alpha) for k in (1, 2, DEGREE + 2))
        scale = 0.5 * math.exp(first - second)
        converged = _LOG_CUT + math.lgamma(DEGREE + 2) + first - last
        scale = min(scale, 8.0 * math.exp(converged / (DEGREE + 1)))
    return 2.0 ** math.floor(math.log2(scale))


def _end(standard: Parameters, side: HalfLine, sign: float, heavy: bool, to_tail: float) -> float:
    """Return how far segments are needed: until the tail's series is exact, or pdf vanishes."""
    if heavy and standard.alpha == 1.0:
        return _FAR_AT_ONE
    if heavy:
        return max(math.exp((FAR_LOG - side.log_cos) / standard.alpha) - to_tail, 1.0)
    b = 2.0 ** np.arange(-2.0, 60.0)
    return float(b[_exact(standard, sign, b)[0] == 0.0][0])


def _tail_coefficients_of(standard: Parameters, side: HalfLine, sign: float) -> tuple[float, ...]:
    if standard.alpha == 1.0:
        return (1.0 + sign * standard.beta) / math.pi, 0.0, 0.0, 0.0
    return tail_coefficients(side)


def _exact(standard: Parameters, sign: float, b: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return pdf, low and high at distances b on one side of the centre, by nodes or quadrature."""
    x = sign * b.reshape(-1)
    names = ("pdf", "cdf", "sf") if sign > 0.0 else ("pdf", "sf", "cdf")
    outputs = {name: np.empty(x.size) for name in names}
    workspace = Workspace(Device("cpu"))
    if nodes_evaluate.has_nodes(standard.alpha):
        nodes_evaluate.evaluate_flat(x, standard, outputs, workspace)
    else:
        outputs["error"] = np.empty(x.size)
        quadrature_evaluate.evaluate_flat(x, standard, outputs, workspace, Quadrature())
    return tuple(outputs[name].reshape(b.shape) for name in names)


@functools.cache
def _transforms(degree: int, points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Chebyshev points and two matrices.

    They map values to coefficients of T_k, and those to coefficients of powers of t.
    """
    angle = np.pi * (np.arange(points) + 0.5) / points
    t = np.cos(angle)
    t[points // 2] = 0.0
    to_chebyshev = 2.0 / points * np.cos(np.outer(np.arange(points), angle))
    to_chebyshev[0] *= 0.5
    to_powers = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        to_powers[k, : k + 1] = np.polynomial.chebyshev.cheb2poly(np.eye(degree + 1)[k])[: k + 1]
    return t, to_chebyshev, to_powers


def _fit_cells(
    standard: Parameters, sign: float, floor: float, cells: np.ndarray, level: int, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each cell's polynomials on 2^level segments converge, and their rows."""
    from stablegpu._density.polynomials.formulas import DEGREE, POINTS

    t, to_chebyshev, to_powers = _transforms(DEGREE, POINTS)
    edges = np.array([_edges(cell, level) for cell in cells])
    half = 0.5 * np.diff(edges)[..., None]
    a = 0.5 * (edges[:, :-1] + edges[:, 1:])[..., None] + half * t
    # a - floor < 0 does not occur but by the points outside the first cell.
    pdf, low, high = _exact(standard, sign, np.maximum(a - floor, 0.0))
    series = pdf @ to_chebyshev.T
    remainder = np.abs(series[..., DEGREE:]).sum(axis=-1)
    smallest = np.maximum(pdf.min(axis=-1), _TINY * max(1.0, 1.0 / floor))
    # Far out in a light tail log pdf is large, and its rounding decides the values' differences.
    tolerance *= _SAFETY if nodes_evaluate.has_nodes(standard.alpha) else _SAFETY_OF_QUADRATURES
    ok = remainder <= tolerance * smallest * (1.0 - 0.1 * np.log(np.minimum(smallest, 1.0)))
    # pdf in powers of t, integrated over t.
    powers = series[..., : DEGREE + 1] @ to_powers * half / np.arange(1, DEGREE + 2)
    middle = POINTS // 2
    rows = np.concatenate([powers, low[..., middle, None], high[..., middle, None]], axis=-1)
    return ok.all(axis=-1), rows
