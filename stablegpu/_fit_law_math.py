"""log pdf and its derivatives by the point, alpha and beta for many points of one law.

As `_nodes_math.py`: theta, V and the weights do not depend on the point, which costs one
exponential a node. Here a law is looked at once, by one thread of a CPU or one block of a GPU, so
nodes must be cheap: only the density is wanted, only for points within a known range, and to 1e-10.

    log pdf = log front - log y + log S,   S = sum w g e^-g,   g = y^kappa V,

and with theta(t) fixed in t, every derivative is a sum over the same nodes:

    d log pdf = d log front + d log P + <d log g>,   <f> = sum w g (1 - g) e^-g f / S,
    d log g = d(kappa log y) + d log V.

The functions share work between `lanes` (threads of a block); lane 0 of 1 does all of it. A caller
waits for all lanes between them.
"""

import math

import numpy as np

from hetero.jit import FUSED, scalar
from stablegpu._density_math import T_MAX, cosine, sine
from stablegpu._points_math import extent, tan_half_pi

STEP = 0.33  # in log V: the trapezoidal rule is then good to 1e-11
ABOVE = 30.0  # g over which e^-g is left out
BELOW = 0.03  # g under which a power series takes over
TERMS = 5  # of that series
BLOCK = 8  # nodes between places where the series may start
CAPACITY = 1536  # nodes of both sides; where they do not suffice, steps grow
NODES = (
    4 * CAPACITY
)  # numbers: V, weights, d log V / d alpha, d log V / d beta of all nodes in turn
BLOCKS = CAPACITY // BLOCK
SERIES = 3 * TERMS + 1  # arrays by block: powers of g with weights 1, d/dalpha, d/dbeta; largest V
LARGEST = 3 * TERMS * BLOCKS
NEAR_ENOUGH, USUAL = 0.02, 16.0  # in t: error of the ends of the nodes, and how far they lie
DECAY = 28.0  # e^-28 of an integrand may be left out
FAR = 12.0  # log of y^alpha from which three terms of the tail's series are exact to e^-36
NEXT = 1e-7  # of the width of the law at zeta: nearer, the density is that at this distance
LIGHT_LIMIT = 1e8  # g beyond which its digits are not looked at

# What is kept of a side of zeta. `_A` and `_B`: derivatives by alpha and by this side's beta.
(
    LENGTH,
    GAP,
    REST,
    KAPPA,
    LOG_SCALE,
    LOG_FRONT,
    ZETA,
    LENGTH_A,
    GAP_A,
    REST_A,
    KAPPA_A,
    LOG_SCALE_A,
    FRONT_A,
    ZETA_A,
    LENGTH_B,
    GAP_B,
    REST_B,
    LOG_SCALE_B,
    ZETA_B,
    LOWEST,
    HIGHEST,
    START,
    WIDTH,
    COUNT,
    FIRST,
    MOST,
) = range(26)
TAIL = 26  # three coefficients of the tail's series, their derivatives by alpha and by beta
FIELDS = TAIL + 9


@scalar
def _digamma(x):
    """By a difference of lgamma: to 1e-8."""
    h = 1e-4 * x
    return (math.lgamma(x + h) - math.lgamma(x - h)) / (2.0 * h)


