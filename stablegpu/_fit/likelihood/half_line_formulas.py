"""log pdf and its derivatives by the point, alpha and beta for many points of one distribution.

As `_density/nodes/formulas.py`: theta, V and the weights do not depend on the point, which costs
one exponential for each node. Here a distribution is used for one evaluation of the likelihood, by
one thread of a CPU or one block of a GPU, so nodes must be cheap: only the density is computed, for
points within a given range, and to 1e-10.

    log pdf = log front - log y + log S,   S = sum w g e^-g,   g = y^kappa V,

and with theta(t) fixed in t, every derivative is a sum over the same nodes:

    d log pdf = d log front + d log P + <d log g>,   <f> = sum w g (1 - g) e^-g f / S,
    d log g = d(kappa log y) + d log V.

The functions share work between `lanes` (threads of a block); lane 0 of 1 does all of it. A caller
waits for all lanes between them.
"""

import math

import numpy as np

from hetero.jit import FUSED, scalar_internal
from stablegpu._density.pointwise.formulas import extent, tan_half_pi
from stablegpu._numerics.trigonometry_formulas import cosine, sine

FAR = 12.0  # log of y^alpha from which three terms of the tail's series are exact to e^-36
NEXT = 1e-7  # of the width at zeta: nearer, the density is that at this distance
TAIL_TERMS = 3

# Columns of a half-line. `_A` and `_B` mark derivatives by alpha and by the half-line's beta.
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
    FADE,
    ENDS,
) = range(28)
TAIL = ENDS + 2  # three coefficients of the tail's series, their derivatives by alpha and by beta
FIELDS = TAIL + 3 * TAIL_TERMS


@scalar_internal
def _digamma(x):
    """Return the digamma function by a central difference of lgamma, accurate to 1e-8."""
    h = 1e-4 * x
    return (math.lgamma(x + h) - math.lgamma(x - h)) / (2.0 * h)


@scalar_internal
def set_half_line(distribution, k, alpha, beta):
    """Set row k of `distribution` to the half-line y > 0 of (alpha, beta), without its tail."""
    side = distribution[k * FIELDS : (k + 1) * FIELDS]
    tangent = tan_half_pi(alpha)
    tangent_a = 0.5 * math.pi * (1.0 + tangent * tangent)
    whole, tail_gap = extent(alpha, beta)
    other, _ = extent(alpha, -beta)
    zeta = -beta * tangent
    share = 1.0 / (1.0 + zeta * zeta)
    square = tangent * tangent
    whole_a = 0.5 * math.pi * (1.0 + beta) * (1.0 + beta * square) * share
    other_a = 0.5 * math.pi * (1.0 - beta) * (1.0 - beta * square) * share
    whole_b = tangent * share
    length, left_angle = whole / alpha, other / alpha
    log_cos = -0.5 * math.log1p(zeta * zeta)
    zeta_a, zeta_b = -beta * tangent_a, -tangent
    cos_a, cos_b = -zeta * zeta_a * share, -zeta * zeta_b * share
    off = alpha - 1.0
    side[LENGTH], side[GAP], side[REST] = length, tail_gap, left_angle
    side[KAPPA] = alpha / off
    side[LOG_SCALE] = log_cos / off
    side[LOG_FRONT] = math.log(alpha / (math.pi * abs(off)))
    side[ZETA] = zeta
    side[LENGTH_A], side[LENGTH_B] = (whole_a - length) / alpha, whole_b / alpha
    side[GAP_A], side[GAP_B] = -whole_a, -whole_b
    side[REST_A], side[REST_B] = (other_a - left_angle) / alpha, -whole_b / alpha
    side[KAPPA_A] = -1.0 / (off * off)
    side[LOG_SCALE_A] = (cos_a - log_cos / off) / off
    side[LOG_SCALE_B] = cos_b / off
    side[FRONT_A] = 1.0 / alpha - 1.0 / off
    side[ZETA_A], side[ZETA_B] = zeta_a, zeta_b
    # Gamma(1 + 1/alpha)/Gamma(1 + 2/alpha) by Stirling's formula, whose constants cancel.
    once, twice = 1.0 / alpha, 2.0 / alpha
    log_width = (once + 0.5) * math.log1p(once) - (twice + 0.5) * math.log1p(twice) + once
    side[LOWEST] = NEXT * math.exp(log_width - log_cos / alpha)
    side[HIGHEST] = np.inf
    if _is_heavy(side, alpha):
        side[HIGHEST] = math.exp(min((FAR - log_cos) / alpha, 700.0))


@scalar_internal
def _is_heavy(side, alpha):
    """Return whether the tail is a power law."""
    return side[LENGTH] > 0.0 and side[GAP] > 0.0 and alpha < 2.0


@scalar_internal
def expand_tail(distribution, term, alpha):
    """Set coefficient term % 3 of the tail series of half-line term // 3, and its derivatives."""
    side = distribution[term // TAIL_TERMS * FIELDS : (term // TAIL_TERMS + 1) * FIELDS]
    n = term % TAIL_TERMS + 1
    entry = TAIL + n - 1
    side[entry] = side[entry + 3] = side[entry + 6] = 0.0
    if not _is_heavy(side, alpha):
        return
    whole, off = side[LENGTH] * alpha, alpha - 1.0
    log_cos = side[LOG_SCALE] * off
    cos_a, cos_b = side[LOG_SCALE_A] * off + side[LOG_SCALE], side[LOG_SCALE_B] * off
    angle, angle_a, angle_b, sign = whole, -side[GAP_A], -side[GAP_B], 1.0
    if side[GAP] < whole:
        angle, angle_a, angle_b, sign = side[GAP], side[GAP_A], side[GAP_B], -1.0
    size = n * math.exp(math.lgamma(n * alpha) - math.lgamma(n + 1.0) - n * log_cos)
    size *= (-sign if n % 2 == 0 else 1.0) / math.pi
    bend = size * n * math.cos(n * angle)
    size *= math.sin(n * angle)
    side[entry] = size
    side[entry + 3] = size * n * (_digamma(n * alpha) - cos_a) + bend * angle_a
    side[entry + 6] = -size * n * cos_b + bend * angle_b


@scalar_internal(fastmath=FUSED)
def log_v_of(t, side, alpha):
    """Return log V without its constant factor, and its derivatives by alpha and beta at fixed t.

    The last value is dp/dt, the weight of a node.
    """
    tail = math.exp(-abs(t))
    large = side[LENGTH] / (1.0 + tail)
    small = large * tail
    p, r = (large, small) if t > 0.0 else (small, large)
    left_angle, tail_gap = side[REST], side[GAP]
    angle = alpha * p
    sin_r = sine(r) if r < 1.5 else sine(left_angle + p)
    sin_angle = sine(angle) if angle < 1.5 else sine(tail_gap + alpha * r)
    eta = left_angle + (1.0 - alpha) * p if alpha < 1.0 else tail_gap + (alpha - 1.0) * r
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
