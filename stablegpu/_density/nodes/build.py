"""Loops that lay out the nodes of one side on the CPU, in a fraction of a millisecond."""

import math

import numpy as np

from hetero.jit import serial
from stablegpu._density.half_line import HalfLine
from stablegpu._density.nodes.formulas import FIRST_OCTAVE, OCTAVES, Nodes
from stablegpu._density.nodes.rule import NODES
from stablegpu._density.nolan_formulas import distances, log_rise, log_v

_LEAST, _MOST = -670.0, 700.0  # of log U
_T = 690.0
_BISECTIONS = 60


@serial
def solve_t(log_u: float, limit: float, side: HalfLine) -> float:
    """Solve log U(t) = log_u for t by bisection."""
    low, high = -_T, _T
    for _ in range(_BISECTIONS):
        t = 0.5 * (low + high)
        if (log_value(t, limit, side) < log_u) == side.g_increases_with_theta:
            low = t
        else:
            high = t
    return 0.5 * (low + high)


@serial
def log_value(t: float, limit: float, side: HalfLine) -> float:
    """Return log U at t; `limit` is V_0."""
    p, r = distances(t, side)
    x = p if side.g_increases_with_theta else r
    if limit > 0.0 and x < 0.5:
        relative_rise = math.expm1(log_rise(x, side))
        return math.log(limit * relative_rise) if relative_rise > 0.0 else -math.inf
    log_v_ = side.log_scale + log_v(p, r, side)
    if limit > 0.0:
        return math.log(math.exp(log_v_) - limit) if log_v_ < _MOST else log_v_
    return log_v_


@serial
def lay_out(
    nodes: Nodes,
    first_block: int,
    octave: int,
    start: float,
    step: float,
    limit: float,
    most_g: float,
    side: HalfLine,
) -> None:
    """Write the nodes of one side, their moments and their windows.

    Parameters
    ----------
    nodes : arrays of this side, which end with one block more than there are nodes, of zeros; its
        arrays by octave are those of both sides
    first_block : number of this side's first block among those of both sides
    octave : row of this side's first octave
    start, step : values of t of the nodes; steps may be negative
    limit : V_0, or 0
    most_g : g above which e^-g is left out
    """
    size = nodes.values.size - NODES.block
    values, weights = nodes.values[:size], nodes.weights[:size]
    nodes.values[size:] = 0.0
    nodes.weights[size:] = 0.0
    _compute_nodes(values, weights, start, step, limit, side)
    _sum_weights(nodes.beyond, weights, _sum_weights_beyond(start + size * step, step, side))
    _find_windows(nodes.first, nodes.last, first_block, octave, values, most_g)
    _compute_moments(nodes.moments, nodes.largest, nodes.values, nodes.weights)


@serial
def _compute_nodes(
    values: np.ndarray,
    weights: np.ndarray,
    start: float,
    step: float,
    limit: float,
    side: HalfLine,
) -> None:
    """Compute U and weights at equidistant values of t from `start` on."""
    for i in range(values.size):
        t = start + i * step
        p, r = distances(t, side)
        values[i] = math.exp(min(max(log_value(t, limit, side), _LEAST), _MOST))
        weights[i] = abs(step) * p * r / side.length


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
    for row in range(OCTAVES):  # the larger Y, the smaller are U in the window
        exponent = -(row + FIRST_OCTAVE)
        least = NODES.smallest_g * math.ldexp(1.0, exponent - 1)
        most = most_g * math.ldexp(1.0, exponent)
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
