"""Layout and contents of the nodes of one distribution, with power series of their sums.

The formulas are those of `_fit/likelihood/half_line_formulas.py`, the constants those of
`_fit/likelihood/rule.py`. V ascends along the nodes of a
side. Where g = level V is small, a sum over nodes is a power series in g, whose coefficients are
known for each block of nodes.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._density.nolan_formulas import T_MAX
from stablegpu._fit.likelihood.half_line_formulas import log_v_of
from stablegpu._fit.likelihood.rule import FIT
from stablegpu._numerics.root_formulas import next_trial

ROWS = 3
"""Weights of the series: 1, and the derivatives of log V by alpha and beta."""

NODE_NUMBERS = (ROWS + 1) * FIT.capacity
"""float64 of all nodes: V, weights and both derivatives in turn."""

BLOCKS = FIT.capacity // FIT.block
RATIO = ROWS * FIT.terms * BLOCKS  # where ratios of V from block to block begin, after the series
SERIES_NUMBERS = RATIO + BLOCKS
"""float64 of the series and the ratios."""


@scalar_internal
def _level_of(y, side):
    """Return log g - log V."""
    return side.kappa * math.log(y) + side.log_scale


@scalar_internal
def set_node_range(side, nearest, farthest):
    """Set log V at both ends of the nodes of a half-line, and the step between nodes.

    The nodes serve y from `nearest` to `farthest`. If no such y exists the step is 0, and the half-
    line has no nodes.
    """
    side.step, side.count = 0.0, 0
    if not farthest >= 0.0 or side.length <= 0.0 or nearest > side.highest:
        return
    alpha = side.alpha
    nearest = max(nearest, side.lowest)
    farthest = min(max(farthest, nearest), side.highest)
    g_increases = alpha < 1.0
    nearest_gap = side.left_angle if g_increases else side.tail_gap
    off = abs(1.0 - alpha)
    steepest = max(1.0, alpha) / off
    most = (
        FIT.largest_g - math.log(max(nearest_gap, 1e-300))
        if 0.0 < nearest_gap < 1.0
        else FIT.largest_g
    )
    if g_increases:  # weights grow with g as g^m
        m = (1.0 - alpha) / alpha
        most += m * (2.0 + 2.0 * math.log1p(m))
    level, other = _level_of(nearest, side), _level_of(farthest, side)
    highest, lowest = max(level, other), min(level, other)
    low, high = math.log(FIT.smallest_g) - highest, math.log(most) - lowest
    slope = (
        1.0 + (alpha if g_increases else 1.0) / off
    )  # of the integrands' logarithm behind the start
    if nearest_gap < 0.05:
        steepest = max(steepest, 2.0)
    if nearest_gap == 0.0:  # V has a limit
        limit = math.log(off) - side.kappa * math.log(alpha)
        least = min(math.exp(min(highest + limit, 700.0)), FIT.light_limit)
        low = limit + max(math.log1p(FIT.smallest_g / least), 1e-14)
        high = math.log(most + math.exp(min(lowest + limit, 700.0))) - lowest
        slope = 1.0
    side.ends[0], side.ends[1] = low, high
    side.step, side.fade, side.largest_g = (FIT.step / steepest, FIT.decay / slope, most)


@scalar_internal
def find_node_end(side, end):
    """Solve for t at an end of the nodes, and store it instead of log V.

    It is at most `slack` steps outside, or the end of the line. log V is called from one line only:
    compilers would copy it to each, and the instructions of the GPU's kernel have to be fetched.
    """
    if side.step == 0.0:
        return
    target = side.ends[end]
    sign = 1.0 if side.alpha < 1.0 else -1.0  # of log V's slope
    low, high, below, above = -T_MAX, T_MAX, -np.inf, np.inf
    width = reach = 0.0
    t = -FIT.usual_end
    while high - low > FIT.slack * side.step:
        value = sign * (log_v_of(t, side)[0] - target)
        if value < 0.0:
            low, below = t, value
        else:
            high, above = t, value
        if below == -np.inf:  # nothing is known of that end
            t = -T_MAX
        elif above == np.inf:
            t = FIT.usual_end if t < FIT.usual_end else T_MAX
        else:
            if width == 0.0:
                width = high - low
                reach = 2.0 * width
            t = next_trial(low, high, below, above, width, reach)
            reach *= 0.5
    side.ends[end] = low if (sign > 0.0) == (end == 0) else high


@scalar_internal
def allocate_nodes(distribution):
    """Allocate whole blocks of nodes to both half-lines; the steps grow if there are too many."""
    total = 0
    sign = 1.0 if distribution.alpha < 1.0 else -1.0  # of the steps in t towards larger g
    for k in range(2):
        side = distribution.sides[k]
        if side.step > 0.0:
            start = -sign * (max(-sign * side.ends[0], 0.0) + side.fade)
            far = min(sign * (side.ends[1] - start), 700.0)
            side.start = start
            side.count = math.ceil(max(far, 0.0) / side.step) + 1
            side.step *= sign
            total += side.count
    room = FIT.capacity - 2 * FIT.block
    grown = max(total / room, 1.0)
    first = 0
    for k in range(2):
        side = distribution.sides[k]
        side.first_block = first
        if side.count > 0:
            side.step *= grown
            blocks = int(side.count / grown) // FIT.block + 1
            side.count = blocks * FIT.block
            first += blocks


@scalar_internal
def evaluate_nodes(distribution, nodes, lane, lanes):
    """Evaluate V, the weights and the derivatives of log V at all nodes, V ascending."""
    for k in range(2):
        side = distribution.sides[k]
        first, count = side.first_block * FIT.block, side.count
        for i in range(lane, count, lanes):
            t = side.start + i * side.step
            value, a, b, weight = log_v_of(t, side)
            j = first + i
            nodes[j] = math.exp(min(max(value, -700.0), 700.0))
            nodes[FIT.capacity + j] = weight * abs(side.step)
            nodes[2 * FIT.capacity + j], nodes[3 * FIT.capacity + j] = a, b


@scalar_internal
def blocks_of(distribution):
    """Return the number of blocks of both sides."""
    left = distribution.sides[1]
    return left.first_block + left.count // FIT.block


@scalar_internal
def block_moments(distribution, nodes, series, lane, lanes):
    """Sum, for each block, w (V/u)^n a over its nodes, where u is the largest V of the block.

    Also store the ratio of the u of the previous block to that of this one.
    """
    second = distribution.sides[1].first_block
    for item in range(lane, ROWS * blocks_of(distribution), lanes):
        block, row = item // ROWS, item % ROWS
        start = block * FIT.block
        inverse = 1.0 / nodes[start + FIT.block - 1]
        if row == 0:
            begins = block == 0 or block == second
            series[RATIO + block] = 0.0 if begins else nodes[start - 1] * inverse
        s1 = s2 = s3 = s4 = s5 = 0.0
        for j in range(start, start + FIT.block):
            ratio = nodes[j] * inverse
            power = nodes[FIT.capacity + j] * ratio
            power *= nodes[(1 + row) * FIT.capacity + j] if row > 0 else 1.0
            s1 += power
            power *= ratio
            s2 += power
            power *= ratio
            s3 += power
            power *= ratio
            s4 += power
            s5 += power * ratio
        entry = row * FIT.terms * BLOCKS + block
        series[entry], series[entry + BLOCKS], series[entry + 2 * BLOCKS] = s1, s2, s3
        series[entry + 3 * BLOCKS], series[entry + 4 * BLOCKS] = s4, s5


@scalar_internal
def running_moments(distribution, series, lane, lanes):
    """Accumulate the sums of `block_moments` over all nodes up to the end of each block.

    u is still the largest V.
    """
    for item in range(lane, 2 * ROWS, lanes):
        k, row = item // ROWS, item % ROWS
        side = distribution.sides[k]
        s1 = s2 = s3 = s4 = s5 = 0.0
        for block in range(side.first_block, side.first_block + side.count // FIT.block):
            entry = row * FIT.terms * BLOCKS + block
            r = series[RATIO + block]
            square = r * r
            s1 = s1 * r + series[entry]
            s2 = s2 * square + series[entry + BLOCKS]
            s3 = s3 * (square * r) + series[entry + 2 * BLOCKS]
            s4 = s4 * (square * square) + series[entry + 3 * BLOCKS]
            s5 = s5 * (square * square * r) + series[entry + 4 * BLOCKS]
            series[entry], series[entry + BLOCKS], series[entry + 2 * BLOCKS] = s1, s2, s3
            series[entry + 3 * BLOCKS], series[entry + 4 * BLOCKS] = s4, s5
