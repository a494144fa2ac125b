"""Piecewise polynomials for one (alpha, beta), made from an exact evaluator."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from hetero.arrays import Workspace
from hetero.devices import Device
from hetero.jit import loops_for
from stablegpu._density.nodes import evaluate as nodes_evaluate
from stablegpu._density.quadrature import evaluate as quadrature_evaluate
from stablegpu._parameters import HalfLine, Parameters, half_lines, zeta

WORTH = {"nodes": 200_000, "quadrature": 20_000}
"""Points from which preparing pays, by the evaluator that would be taken instead."""

SMALLEST_ALPHA = 0.1

_SAFETY = 0.1  # of the spare coefficients against the tolerance: what is cut off is smaller
_SAFETY_OF_QUADRATURES = 0.4  # those are rougher
_CENTRED = 0.1  # within this distance of alpha from 1 the centre is that of S0: zeta may be far out
_MOST_SPLITS = 14
_MOST_SEGMENTS = 20_000
_TINY = 1e-290  # values below have an absolute tolerance
_LOG_CUT = math.log(1e-14)  # of the first term of Taylor's series that is left out
_FAR = 12.0  # log of y^alpha where the tail's series of four terms is exact
_FAR_AT_ONE = 1e40  # there the first term is


@dataclass(frozen=True)
class Interpolation:
    """Settings of the evaluator "polynomials".

    Attributes
    ----------
    tolerance : float
        Largest relative error of pdf, cdf and sf; 1e-13 to 1e-2. Below pdf = 1e-290 the error is
        absolute.
    """

    tolerance: float = 1e-13

    def __post_init__(self):
        if not 1e-13 <= self.tolerance <= 1e-2:
            raise ValueError(f"tolerance must lie in [1e-13, 1e-2], got {self.tolerance!r}")


class InterpolationError(ValueError):
    """The law cannot be interpolated to the tolerance."""


def is_heavy(parameters: Parameters) -> bool:
    """Return whether both tails are power laws, so that nothing underflows at the segments."""
    return parameters.alpha < 2.0 and abs(parameters.beta) < 1.0


@functools.lru_cache(maxsize=32)
def segments_of(alpha: float, beta: float, tolerance: float):
    """The law that is centred and scaled, both `PolynomialHalf`s and the `Segments` in host memory.

    Raises
    ------
    InterpolationError
    """
    from stablegpu._density.polynomials.formulas import Segments

    if alpha < SMALLEST_ALPHA:
        raise InterpolationError(
            f"laws are interpolated for alpha >= {SMALLEST_ALPHA}, got alpha={alpha!r}; "
            f"use the evaluator 'nodes' or 'quadrature'"
        )
    centred = abs(alpha - 1.0) < _CENTRED
    law = Parameters(alpha, beta, 0.0, 1.0, "S0" if centred else "S1")
    halves, parts, cells, rows = [], [], 0, 0
    for sign in (1.0, -1.0):
        polynomial_half, part = _polynomial_half(law, sign, cells, rows, tolerance)
        cells += part.cells.size
        rows += part.starts.size
        halves.append(polynomial_half)
        parts.append(part)
    return law, tuple(halves), Segments(*map(np.concatenate, zip(*parts, strict=True)))


def _polynomial_half(
    law: Parameters, sign: float, first_cell: int, first_row: int, tolerance: float
):
    """Segments of one side of the centre: cells are split until their polynomials converge."""
    from stablegpu._density.polynomials.formulas import SPLIT_BITS, PolynomialHalf, Segments

    side = half_lines(law.alpha, law.beta)[0 if sign > 0.0 else 1]
    to_tail = -sign * zeta(law.alpha, law.beta) if law.parameterization == "S0" else 0.0
    series = _tail_of(law, side, sign)
    floor = _floor(law, side)
    low, high = _cell(floor), _cell(floor + _end(law, side, sign, series[0] > 0.0, to_tail))
    splits, rows = {}, {}
    pending = np.arange(low, high + 1)
    for level in range(_MOST_SPLITS + 1):
        if pending.size << level > _MOST_SEGMENTS:
            break
        converged, fitted = _fitted(law, sign, floor, pending, level, tolerance)
        splits |= dict.fromkeys(pending[converged], level)
        rows |= dict(zip(pending[converged], fitted[converged], strict=True))
        pending = pending[~converged]
        if not pending.size:
            break
    if pending.size:
        raise InterpolationError(
            f"polynomials do not converge for alpha={law.alpha!r}, beta={law.beta!r}; "
            f"use the evaluator 'nodes' or 'quadrature'"
        )
    cells = np.arange(low, high + 1)
    levels = np.array([splits[c] for c in cells])
    starts = first_row + np.cumsum(2**levels) - 2**levels
    edges = [_edges(c, n)[:-1] for c, n in zip(cells, levels, strict=True)]
    table = np.concatenate([rows[c] for c in cells])
    powers = table[:, :-2]
    at_start = powers @ (-1.0) ** np.arange(1, powers.shape[1] + 1)
    # A distance that rounds up to the last edge is no longer in the last cell.
    end = (float(_edge(high + 1)) - floor) * (1.0 - 1e-15)
    last = float(table[-1, -1] - powers[-1].sum())
    polynomial_half = PolynomialHalf(
        floor, low, first_cell, first_row, len(table), end, last, to_tail, law.alpha, *series
    )
    entries = (starts << SPLIT_BITS) | levels
    lows, highs = table[:, -2] + at_start, table[:, -1] - at_start
    if law.beta == 0.0 or law.alpha == 2.0:  # symmetric: the centre is the median
        lows[0] = highs[0] = 0.5
    return polynomial_half, Segments(entries, table.reshape(-1), np.concatenate(edges), lows, highs)


def _cell(a: float) -> int:
    return int(np.float64(a).view(np.int64)) >> 51


def _edge(cell):
    """Lower end of a cell."""
    return np.asarray(np.int64(cell) << 51).view(np.float64)


def _edges(cell, level):
    """Ends of the segments of a cell."""
    return np.linspace(_edge(cell), _edge(cell + 1), 2**level + 1)


def _floor(law: Parameters, side: HalfLine) -> float:
    """Size of the first segments: the law changes on this scale next to the centre."""
    from stablegpu._density.polynomials.formulas import DEGREE

    alpha = law.alpha
    if (
        law.parameterization == "S1"
        and side.g_increases_with_theta
        and side.left_angle == 0.0 < side.length
    ):
        # A light tail ends at zeta: the density underflows closer to it.
        scale = math.exp((math.log(745.0) - nodes_evaluate.log_limit_of(side)) / side.kappa)
    else:
        # Taylor's coefficients at zeta are Gamma(1 + k/alpha)/k! times a sine, all over pi.
        first, second, last = (math.lgamma(1.0 + k / alpha) for k in (1, 2, DEGREE + 2))
        scale = 0.5 * math.exp(first - second)
        converged = _LOG_CUT + math.lgamma(DEGREE + 2) + first - last
        scale = min(scale, 8.0 * math.exp(converged / (DEGREE + 1)))
    return 2.0 ** math.floor(math.log2(scale))


def _end(law: Parameters, side: HalfLine, sign: float, heavy: bool, to_tail: float) -> float:
    """How far segments are needed: to where the tail's series is exact, or nothing is left."""
    if heavy and law.alpha == 1.0:
        return _FAR_AT_ONE
    if heavy:
        return max(math.exp((_FAR - side.log_cos) / law.alpha) - to_tail, 1.0)
    b = 2.0 ** np.arange(-2.0, 60.0)
    return float(b[_exact(law, sign, b)[0] == 0.0][0])


