"""Layout and contents of the nodes of one distribution, with power series of their sums.

The formulas are those of `_fit/likelihood/half_line_formulas.py`. V ascends along the nodes of a
side. Where g = level V is small, a sum over nodes is a power series in g, whose coefficients are
known for each block of nodes.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._density.nolan_formulas import T_MAX
from stablegpu._fit.likelihood.half_line_formulas import (
    COUNT,
    ENDS,
    FADE,
    FIELDS,
    FIRST,
    GAP,
    HIGHEST,
    KAPPA,
    LENGTH,
    LOG_SCALE,
    LOWEST,
    MOST,
    REST,
    START,
    WIDTH,
    log_v_of,
)
from stablegpu._numerics.root_formulas import next_trial

STEP = 0.33  # in log V: the trapezoidal rule is then good to 1e-11
ABOVE = 30.0  # g over which e^-g is left out
BELOW = 0.03  # g under which a power series takes over
TERMS = 5  # of that series
BLOCK = 8  # nodes between possible starts of the series
CAPACITY = 1536  # nodes of both sides; where they do not suffice, steps grow
ROWS = 3  # weights of the series: 1, and the derivatives of log V by alpha and beta
NODES = (ROWS + 1) * CAPACITY  # numbers: V, weights and both derivatives of all nodes in turn
BLOCKS = CAPACITY // BLOCK
RATIO = ROWS * TERMS * BLOCKS  # where ratios of V from block to block begin, after the series
SERIES = RATIO + BLOCKS
SLACK = 4.0  # steps by which the nodes may reach too far at an end
USUAL = 16.0  # t of the ends
DECAY = 28.0  # e^-28 of an integrand may be left out
LIGHT_LIMIT = 1e8  # g beyond which its digits are not looked at


@scalar_internal
def _level_of(y, side):
    """Return log g - log V."""
    return side[KAPPA] * math.log(y) + side[LOG_SCALE]


@scalar_internal
def set_node_range(distribution, k, nearest, farthest, alpha):
    """Set log V at both ends of the nodes of a half-line, and the step between nodes.

    The nodes serve y from `nearest` to `farthest`. If no such y exists the step is 0, and the half-
    line has no nodes.
    """
    side = distribution[k * FIELDS : (k + 1) * FIELDS]
    side[WIDTH] = side[COUNT] = 0.0
    if not farthest >= 0.0 or side[LENGTH] <= 0.0 or nearest > side[HIGHEST]:
        return
    nearest = max(nearest, side[LOWEST])
    farthest = min(max(farthest, nearest), side[HIGHEST])
    g_increases = alpha < 1.0
    nearest_gap = side[REST] if g_increases else side[GAP]
    off = abs(1.0 - alpha)
    steepest = max(1.0, alpha) / off
    most = ABOVE - math.log(max(nearest_gap, 1e-300)) if 0.0 < nearest_gap < 1.0 else ABOVE
    if g_increases:  # weights grow with g as g^m
        m = (1.0 - alpha) / alpha
        most += m * (2.0 + 2.0 * math.log1p(m))
    level, other = _level_of(nearest, side), _level_of(farthest, side)
    highest, lowest = max(level, other), min(level, other)
    low, high = math.log(BELOW) - highest, math.log(most) - lowest
    slope = (
        1.0 + (alpha if g_increases else 1.0) / off
    )  # of the integrands' logarithm behind the start
    if nearest_gap < 0.05:
        steepest = max(steepest, 2.0)
    if nearest_gap == 0.0:  # V has a limit
        limit = math.log(off) - side[KAPPA] * math.log(alpha)
        least = min(math.exp(min(highest + limit, 700.0)), LIGHT_LIMIT)
        low = limit + max(math.log1p(BELOW / least), 1e-14)
        high = math.log(most + math.exp(min(lowest + limit, 700.0))) - lowest
        slope = 1.0
    side[ENDS], side[ENDS + 1] = low, high
    side[WIDTH], side[FADE], side[MOST] = STEP / steepest, DECAY / slope, most


@scalar_internal
def find_node_ends(distribution, job, alpha):
    """Solve for t at end job % 2 of the nodes of half-line job // 2 and store it instead of log V.

    It is at most `SLACK` steps outside, or the end of the line. log V is called from one line only:
    compilers would copy it to each, and the instructions of the GPU's kernel have to be fetched.
    """
    side = distribution[job // 2 * FIELDS : (job // 2 + 1) * FIELDS]
    if side[WIDTH] == 0.0:
        return
    end = job % 2
    target = side[ENDS + end]
    sign = 1.0 if alpha < 1.0 else -1.0  # of log V's slope
    low, high, below, above = -T_MAX, T_MAX, -np.inf, np.inf
    width = reach = 0.0
    t = -USUAL
    while high - low > SLACK * side[WIDTH]:
        value = sign * (log_v_of(t, side, alpha)[0] - target)
        if value < 0.0:
            low, below = t, value
        else:
            high, above = t, value
        if below == -np.inf:  # nothing is known of that end
            t = -T_MAX
        elif above == np.inf:
            t = USUAL if t < USUAL else T_MAX
        else:
            if width == 0.0:
                width = high - low
                reach = 2.0 * width
            t = next_trial(low, high, below, above, width, reach)
            reach *= 0.5
    side[ENDS + end] = low if (sign > 0.0) == (end == 0) else high


@scalar_internal
def allocate_nodes(distribution, alpha):
    """Allocate whole blocks of nodes to both half-lines; the steps grow if there are too many."""
    total = 0.0
    sign = 1.0 if alpha < 1.0 else -1.0  # of the steps in t towards larger g
    for k in range(2):
        side = distribution[k * FIELDS : (k + 1) * FIELDS]
        if side[WIDTH] > 0.0:
            start = -sign * (max(-sign * side[ENDS], 0.0) + side[FADE])
            far = min(sign * (side[ENDS + 1] - start), 700.0)
            side[START] = start
            side[COUNT] = math.ceil(max(far, 0.0) / side[WIDTH]) + 1.0
            side[WIDTH] *= sign
            total += side[COUNT]
    room = CAPACITY - 2 * BLOCK
    grown = max(total / room, 1.0)
    first = 0
    for k in range(2):
        side = distribution[k * FIELDS : (k + 1) * FIELDS]
        side[FIRST] = first
        if side[COUNT] > 0.0:
            side[WIDTH] *= grown
            blocks = int(side[COUNT] / grown) // BLOCK + 1
            side[COUNT] = blocks * BLOCK
            first += blocks


@scalar_internal
def evaluate_nodes(distribution, nodes, lane, lanes, alpha):
    """Evaluate V, the weights and the derivatives of log V at all nodes, V ascending."""
    for k in range(2):
        side = distribution[k * FIELDS : (k + 1) * FIELDS]
        first, count = int(side[FIRST]) * BLOCK, int(side[COUNT])
        for i in range(lane, count, lanes):
            t = side[START] + i * side[WIDTH]
            value, a, b, weight = log_v_of(t, side, alpha)
            j = first + i
            nodes[j] = math.exp(min(max(value, -700.0), 700.0))
            nodes[CAPACITY + j] = weight * abs(side[WIDTH])
            nodes[2 * CAPACITY + j], nodes[3 * CAPACITY + j] = a, b


@scalar_internal
def blocks_of(distribution):
    """Return the number of blocks of both sides."""
    return int(distribution[FIELDS + FIRST]) + int(distribution[FIELDS + COUNT]) // BLOCK


@scalar_internal
def block_moments(distribution, nodes, series, lane, lanes):
    """Sum, for each block, w (V/u)^n a over its nodes, where u is the largest V of the block.

    Also store the ratio of the u of the previous block to that of this one.
    """
    second = int(distribution[FIELDS + FIRST])
    for item in range(lane, ROWS * blocks_of(distribution), lanes):
        block, row = item // ROWS, item % ROWS
        start = block * BLOCK
        inverse = 1.0 / nodes[start + BLOCK - 1]
        if row == 0:
            begins = block == 0 or block == second
            series[RATIO + block] = 0.0 if begins else nodes[start - 1] * inverse
        s1 = s2 = s3 = s4 = s5 = 0.0
        for j in range(start, start + BLOCK):
            ratio = nodes[j] * inverse
            power = nodes[CAPACITY + j] * ratio
            power *= nodes[(1 + row) * CAPACITY + j] if row > 0 else 1.0
            s1 += power
            power *= ratio
            s2 += power
            power *= ratio
            s3 += power
            power *= ratio
            s4 += power
            s5 += power * ratio
        entry = row * TERMS * BLOCKS + block
        series[entry], series[entry + BLOCKS], series[entry + 2 * BLOCKS] = s1, s2, s3
        series[entry + 3 * BLOCKS], series[entry + 4 * BLOCKS] = s4, s5


@scalar_internal
def running_moments(distribution, series, lane, lanes):
    """Accumulate the sums of `block_moments` over all nodes up to the end of each block.

    u is still the largest V.
    """
    for item in range(lane, 2 * ROWS, lanes):
        k, row = item // ROWS, item % ROWS
        first, count = int(distribution[k * FIELDS + FIRST]), int(distribution[k * FIELDS + COUNT])
        s1 = s2 = s3 = s4 = s5 = 0.0
        for block in range(first, first + count // BLOCK):
            entry = row * TERMS * BLOCKS + block
            r = series[RATIO + block]
            square = r * r
            s1 = s1 * r + series[entry]
            s2 = s2 * square + series[entry + BLOCKS]
            s3 = s3 * (square * r) + series[entry + 2 * BLOCKS]
            s4 = s4 * (square * square) + series[entry + 3 * BLOCKS]
            s5 = s5 * (square * square * r) + series[entry + 4 * BLOCKS]
            series[entry], series[entry + BLOCKS], series[entry + 2 * BLOCKS] = s1, s2, s3
            series[entry + 3 * BLOCKS], series[entry + 4 * BLOCKS] = s4, s5
