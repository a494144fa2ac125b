"""The tail that is thinner than any power, on one side of the distributions with |beta| = 1.

At a distance s from the location of S0, with q = tan(pi (alpha - 1)/2),

    pdf = dL/ds exp(-L + c/L)/sqrt(2 pi alpha L) (1 + O(1/L^2)),  c = (2 - alpha)(2 - 1/alpha)/24,
    L = (alpha - 1)/q (alpha^alpha sqrt(1 + q^2))^(-1/(alpha - 1)) (1 + q s)^(alpha/(alpha - 1)),

(Zolotarev 1986, theorem 2.5.2, in S0; at alpha = 1: L = 2/pi exp(pi s/2 - 1).) For alpha < 1 the
support ends at s = -1/q.
"""

import math

from hetero.jit import scalar

NEXT_TO_ONE = 1e-7
"""Least |alpha - 1|: nearer, derivatives by alpha lose digits, and the limit is met to 1e-7."""


@scalar
def off_one(alpha: float) -> float:
    """Return alpha - 1, or `NEXT_TO_ONE` if it is smaller."""
    return alpha - 1.0 if abs(alpha - 1.0) > NEXT_TO_ONE else NEXT_TO_ONE


@scalar
def log_level_at_location(off: float, q: float) -> float:
    """Return log L at s = 0."""
    alpha = 1.0 + off
    return math.log(off / q) - (alpha * math.log1p(off) + 0.5 * math.log1p(q * q)) / off


@scalar
def distance_in_thin_tail(level: float, alpha: float) -> tuple[float, float]:
    """Return the s at which L is `level`, and 1 + q s: its distance from -1/q, times |q|."""
    off = off_one(alpha)
    q = math.tan(0.5 * math.pi * off)
    log_inside = off / (1.0 + off) * (math.log(level) - log_level_at_location(off, q))
    return math.expm1(log_inside) / q, math.exp(log_inside)


@scalar
def log_pdf_in_thin_tail(s: float, alpha: float) -> tuple[float, float, float, float]:
    """Return log pdf at the distance s, its derivatives by s and alpha, and L.

    The relative error of the density next to alpha = 1 is 0.02/L^2 (measured).
    """
    off = off_one(alpha)
    q = math.tan(0.5 * math.pi * off)
    alpha, inside = 1.0 + off, 1.0 + q * s
    if not inside > 0.0:
        return -math.inf, 0.0, 0.0, math.inf
    log_inside = math.log(inside)
    log_level = log_level_at_location(off, q) + alpha / off * log_inside
    if log_level > 700.0:
        return -math.inf, 0.0, 0.0, math.inf
    level, q_a = math.exp(log_level), 0.5 * math.pi * (1.0 + q * q)
    correction = (2.0 - alpha) * (2.0 - 1.0 / alpha) / (24.0 * level)
    value = 0.5 * log_level - level + correction + math.log(alpha * q / (off * inside))
    value -= 0.5 * math.log(2.0 * math.pi * alpha)
    by_s = alpha * q / (off * inside)
    by_a = 1.0 / off - q_a / q - (math.log1p(off) + 1.0 + q * 0.5 * math.pi) / off
    by_a += (alpha * math.log1p(off) + 0.5 * math.log1p(q * q) - log_inside) / (off * off)
    by_a += alpha / off * q_a * s / inside
    slope = 0.5 - level - correction  # by log L
    by_a = slope * by_a + 0.5 / alpha + q_a / q - 1.0 / off - q_a * s / inside
    return value, slope * by_s - q / inside, by_a, level