def _tail_of(law: Parameters, side: HalfLine, sign: float) -> tuple[float, ...]:
    if law.alpha == 1.0:
        return (1.0 + sign * law.beta) / math.pi, 0.0, 0.0, 0.0
    return nodes_evaluate.tail_of(side)


def _exact(law: Parameters, sign: float, b):
    """pdf, low and high at distances b on one side of the centre, by nodes or quadrature."""
    x = sign * b.reshape(-1)
    names = ("pdf", "cdf", "sf") if sign > 0.0 else ("pdf", "sf", "cdf")
    outputs = {name: np.empty(x.size) for name in names}
    work = Workspace(Device("cpu"))
    if nodes_evaluate.has_nodes(law.alpha):
        nodes_evaluate.evaluate_flat(x, law, outputs, work)
    else:
        quadrature_evaluate.evaluate_flat(x, law, outputs | {"error": np.empty(x.size)}, work)
    return tuple(outputs[name].reshape(b.shape) for name in names)


@functools.cache
def _transforms(degree: int, points: int):
    """Chebyshev points, values -> coefficients of T_k, coefficients of T_k -> powers of t."""
    angle = np.pi * (np.arange(points) + 0.5) / points
    t = np.cos(angle)
    t[points // 2] = 0.0
    to_chebyshev = 2.0 / points * np.cos(np.outer(np.arange(points), angle))
    to_chebyshev[0] *= 0.5
    to_powers = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        to_powers[k, : k + 1] = np.polynomial.chebyshev.cheb2poly(np.eye(degree + 1)[k])[: k + 1]
    return t, to_chebyshev, to_powers


def _fitted(law: Parameters, sign: float, floor: float, cells, level: int, tolerance: float):
    """Return whether each cell's polynomials on 2^level segments converge, and their rows."""
    from stablegpu._density.polynomials.formulas import DEGREE, POINTS

    t, to_chebyshev, to_powers = _transforms(DEGREE, POINTS)
    edges = np.array([_edges(cell, level) for cell in cells])
    half = 0.5 * np.diff(edges)[..., None]
    a = 0.5 * (edges[:, :-1] + edges[:, 1:])[..., None] + half * t
    # a - floor < 0 does not occur but by the points outside the first cell.
    pdf, low, high = _exact(law, sign, np.maximum(a - floor, 0.0))
    series = pdf @ to_chebyshev.T
    remainder = np.abs(series[..., DEGREE:]).sum(axis=-1)
    smallest = np.maximum(pdf.min(axis=-1), _TINY * max(1.0, 1.0 / floor))
    # Far out in a light tail, where log pdf is large, its rounding is what the values differ by.
    tolerance *= _SAFETY if nodes_evaluate.has_nodes(law.alpha) else _SAFETY_OF_QUADRATURES
    ok = remainder <= tolerance * smallest * (1.0 - 0.1 * np.log(np.minimum(smallest, 1.0)))
    # pdf in powers of t, integrated over t.
    powers = series[..., : DEGREE + 1] @ to_powers * half / np.arange(1, DEGREE + 2)
    middle = POINTS // 2
    rows = np.concatenate([powers, low[..., middle, None], high[..., middle, None]], axis=-1)
    return ok.all(axis=-1), rows


def evaluate_flat(
    points,
    parameters: Parameters,
    outputs: dict,
    work: Workspace,
    settings: Interpolation = Interpolation(),
) -> None:
    """pdf, cdf, sf as named in `outputs` at flat arrays in the workspace."""
    law, halves, segments = segments_of(parameters.alpha, parameters.beta, settings.tolerance)
    mantissa, exponent = math.frexp(parameters.scale)
    names = ("pdf", "cdf", "sf")
    unwanted = None if all(name in outputs for name in names) else work.output((0,))
    loops_for("stablegpu._density.polynomials", work.device).evaluate(
        points,
        parameters.loc,
        math.ldexp(1.0, -exponent),
        1.0 / mantissa,
        *_shift(law, parameters),
        *halves,
        segments,
        tuple(outputs.get(name, unwanted) for name in names),
        work.stream,
    )


def invert_flat(p, upper: bool, parameters: Parameters, x, work: Workspace, settings) -> None:
    """Quantiles of flat p in the workspace, to x."""
    law, halves, segments = segments_of(parameters.alpha, parameters.beta, settings.tolerance)
    loops_for("stablegpu._density.polynomials", work.device).invert(
        p,
        upper,
        parameters.loc,
        parameters.scale,
        *_shift(law, parameters),
        *parameters.support,
        *halves,
        segments,
        x,
        work.stream,
    )


def _shift(law: Parameters, parameters: Parameters) -> tuple[float, float]:
    """Offset, in two parts, that is subtracted from (x - loc)/scale to center it."""
    if law.parameterization == parameters.parameterization and law.alpha != 1.0:
        return 0.0, 0.0
    sign = 1.0 if parameters.parameterization == "S0" else -1.0
    return tuple(sign * part for part in parameters.offset)
