"""Loops that lay out the nodes of both sides on the CPU, in a fraction of a millisecond."""

import math
from typing import Any

import numpy as np

from hetero.jit import scalar, serial
from stablegpu._density.half_line import HalfLine
from stablegpu._density.nodes.formulas import FIRST_OCTAVE, OCTAVES, Nodes
from stablegpu._density.nodes.rule import NODES
from stablegpu._density.nolan_formulas import distances, log_rise, log_v_of_sines, make_sines, sines
from stablegpu._numerics.trigonometry_formulas import sine

_LEAST, _MOST = -670.0, 700.0  # of log U
_T = 690.0
_BISECTIONS = 60


@scalar
def _same(x: float) -> float:
    """Return x."""
    return x


_angles: Any = make_sines(_same)  # type: ignore[no-untyped-call]
"""Angles whose sines `sines` returns, and eta."""


@serial
def solve_t(
    log_us: tuple[tuple[float, float], tuple[float, float]],
    limits: tuple[float, float],
    sides: tuple[HalfLine, HalfLine],
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Solve log U(t) = log_u for t by bisection, for two values on each side.

    The four searches take turns: each step waits for the one before, but not for those of others.
    """
    low, high = np.full((2, 2), -_T), np.full((2, 2), _T)
    for _ in range(_BISECTIONS):
        for k in range(2):
            for j in range(2):
                t = 0.5 * (low[k, j] + high[k, j])
                below = log_value(t, limits[k], sides[k]) < log_us[k][j]
                if below == sides[k].g_increases_with_theta:
                    low[k, j] = t
                else:
                    high[k, j] = t
    t = 0.5 * (low + high)
    return (t[0, 0], t[0, 1]), (t[1, 0], t[1, 1])


@serial
def log_value(t: float, limit: float, side: HalfLine) -> float:
    """Return log U at t; `limit` is V_0."""
    p, r = distances(t, side)
    return _log_value_of(p, r, sines(p, r, side), limit, side)


@serial
def _log_value_of(
    p: float, r: float, sines_: tuple[float, float, float, float], limit: float, side: HalfLine
) -> float:
    """Return log U at the distances p and r from the ends, given the sines there."""
    x = p if side.g_increases_with_theta else r
    if limit > 0.0 and x < 0.5:
        relative_rise = math.expm1(log_rise(x, side))
        return math.log(limit * relative_rise) if relative_rise > 0.0 else -math.inf
    log_v_ = side.log_scale + log_v_of_sines(p, sines_, side)
    if limit > 0.0:
        return math.log(math.exp(log_v_) - limit) if log_v_ < _MOST else log_v_
    return log_v_


@serial
def lay_out(
    nodes: Nodes,
    blocks: tuple[int, int],
    grids: tuple[tuple[float, ...], tuple[float, ...]],
    sides: tuple[HalfLine, HalfLine],
) -> None:
    """Write the nodes of both sides, their moments and their windows.

    Parameters
    ----------
    nodes : arrays of both sides, each of which ends with one block more than it has nodes, of zeros
    blocks : number of blocks with nodes of each side; 0 for a half-line outside of the support
    grids : for each side, start and step of the nodes' values of t, where steps may be negative;
        V_0, or 0; and the g above which e^-g is left out
    """
    middle = blocks[0] + 1
    _lay_out_side(_blocks_of(nodes, 0, middle), 0, 0, grids[0], sides[0])
    end = middle + blocks[1] + 1
    _lay_out_side(_blocks_of(nodes, middle, end), middle, OCTAVES, grids[1], sides[1])


@serial
def _blocks_of(nodes: Nodes, begin: int, end: int) -> Nodes:
    """Return a range of blocks; the arrays by octave remain those of both sides."""
    values = nodes.values[begin * NODES.block : end * NODES.block]
    weights = nodes.weights[begin * NODES.block : end * NODES.block]
    moments, largest = nodes.moments[begin:end], nodes.largest[begin:end]
    return Nodes(
        values, weights, moments, largest, nodes.beyond[begin:end], nodes.first, nodes.last
    )


@serial
def _lay_out_side(
    nodes: Nodes, first_block: int, octave: int, grid: tuple[float, ...], side: HalfLine
) -> None:
    """Write the nodes of one side, whose blocks and octaves begin with these numbers."""
    size = nodes.values.size - NODES.block
    values, weights = nodes.values[:size], nodes.weights[:size]
    nodes.values[size:] = 0.0
    nodes.weights[size:] = 0.0
    if size == 0:
        nodes.moments[:] = 0.0
        nodes.largest[:] = 0.0
        nodes.beyond[:] = 0.0
        nodes.first[octave : octave + OCTAVES] = first_block
        nodes.last[octave : octave + OCTAVES] = first_block
        return
    start, step, limit, most_g = grid
    _compute_nodes(values, weights, start, step, limit, side)
    _sum_weights(nodes.beyond, weights, _sum_weights_beyond(start + size * step, step, side))
    _find_windows(nodes.first, nodes.last, first_block, octave, values, most_g)
    _compute_moments(nodes.moments, nodes.largest, nodes.values, nodes.weights)


@serial
def _compute_nodes(
    values: np.ndarray, weights: np.ndarray, start: float, step: float, limit: float, side: HalfLine
) -> None:
    """Compute U and weights at equidistant values of t from `start` on.

    The sines, which are polynomials, have a loop of their own, which becomes vector instructions.
    """
    p, r, eta = np.empty((3, values.size))
    angles = np.empty((3, values.size))
    for i in range(values.size):
        p[i], r[i] = distances(start + i * step, side)
        angles[0, i], angles[1, i], angles[2, i], eta[i] = _angles(p[i], r[i], side)
        weights[i] = abs(step) * p[i] * r[i] / side.length
    _replace_by_sines(angles.reshape(-1))
    for i in range(values.size):
        sines_ = angles[0, i], angles[1, i], angles[2, i], eta[i]
        log_value = _log_value_of(p[i], r[i], sines_, limit, side)
        values[i] = math.exp(min(max(log_value, _LEAST), _MOST))


@serial
def _replace_by_sines(angles: np.ndarray) -> None:
    """Replace angles by their sines."""
    for i in range(angles.size):
        angles[i] = sine(angles[i])


@serial
def _sum_weights_beyond(start: float, step: float, side: HalfLine) -> float:
    """Return the sum of the weights from `start` on to the end of the line."""
    total, weight = 0.0, 1.0
    t = start
    while weight > 1e-18 * total and abs(t) < _T:
        p, r = distances(t, side)
        weight = abs(step) * p * r / side.length
        total += weight
        t += step
    return total


@serial
def _sum_weights(beyond: np.ndarray, weights: np.ndarray, tail: float) -> None:
    """Write the sum of the weights from each block on; `tail` is that behind all nodes."""
    total = tail
    beyond[-1] = total
    for b in range(beyond.size - 2, -1, -1):
        w = weights[b * NODES.block : (b + 1) * NODES.block]
        total += ((w[0] + w[1]) + (w[2] + w[3])) + ((w[4] + w[5]) + (w[6] + w[7]))
        beyond[b] = total


@serial
def _find_windows(
    first: np.ndarray,
    last: np.ndarray,
    first_block: int,
    octave: int,
    values: np.ndarray,
    most_g: float,
) -> None:
    """Write the first block of the window of each octave of Y, and the block behind its last."""
    blocks = values.size // NODES.block
    below = above = values.size  # number of nodes before the window, and before its end
    scale = math.ldexp(1.0, -FIRST_OCTAVE)
    for row in range(OCTAVES):  # the larger Y, the smaller are U in the window
        least, most = NODES.smallest_g * (0.5 * scale), most_g * scale
        scale *= 0.5
        while below > 0 and values[below - 1] > least:
            below -= 1
        while above > 0 and values[above - 1] >= most:
            above -= 1
        begin = min(below // NODES.block, blocks - 1)
        end = max(-(-above // NODES.block), begin + 1)
        first[octave + row] = first_block + begin
        last[octave + row] = first_block + end


@serial
def _compute_moments(
    series: np.ndarray, largest: np.ndarray, values: np.ndarray, weights: np.ndarray
) -> None:
    """Write the largest value u before each block, and sum w (U/u)^k (-1)^k / k! before it."""
    sums = np.zeros(NODES.terms)
    u = values[0]
    for b in range(largest.size):
        if b > 0:
            last = values[b * NODES.block - 1]
            ratio = u / last
            power = 1.0
            for k in range(NODES.terms):
                sums[k] *= power
                power *= ratio
            u = last
            for i in range((b - 1) * NODES.block, b * NODES.block):
                ratio = values[i] / u
                power = weights[i]
                for k in range(NODES.terms):
                    sums[k] += power
                    power *= ratio
        factor = 1.0
        for k in range(NODES.terms):
            series[b, k] = sums[k] * factor
            factor /= -(k + 1)
        largest[b] = u