@scalar
def describe(law, k, alpha, beta):
    """Row k: the side of zeta, y > 0, of (alpha, beta)."""
    side = law[k * FIELDS : (k + 1) * FIELDS]
    tangent = tan_half_pi(alpha)
    tangent_a = 0.5 * math.pi * (1.0 + tangent * tangent)
    whole, gap = extent(alpha, beta)
    other, _ = extent(alpha, -beta)
    zeta = -beta * tangent
    share = 1.0 / (1.0 + zeta * zeta)
    square = tangent * tangent
    whole_a = 0.5 * math.pi * (1.0 + beta) * (1.0 + beta * square) * share
    other_a = 0.5 * math.pi * (1.0 - beta) * (1.0 - beta * square) * share
    whole_b = tangent * share
    length, rest = whole / alpha, other / alpha
    log_cos = -0.5 * math.log1p(zeta * zeta)
    zeta_a, zeta_b = -beta * tangent_a, -tangent
    cos_a, cos_b = -zeta * zeta_a * share, -zeta * zeta_b * share
    off = alpha - 1.0
    side[LENGTH], side[GAP], side[REST] = length, gap, rest
    side[KAPPA] = alpha / off
    side[LOG_SCALE] = log_cos / off
    side[LOG_FRONT] = math.log(alpha / (math.pi * abs(off)))
    side[ZETA] = zeta
    side[LENGTH_A], side[LENGTH_B] = (whole_a - length) / alpha, whole_b / alpha
    side[GAP_A], side[GAP_B] = -whole_a, -whole_b
    side[REST_A], side[REST_B] = (other_a - rest) / alpha, -whole_b / alpha
    side[KAPPA_A] = -1.0 / (off * off)
    side[LOG_SCALE_A] = (cos_a - log_cos / off) / off
    side[LOG_SCALE_B] = cos_b / off
    side[FRONT_A] = 1.0 / alpha - 1.0 / off
    side[ZETA_A], side[ZETA_B] = zeta_a, zeta_b
    log_width = math.lgamma(1.0 + 1.0 / alpha) - math.lgamma(1.0 + 2.0 / alpha)
    side[LOWEST] = NEXT * math.exp(log_width - log_cos / alpha)
    side[HIGHEST] = np.inf
    angle, angle_a, angle_b, sign = whole, whole_a, whole_b, 1.0
    if gap < whole:
        angle, angle_a, angle_b, sign = gap, -whole_a, -whole_b, -1.0
    heavy = angle > 0.0 and alpha < 2.0
    for n in range(1, 4):
        at = TAIL + n - 1
        side[at] = side[at + 3] = side[at + 6] = 0.0
        if heavy:
            size = n * math.exp(math.lgamma(n * alpha) - math.lgamma(n + 1.0) - n * log_cos)
            size *= (-sign) ** (n - 1) / math.pi
            bend = size * n * math.cos(n * angle)
            size *= math.sin(n * angle)
            side[at] = size
            side[at + 3] = size * n * (_digamma(n * alpha) - cos_a) + bend * angle_a
            side[at + 6] = -size * n * cos_b + bend * angle_b
    if heavy:
        side[HIGHEST] = math.exp(min((FAR - log_cos) / alpha, 700.0))


@scalar(fastmath=FUSED)
def log_v_of(t, side, alpha):
    """log V without its constant factor, and its derivatives by alpha and beta at fixed t."""
    tail = math.exp(-abs(t))
    large = side[LENGTH] / (1.0 + tail)
    small = large * tail
    p, r = (large, small) if t > 0.0 else (small, large)
    rest, gap = side[REST], side[GAP]
    angle = alpha * p
    sin_r = sine(r) if r < 1.5 else sine(rest + p)
    sin_angle = sine(angle) if angle < 1.5 else sine(gap + alpha * r)
    eta = rest + (1.0 - alpha) * p if alpha < 1.0 else gap + (alpha - 1.0) * r
    up = angle + r
    sin_eta = sine(up) if up < 1.5 else sine(eta)
    cot_r, cot_angle = cosine(r) / sin_r, cosine(angle) / sin_angle
    cot_eta = cosine(eta) / sin_eta
    p_a, p_b = p / side[LENGTH] * side[LENGTH_A], p / side[LENGTH] * side[LENGTH_B]
    r_a, r_b = r / side[LENGTH] * side[LENGTH_A], r / side[LENGTH] * side[LENGTH_B]
    if alpha < 1.0:
        eta_a = side[REST_A] - p + (1.0 - alpha) * p_a
        eta_b = side[REST_B] + (1.0 - alpha) * p_b
    else:
        eta_a = side[GAP_A] + r + (alpha - 1.0) * r_a
        eta_b = side[GAP_B] + (alpha - 1.0) * r_b
    kappa = side[KAPPA]
    log_ratio = math.log(sin_r / sin_angle)
    value = kappa * log_ratio + math.log(sin_eta / sin_r)
    a = kappa * (cot_r * r_a - cot_angle * (p + alpha * p_a)) + cot_eta * eta_a - cot_r * r_a
    b = kappa * (cot_r * r_b - cot_angle * alpha * p_b) + cot_eta * eta_b - cot_r * r_b
    return value, a + side[KAPPA_A] * log_ratio, b, p * r / side[LENGTH]


