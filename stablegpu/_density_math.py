"""Nolan's integrals for the density and the distribution function, as formulas of scalars.

Nolan (1997), as equations 3-16 of Julian-Moreno et al. (2016), rearranged so that nothing cancels.
With p = theta + theta0 and r = pi/2 - theta, the distances from the two ends of the interval, and
for y = x - zeta > 0 (y < 0 is mirrored: x -> -x, beta -> -beta),

    g = y^kappa V,   kappa = alpha / (alpha - 1),
    V = cos(alpha theta0)^(1/(alpha-1)) (sin r / sin(alpha p))^kappa sin(eta) / sin(r),
    eta = pi/2 - theta0 - (alpha - 1) p,
    pdf = alpha / (pi |alpha - 1| y) int g e^-g dp,
    sf = 1/pi int e^-g dp (alpha > 1),   sf = 1/pi int (1 - e^-g) dp (alpha < 1),

and the other of the last two integrals, plus (pi/2 - theta0)/pi, is cdf: both are sums of positive
terms, accurate to the last digits in both tails. alpha = 1 (beta > 0) has g = e^(-pi x/(2 beta)) V,

    V = (2/pi) (pi/2 + beta theta) / cos(theta) exp((pi/2 + beta theta) tan(theta) / beta),

sf, cdf as for alpha < 1 with theta0 = pi/2, and pdf = 1/(2 beta) int g e^-g dp.

The integrals are taken over t with p = P s(t), r = P s(-t), s the logistic function and P the
length of the interval: powers of p and r at the ends become exponentials, peaks however close to
an end keep a width of order one, and the integrand is analytic on the whole line. Then
t = c + w sinh(u) puts the peak at u = 0 and gathers the far ends. Panels are laid out in u.
"""

import math

import numpy as np

from hetero.jit import scalar

EPSILON = 2.0**-52
HOPELESS = 1e-5
T_MAX = 690.0  # s(-t) underflows beyond
DROP = 40.0  # e^-40: what may be left out of an integrand, relative to its peak
AT_ZETA = 1e-100  # closer to zeta the density and the distribution function do not change
UNDERFLOW = 800.0  # a peak under e^-800 is 0 in float64
U_STEP = 0.5  # in searches for the ends of the contributing interval
U_MAX = 16.0


@scalar
def distances(t, side):
    """p and r of theta(t): how far it is from the two ends of the interval."""
    tail = math.exp(-abs(t))
    large = side.length / (1.0 + tail)
    small = large * tail
    return (large, small) if t > 0.0 else (small, large)


@scalar
def log_v(t, side):
    """log V and dp/dt at theta(t)."""
    p, r = distances(t, side)
    sin_r = math.sin(r) if r < 1.5 else math.sin(side.rest + p)
    slope = p * r / side.length
    if side.alpha == 1.0:
        height = 0.5 * math.pi * (1.0 - side.beta) + side.beta * p  # pi/2 + beta theta
        cot_r = math.cos(r) / sin_r
        return math.log(height / sin_r) + height * cot_r / side.beta, slope
    angle = side.alpha * p
    sin_angle = math.sin(angle) if angle < 1.5 else math.sin(side.gap + side.alpha * r)
    q = angle + r  # pi - eta
    if q < 1.5:
        sin_eta = math.sin(q)
    elif side.alpha < 1.0:
        sin_eta = math.sin(side.rest + (1.0 - side.alpha) * p)
    else:
        sin_eta = math.sin(side.gap + (side.alpha - 1.0) * r)
    return side.kappa * math.log(sin_r / sin_angle) + math.log(sin_eta / sin_r), slope


@scalar
def log_factor(y, side):
    """log g - log V's part that depends on theta; y > 0, for alpha = 1 the signed argument."""
    if side.alpha == 1.0:
        return side.log_scale - 0.5 * math.pi * y / side.beta
    return side.log_scale + side.kappa * math.log(y)


@scalar
def rounding(log_y, side):
    """Relative error of g from the rounding of its logarithm's two parts, which may cancel.

    Above HOPELESS the peak is lost in the noise: the result is NaN, with an infinite error.
    """
    return EPSILON * (abs(log_y - side.log_scale) + abs(side.log_scale))


@scalar
def height(t, log_y, side):
    """log of the density's integrand over t, with a finite descent where it underflows."""
    log_g, slope = log_v(t, side)
    log_g += log_y
    if log_g > 700.0:
        return -1e295 * min(log_g, 1e12)
    return log_g - math.exp(log_g) + math.log(slope)


@scalar
def ends(left, right, log_y, side):
    """g at its lower end, and what the ends beyond [left, right] give to the three sums.

    Below, g is too small to change e^-g; above, e^-g is too small to count.
    """
    log_g, _ = log_v(left if side.rising else right, side)
    p, r = distances(left, side)[0], distances(right, side)[1]
    return math.exp(log_g + log_y), p if side.rising else r, r if side.rising else p


@scalar
def integrands(t, log_y, g_min, side):
    """g e^-(g - g_min), e^-(g - g_min) and 1 - e^-g, times dp/dt."""
    log_g, slope = log_v(t, side)
    g = math.exp(log_y + log_g)
    decay = math.exp(g_min - g)
    return (slope * g * decay if decay > 0.0 else 0.0), slope * decay, -slope * math.expm1(-g)


@scalar
def assemble(y, g_min, density, below, above, side):
    """pdf, cdf and sf on this side from the three integrals."""
    decay = math.exp(-g_min)
    pdf = side.front * density * decay
    if side.alpha != 1.0:
        pdf /= y
    low = side.rest / math.pi + (below * decay if side.rising else above) / math.pi
    high = (above if side.rising else below * decay) / math.pi
    return pdf, min(low, 1.0), min(high, 1.0)  # the sum of two parts may round upwards


@scalar
def cauchy(x):
    """alpha = 1, beta = 0: pdf, cdf and sf in closed form."""
    cdf = math.atan2(1.0, -x) / math.pi
    return 1.0 / (math.pi * (1.0 + x * x)), cdf, math.atan2(1.0, x) / math.pi


@scalar
def is_mirrored(y, flip, side):
    """Whether -y is evaluated, with pdf, cdf, sf read as pdf, sf, cdf."""
    return flip if side.alpha == 1.0 else y < 0.0


@scalar
def is_trivial(y, side):
    """Whether no integral is needed: NaN, infinity, zeta itself, no support, Cauchy. y >= 0."""
    if side.alpha == 1.0:
        return side.beta == 0.0 or not abs(y) < np.inf
    return y < AT_ZETA or not y < np.inf or side.length <= 0.0


@scalar
def trivial(y, side):
    """pdf, cdf, sf where `is_trivial`."""
    if y != y:
        return y, y, y
    if abs(y) < np.inf:
        if side.alpha == 1.0:
            return cauchy(y)
        if y < AT_ZETA:
            return side.peak, side.rest / math.pi, side.length / math.pi
    return (0.0, 1.0, 0.0) if y > 0.0 else (0.0, 0.0, 1.0)
