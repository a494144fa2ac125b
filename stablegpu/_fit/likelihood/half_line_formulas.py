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
from stablegpu._density.half_line_formulas import extent
from stablegpu._fit.likelihood.rule import FIT
from stablegpu._numerics.trigonometry_formulas import cosine, sine, tan_half_pi

_DERIVED_BY_ALPHA = ("length", "tail_gap", "left_angle", "kappa", "log_scale", "log_front")
_DERIVED_BY_BETA = ("length", "tail_gap", "left_angle", "log_scale")

HALF_LINE = np.dtype(
    [
        ("alpha", np.float64),
        # Constants with the names and the values of `stablegpu._density.half_line.HalfLine`, where
        # log_front is the logarithm of `front`; their derivatives by alpha and this side's beta.
        *((name, np.float64) for name in _DERIVED_BY_ALPHA),
        *((f"{name}_by_alpha", np.float64) for name in _DERIVED_BY_ALPHA),
        *((f"{name}_by_beta", np.float64) for name in _DERIVED_BY_BETA),
        (
            "tail",
            np.float64,
            (3, FIT.tail_terms),
        ),  # coefficients of its series, and derivatives by both
        # The nodes, which `node_formulas.py` lays out.
        ("lowest", np.float64),  # below this y the density is as at zeta
        ("highest", np.float64),  # above this y the tail's series is used
        ("start", np.float64),  # t of the first node
        ("step", np.float64),  # in t between nodes; 0: no nodes
        ("count", np.int64),  # of nodes
        ("first_block", np.int64),
        ("largest_g", np.float64),  # beyond, e^-g is left out
        ("fade", np.float64),  # t over which the integrands fade behind g = 1
        ("ends", np.float64, 2),  # of the nodes' range, at small and at large V: log V, then t
    ],
    align=True,
)
"""A half-line y > 0 in a fit."""


@scalar_internal
def _digamma(x):
    """Return the digamma function by a central difference of lgamma, accurate to 1e-8."""
    h = 1e-4 * x
    return (math.lgamma(x + h) - math.lgamma(x - h)) / (2.0 * h)


@scalar_internal
def set_half_line(side, alpha, beta):
    """Set `side` to the half-line y > 0 of (alpha, beta), without its tail and nodes."""
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
    side.alpha = alpha
    side.length, side.tail_gap, side.left_angle = length, tail_gap, left_angle
    side.kappa, side.log_scale = alpha / off, log_cos / off
    side.log_front = math.log(alpha / (math.pi * abs(off)))
    side.length_by_alpha, side.length_by_beta = (whole_a - length) / alpha, whole_b / alpha
    side.tail_gap_by_alpha, side.tail_gap_by_beta = -whole_a, -whole_b
    side.left_angle_by_alpha = (other_a - left_angle) / alpha
    side.left_angle_by_beta = -whole_b / alpha
    side.kappa_by_alpha = -1.0 / (off * off)
    side.log_scale_by_alpha, side.log_scale_by_beta = (cos_a - log_cos / off) / off, cos_b / off
    side.log_front_by_alpha = 1.0 / alpha - 1.0 / off
    # Gamma(1 + 1/alpha)/Gamma(1 + 2/alpha) by Stirling's formula, whose constants cancel.
    once, twice = 1.0 / alpha, 2.0 / alpha
    log_width = (once + 0.5) * math.log1p(once) - (twice + 0.5) * math.log1p(twice) + once
    side.lowest = FIT.next_to_zeta * math.exp(log_width - log_cos / alpha)
    side.highest = np.inf
    if _is_heavy(side):
        side.highest = math.exp(min((FIT.far - log_cos) / alpha, 700.0))


@scalar_internal
def _is_heavy(side):
    """Return whether the tail is a power law."""
    return side.length > 0.0 and side.tail_gap > 0.0 and side.alpha < 2.0


@scalar_internal
def expand_tail(side, term):
    """Set coefficient number `term` of the tail's series, and its derivatives."""
    tail, n = side.tail, term + 1
    tail[0, term] = tail[1, term] = tail[2, term] = 0.0
    if not _is_heavy(side):
        return
    alpha = side.alpha
    whole, off = side.length * alpha, alpha - 1.0
    log_cos = side.log_scale * off
    cos_a = side.log_scale_by_alpha * off + side.log_scale
    cos_b = side.log_scale_by_beta * off
    angle, angle_a, angle_b = whole, -side.tail_gap_by_alpha, -side.tail_gap_by_beta
    sign = 1.0
    if side.tail_gap < whole:
        angle, angle_a, angle_b = side.tail_gap, side.tail_gap_by_alpha, side.tail_gap_by_beta
        sign = -1.0
    size = n * math.exp(math.lgamma(n * alpha) - math.lgamma(n + 1.0) - n * log_cos)
    size *= (-sign if n % 2 == 0 else 1.0) / math.pi
    bend = size * n * math.cos(n * angle)
    size *= math.sin(n * angle)
    tail[0, term] = size
    tail[1, term] = size * n * (_digamma(n * alpha) - cos_a) + bend * angle_a
    tail[2, term] = -size * n * cos_b + bend * angle_b


@scalar_internal(fastmath=FUSED)
def log_v_of(t, side):
    """Return log V without its constant factor, and its derivatives by alpha and beta at fixed t.

    The last value is dp/dt, the weight of a node.
    """
    alpha = side.alpha
    tail = math.exp(-abs(t))
    large = side.length / (1.0 + tail)
    small = large * tail
    p, r = (large, small) if t > 0.0 else (small, large)
    left_angle, tail_gap = side.left_angle, side.tail_gap
    angle = alpha * p
    sin_r = sine(r) if r < 1.5 else sine(left_angle + p)
    sin_angle = sine(angle) if angle < 1.5 else sine(tail_gap + alpha * r)
    eta = left_angle + (1.0 - alpha) * p if alpha < 1.0 else tail_gap + (alpha - 1.0) * r
    up = angle + r
    sin_eta = sine(up) if up < 1.5 else sine(eta)
    cot_r, cot_angle = cosine(r) / sin_r, cosine(angle) / sin_angle
    cot_eta = cosine(eta) / sin_eta
    p_a, p_b = p / side.length * side.length_by_alpha, p / side.length * side.length_by_beta
    r_a, r_b = r / side.length * side.length_by_alpha, r / side.length * side.length_by_beta
    if alpha < 1.0:
        eta_a = side.left_angle_by_alpha - p + (1.0 - alpha) * p_a
        eta_b = side.left_angle_by_beta + (1.0 - alpha) * p_b
    else:
        eta_a = side.tail_gap_by_alpha + r + (alpha - 1.0) * r_a
        eta_b = side.tail_gap_by_beta + (alpha - 1.0) * r_b
    kappa = side.kappa
    log_ratio = math.log(sin_r / sin_angle)
    value = kappa * log_ratio + math.log(sin_eta / sin_r)
    a = kappa * (cot_r * r_a - cot_angle * (p + alpha * p_a)) + cot_eta * eta_a - cot_r * r_a
    b = kappa * (cot_r * r_b - cot_angle * alpha * p_b) + cot_eta * eta_b - cot_r * r_b
    return value, a + side.kappa_by_alpha * log_ratio, b, p * r / side.length
