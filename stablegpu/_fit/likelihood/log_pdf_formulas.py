"""log pdf of a point and its derivatives from the nodes of a distribution
(`_fit/likelihood/node_formulas.py`)."""

import math

import numpy as np

from hetero.jit import FUSED, SUMS, scalar_internal
from stablegpu._fit.likelihood.half_line_formulas import (
    COUNT,
    FIELDS,
    FIRST,
    FRONT_A,
    HIGHEST,
    KAPPA,
    KAPPA_A,
    LENGTH,
    LENGTH_A,
    LENGTH_B,
    LOG_FRONT,
    LOG_SCALE,
    LOG_SCALE_A,
    LOG_SCALE_B,
    LOWEST,
    MOST,
    TAIL,
)
from stablegpu._fit.likelihood.node_formulas import BELOW, BLOCK, BLOCKS, CAPACITY, TERMS
from stablegpu._numerics.exponential_formulas import exp_minus_quickly


@scalar_internal(fastmath=SUMS)
def _window(level, least, start, stop, nodes):
    """Return four sums over nodes: of f = w g e^-(g - least) and three products with f.

    The products are f (1 - g), f (1 - g) dlogV/dalpha and f (1 - g) dlogV/dbeta.
    """
    s = c = a = b = 0.0
    for j in range(np.uint64(start), np.uint64(stop)):
        g = level * nodes[j]
        term = nodes[j + np.uint64(CAPACITY)] * g * exp_minus_quickly(g - least)
        slope = term - term * g
        s += term
        c += slope
        a += slope * nodes[j + np.uint64(2 * CAPACITY)]
        b += slope * nodes[j + np.uint64(3 * CAPACITY)]
    return s, c, a, b


@scalar_internal(fastmath=SUMS)
def _total(level, least, start, stop, nodes):
    """Return the first sum of `_window` alone."""
    s = 0.0
    for j in range(np.uint64(start), np.uint64(stop)):
        g = level * nodes[j]
        s += nodes[j + np.uint64(CAPACITY)] * g * exp_minus_quickly(g - least)
    return s


@scalar_internal(fastmath=FUSED)
def _search(level_u, distribution, k, nodes):
    """Return the first block of side k whose largest V exceeds `level_u`; the last if none does."""
    low = int(distribution[k * FIELDS + FIRST])
    high = low + int(distribution[k * FIELDS + COUNT]) // BLOCK - 1
    while low < high:
        middle = (low + high) // 2
        if nodes[middle * BLOCK + BLOCK - 1] < level_u:
            low = middle + 1
        else:
            high = middle
    return low


@scalar_internal(fastmath=FUSED)
def _blocks_of(level, distribution, k, nodes):
    """Return the side's first block, the first and last in which g matters, and the least g."""
    side = distribution[k * FIELDS : (k + 1) * FIELDS]
    first = int(side[FIRST])
    block = _search(BELOW / level, distribution, k, nodes)
    last = _search((side[MOST] + level * nodes[first * BLOCK]) / level, distribution, k, nodes)
    least = level * nodes[block * BLOCK] if block == first else 0.0
    return first, block, last, least


@scalar_internal(fastmath=FUSED)
def _tail(y, side, alpha):
    """Return log pdf and its derivatives by y, alpha, beta where the tail's series is exact."""
    log_y = math.log(y)
    z = math.exp(-alpha * log_y)
    c1, c2, c3 = side[TAIL], side[TAIL + 1] * z, side[TAIL + 2] * z * z
    total = c1 + c2 + c3
    moment = (c1 + 2.0 * c2 + 3.0 * c3) / total
    by_a = (side[TAIL + 3] + (side[TAIL + 4] + side[TAIL + 5] * z) * z) / total
    by_b = (side[TAIL + 6] + (side[TAIL + 7] + side[TAIL + 8] * z) * z) / total
    value = math.log(alpha * total) - (alpha + 1.0) * log_y
    by_a += 1.0 / alpha - moment * log_y
    return value, -(1.0 + alpha * moment) / y, by_a, by_b


@scalar_internal(fastmath=FUSED)
def one_side(y, distribution, k, nodes, series, alpha):
    """Return log pdf and its derivatives by y, alpha and the beta of this side."""
    side = distribution[k * FIELDS : (k + 1) * FIELDS]
    if not side[LENGTH] > 0.0:
        return -np.inf, 0.0, 0.0, 0.0
    if y > side[HIGHEST]:
        return _tail(y, side, alpha)
    near = y < side[LOWEST]
    y = max(y, side[LOWEST])
    log_y = math.log(y)
    log_level = side[KAPPA] * log_y + side[LOG_SCALE]
    if log_level > 700.0:
        return -np.inf, 0.0, 0.0, 0.0
    level = math.exp(log_level)
    first, block, last, least = _blocks_of(level, distribution, k, nodes)
    s, c, a, b = _window(level, least, block * BLOCK, (last + 1) * BLOCK, nodes)
    if block > first:
        z = level * nodes[block * BLOCK - 1]
        factor = z
        for n in range(TERMS):
            entry = n * BLOCKS + block - 1
            m = factor * series[entry]
            s += m
            c += (n + 1) * m
            a += (n + 1) * factor * series[TERMS * BLOCKS + entry]
            b += (n + 1) * factor * series[2 * TERMS * BLOCKS + entry]
            factor *= -z / (n + 1)
    c, a, b = c / s, a / s, b / s
    value = side[LOG_FRONT] - log_y + math.log(s) - least
    by_y = 0.0 if near else (side[KAPPA] * c - 1.0) / y
    by_a = side[FRONT_A] + side[LENGTH_A] / side[LENGTH] + a
    by_a += (side[KAPPA_A] * log_y + side[LOG_SCALE_A]) * c
    by_b = side[LENGTH_B] / side[LENGTH] + side[LOG_SCALE_B] * c + b
    return value, by_y, by_a, by_b


@scalar_internal
def log_pdf(y, distribution, nodes, series, alpha):
    """Return log pdf of the standard distribution at a distance y from zeta, and its derivatives.

    They are those by y, alpha and beta; y stays where alpha and beta change.
    """
    k = 0 if y >= 0.0 else 1
    value, by_y, by_a, by_b = one_side(abs(y), distribution, k, nodes, series, alpha)
    if k == 1:
        return value, -by_y, by_a, -by_b
    return value, by_y, by_a, by_b


@scalar_internal(fastmath=FUSED)
def log_pdf_alone(y, distribution, nodes, series, alpha):
    """Return the value of `log_pdf` without derivatives."""
    k = 0 if y >= 0.0 else 1
    side = distribution[k * FIELDS : (k + 1) * FIELDS]
    y = abs(y)
    if not side[LENGTH] > 0.0:
        return -np.inf
    if y > side[HIGHEST]:
        return _tail(y, side, alpha)[0]
    log_y = math.log(max(y, side[LOWEST]))
    log_level = side[KAPPA] * log_y + side[LOG_SCALE]
    if log_level > 700.0:
        return -np.inf
    level = math.exp(log_level)
    first, block, last, least = _blocks_of(level, distribution, k, nodes)
    s = _total(level, least, block * BLOCK, (last + 1) * BLOCK, nodes)
    if block > first:
        z = level * nodes[block * BLOCK - 1]
        factor = z
        for n in range(TERMS):
            s += factor * series[n * BLOCKS + block - 1]
            factor *= -z / (n + 1)
    return side[LOG_FRONT] - log_y + math.log(s) - least