@scalar
def _where(target, side, alpha):
    """t at which log V has a value, to NEAR_ENOUGH, or an end of the line.

    Oliveira and Takahashi's method (2020): false position, kept so close to the middle that it
    never takes more steps than bisection. One thread of a GPU does this while the others wait.
    """
    sign = 1.0 if alpha < 1.0 else -1.0  # of log V's slope
    low, high = -USUAL, USUAL
    below = sign * (log_v_of(low, side, alpha)[0] - target)
    above = sign * (log_v_of(high, side, alpha)[0] - target)
    if below >= 0.0:
        low, high, above = -T_MAX, low, below
        below = sign * (log_v_of(low, side, alpha)[0] - target)
    elif above <= 0.0:
        low, high, below = high, T_MAX, above
        above = sign * (log_v_of(high, side, alpha)[0] - target)
    if below >= 0.0 or above <= 0.0:
        return low if below >= 0.0 else high
    width = high - low
    reach = 2.0 * width
    while high - low > 2.0 * NEAR_ENOUGH:
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        off = (above * low - below * high) / (above - below) - middle
        room = max(0.5 * reach - half, 0.0)
        if not abs(off) < half:
            off = 0.0
        off = math.copysign(min(max(abs(off) - 0.1 * half * half / width, 0.0), room), off)
        t = middle + off
        value = sign * (log_v_of(t, side, alpha)[0] - target)
        if value < 0.0:
            low, below = t, value
        else:
            high, above = t, value
        reach *= 0.5
    return 0.5 * (low + high)


@scalar
def level_of(y, side):
    """log g - log V."""
    return side[KAPPA] * math.log(y) + side[LOG_SCALE]


@scalar
def lay_out(law, k, nearest, farthest, alpha):
    """Where the nodes of a side lie, for y from `nearest` to `farthest`; none if that is empty."""
    side = law[k * FIELDS : (k + 1) * FIELDS]
    side[COUNT] = 0.0
    if not farthest >= 0.0 or side[LENGTH] <= 0.0 or nearest > side[HIGHEST]:
        return
    nearest = max(nearest, side[LOWEST])
    farthest = min(max(farthest, nearest), side[HIGHEST])
    rising = alpha < 1.0
    thin = side[REST] if rising else side[GAP]
    sign = 1.0 if rising else -1.0  # of the steps in t towards larger g
    off = abs(1.0 - alpha)
    steepest = max(1.0, alpha) / off
    most = ABOVE - math.log(max(thin, 1e-300)) if 0.0 < thin < 1.0 else ABOVE
    if rising:  # weights grow with g as g^m
        m = (1.0 - alpha) / alpha
        most += m * (2.0 + 2.0 * math.log1p(m))
    highest, lowest = level_of(nearest, side), level_of(farthest, side)
    if rising:
        highest, lowest = lowest, highest  # of -log V
    highest, lowest = max(highest, lowest), min(highest, lowest)
    target = math.log(BELOW) - highest
    slope = 1.0 + (alpha if rising else 1.0) / off  # of the integrands' logarithm behind the start
    if thin < 0.05:
        steepest = max(steepest, 2.0)
    if thin == 0.0:  # V has a limit
        limit = log_v_of(-sign * T_MAX, side, alpha)[0]
        least = min(math.exp(min(highest + limit, 700.0)), LIGHT_LIMIT)
        target = limit + max(math.log1p(BELOW / least), 1e-14)
        slope = 1.0
    start = _where(target, side, alpha)
    start = -sign * (max(-sign * start, 0.0) + DECAY / slope)
    least = math.exp(min(lowest + log_v_of(start, side, alpha)[0], 700.0))
    end = _where(math.log(most + least) - lowest, side, alpha)
    end = sign * min(sign * end, sign * start + 700.0)
    width = STEP / steepest
    count = math.ceil(max(sign * (end - start), 0.0) / width) + 1.0
    side[START], side[WIDTH], side[COUNT], side[MOST] = start, sign * width, count, most


