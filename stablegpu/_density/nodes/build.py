"""Loops that prepare the nodes of one side on the CPU, in a fraction of a millisecond."""

import math

import numpy as np

from hetero.jit import serial
from stablegpu._density.half_line import HalfLine
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
def compute_nodes(
    start: float, step: float, size: int, limit: float, side: HalfLine
) -> tuple[np.ndarray, np.ndarray]:
    """Compute U and weights at `size` values of t from `start` on; steps may be negative."""
    values, weights = np.empty(size), np.empty(size)
    for i in range(size):
        t = start + i * step
        p, r = distances(t, side)
        values[i] = math.exp(min(max(log_value(t, limit, side), _LEAST), _MOST))
        weights[i] = abs(step) * p * r / side.length
    return values, weights


@serial
def sum_weights_beyond(start: float, step: float, side: HalfLine) -> float:
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
def compute_moments(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest value u before each block, and sum w (U/u)^k (-1)^k / k! before it."""
    blocks = values.size // NODES.block
    series, largest = np.zeros((blocks, NODES.terms)), np.zeros(blocks)
    sums = np.zeros(NODES.terms)
    u = values[0]
    for b in range(blocks):
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
    return series, largest
