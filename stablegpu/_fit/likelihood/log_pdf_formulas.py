"""log pdf of a point and its derivatives from the nodes of a distribution
(`_fit/likelihood/node_formulas.py`)."""

import math

import numpy as np

from hetero.jit import FUSED, SUMS, scalar_internal
from stablegpu._fit.likelihood.node_formulas import BLOCKS
from stablegpu._fit.likelihood.rule import FIT
from stablegpu._numerics.exponential_formulas import exp_minus_quickly


@scalar_internal(fastmath=SUMS)
def _window(level, least, start, stop, nodes):
    """Return four sums over nodes: of f = w g e^-(g - least) and three products with f.

    The products are f (1 - g), f (1 - g) dlogV/dalpha and f (1 - g) dlogV/dbeta.
    """
    s = c = a = b = 0.0
    for j in range(np.uint64(start), np.uint64(stop)):
        g = level * nodes[j]
        term = nodes[j + np.uint64(FIT.capacity)] * g * exp_minus_quickly(g - least)
        slope = term - term * g
        s += term
        c += slope
        a += slope * nodes[j + np.uint64(2 * FIT.capacity)]
        b += slope * nodes[j + np.uint64(3 * FIT.capacity)]
    return s, c, a, b


@scalar_internal(fastmath=SUMS)
def _total(level, least, start, stop, nodes):
    """Return the first sum of `_window` alone."""
    s = 0.0
    for j in range(np.uint64(start), np.uint64(stop)):
        g = level * nodes[j]
        s += nodes[j + np.uint64(FIT.capacity)] * g * exp_minus_quickly(g - least)
    return s


@scalar_internal(fastmath=FUSED)
def _search(level_u, side, nodes):
    """Return the first block of a side whose largest V exceeds `level_u`; the last if none does."""
    low = side.first_block
    high = low + side.count // FIT.block - 1
    while low < high:
        middle = (low + high) // 2
        if nodes[middle * FIT.block + FIT.block - 1] < level_u:
            low = middle + 1
        else:
            high = middle
    return low


@scalar_internal(fastmath=FUSED)
def _blocks_of(level, side, nodes):
    """Return the side's first block, the first and last in which g matters, and the least g."""
    first = side.first_block
    block = _search(FIT.smallest_g / level, side, nodes)
    last = _search((side.largest_g + level * nodes[first * FIT.block]) / level, side, nodes)
    least = level * nodes[block * FIT.block] if block == first else 0.0
    return first, block, last, least


@scalar_internal(fastmath=FUSED)
def _tail(y, side):
    """Return log pdf and its derivatives by y, alpha, beta where the tail's series is exact."""
    alpha, tail, log_y = side.alpha, side.tail, math.log(y)
    z = math.exp(-alpha * log_y)
    c1, c2, c3 = tail[0, 0], tail[0, 1] * z, tail[0, 2] * z * z
    total = c1 + c2 + c3
    moment = (c1 + 2.0 * c2 + 3.0 * c3) / total
    by_a = (tail[1, 0] + (tail[1, 1] + tail[1, 2] * z) * z) / total
    by_b = (tail[2, 0] + (tail[2, 1] + tail[2, 2] * z) * z) / total
    value = math.log(alpha * total) - (alpha + 1.0) * log_y
    by_a += 1.0 / alpha - moment * log_y
    return value, -(1.0 + alpha * moment) / y, by_a, by_b


@scalar_internal(fastmath=FUSED)
def one_side(y, side, nodes, series):
    """Return log pdf and its derivatives by y, alpha and the beta of this side."""
    if not side.length > 0.0:
        return -np.inf, 0.0, 0.0, 0.0
    if y > side.highest:
        return _tail(y, side)
    near = y < side.lowest
    y = max(y, side.lowest)
    log_y = math.log(y)
    log_level = side.kappa * log_y + side.log_scale
    if log_level > 700.0:
        return -np.inf, 0.0, 0.0, 0.0
    level = math.exp(log_level)
    first, block, last, least = _blocks_of(level, side, nodes)
    s, c, a, b = _window(level, least, block * FIT.block, (last + 1) * FIT.block, nodes)
    if block > first:
        z = level * nodes[block * FIT.block - 1]
        factor = z
        for n in range(FIT.terms):
            entry = n * BLOCKS + block - 1
            m = factor * series[entry]
            s += m
            c += (n + 1) * m
            a += (n + 1) * factor * series[FIT.terms * BLOCKS + entry]
            b += (n + 1) * factor * series[2 * FIT.terms * BLOCKS + entry]
            factor *= -z / (n + 1)
    c, a, b = c / s, a / s, b / s
    value = side.log_front - log_y + math.log(s) - least
    by_y = 0.0 if near else (side.kappa * c - 1.0) / y
    by_a = side.log_front_by_alpha + side.length_by_alpha / side.length + a
    by_a += (side.kappa_by_alpha * log_y + side.log_scale_by_alpha) * c
    by_b = side.length_by_beta / side.length + side.log_scale_by_beta * c + b
    return value, by_y, by_a, by_b


@scalar_internal
def log_pdf(y, distribution, nodes, series):
    """Return log pdf of the standard distribution at a distance y from zeta, and its derivatives.

    They are those by y, alpha and beta; y stays where alpha and beta change.
    """
    k = 0 if y >= 0.0 else 1
    value, by_y, by_a, by_b = one_side(abs(y), distribution.sides[k], nodes, series)
    if k == 1:
        return value, -by_y, by_a, -by_b
    return value, by_y, by_a, by_b


@scalar_internal(fastmath=FUSED)
def log_pdf_alone(y, distribution, nodes, series):
    """Return the value of `log_pdf` without derivatives."""
    side = distribution.sides[0 if y >= 0.0 else 1]
    y = abs(y)
    if not side.length > 0.0:
        return -np.inf
    if y > side.highest:
        return _tail(y, side)[0]
    log_y = math.log(max(y, side.lowest))
    log_level = side.kappa * log_y + side.log_scale
    if log_level > 700.0:
        return -np.inf
    level = math.exp(log_level)
    first, block, last, least = _blocks_of(level, side, nodes)
    s = _total(level, least, block * FIT.block, (last + 1) * FIT.block, nodes)
    if block > first:
        z = level * nodes[block * FIT.block - 1]
        factor = z
        for n in range(FIT.terms):
            s += factor * series[n * BLOCKS + block - 1]
            factor *= -z / (n + 1)
    return side.log_front - log_y + math.log(s) - least