@scalar
def allot(law):
    """Room for the nodes of both sides, in whole blocks; steps grow where there are too many."""
    total = law[COUNT] + law[FIELDS + COUNT]
    room = CAPACITY - 2 * BLOCK
    grown = max(total / room, 1.0)
    first = 0
    for k in range(2):
        side = law[k * FIELDS : (k + 1) * FIELDS]
        side[FIRST] = first
        if side[COUNT] > 0.0:
            side[WIDTH] *= grown
            blocks = int(side[COUNT] / grown) // BLOCK + 1
            side[COUNT] = blocks * BLOCK
            first += blocks


@scalar
def fill(law, nodes, lane, lanes, alpha):
    """V, weights and derivatives of log V at the nodes of both sides, V ascending."""
    for k in range(2):
        side = law[k * FIELDS : (k + 1) * FIELDS]
        first, count = int(side[FIRST]) * BLOCK, int(side[COUNT])
        for i in range(lane, count, lanes):
            t = side[START] + i * side[WIDTH]
            value, a, b, weight = log_v_of(t, side, alpha)
            j = first + i
            nodes[j] = math.exp(min(max(value, -700.0), 700.0))
            nodes[CAPACITY + j] = weight * abs(side[WIDTH])
            nodes[2 * CAPACITY + j], nodes[3 * CAPACITY + j] = a, b


@scalar
def add_up(law, nodes, series, lane, lanes):
    """By block: sums of w (V/u)^n a for the nodes in it, u the largest of them."""
    for k in range(2):
        first, count = int(law[k * FIELDS + FIRST]), int(law[k * FIELDS + COUNT])
        for block in range(first + lane, first + count // BLOCK, lanes):
            largest = nodes[block * BLOCK + BLOCK - 1]
            for n in range(SERIES - 1):
                series[n * BLOCKS + block] = 0.0
            series[LARGEST + block] = largest
            for j in range(block * BLOCK, block * BLOCK + BLOCK):
                ratio = nodes[j] / largest
                power = nodes[CAPACITY + j]
                a, b = nodes[2 * CAPACITY + j], nodes[3 * CAPACITY + j]
                for n in range(TERMS):
                    power *= ratio
                    series[n * BLOCKS + block] += power
                    series[(TERMS + n) * BLOCKS + block] += power * a
                    series[(2 * TERMS + n) * BLOCKS + block] += power * b


@scalar
def accumulate(law, series, lane, lanes):
    """The same for all nodes up to the end of the block, u still the largest of them."""
    for k in range(2):
        first, count = int(law[k * FIELDS + FIRST]), int(law[k * FIELDS + COUNT])
        for n in range(lane, SERIES - 1, lanes):
            power = n % TERMS + 1
            total, u = 0.0, 0.0
            for block in range(first, first + count // BLOCK):
                largest = series[LARGEST + block]
                ratio = u / largest
                factor = ratio
                for _ in range(1, power):
                    factor *= ratio
                total = total * factor + series[n * BLOCKS + block]
                series[n * BLOCKS + block] = total
                u = largest
