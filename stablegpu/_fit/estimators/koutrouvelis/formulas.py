"""Regression on the empirical characteristic function, for both targets.

I. A. Koutrouvelis (1980, 1981). For the standard distribution in S0, log phi(t) is for t > 0

    -t^alpha + i beta eta(t),   eta(t) = tan(pi alpha/2) (t^alpha - t),

so of data moved to location 0 and scale 1 as far as these are known, log(-log |phi|) is a line in
log t, whose slope is alpha, and the angle of phi is a sum of t and eta(t): two linear regressions.
Their errors are correlated; both are weighted by the inverse of the covariance that the estimate of
the last pass gives. Koutrouvelis tabulates how many points k pi/25 to use for each alpha and sample
size; here the points are those at which |phi| takes given values.

A few observations are huge for small alpha: at 1e20 scales cos(t z) is that of rounding errors, and
each pass would multiply these. So exp(i t z) is faded out for large t z, where its mean is nearly 0
anyway: power tails are smooth there. This holds about the S1 location, at which the density for
small alpha has its peak or its end; `origin` is there.
"""

import math

from hetero.jit import scalar
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._numerics.trigonometry_formulas import tan_half_pi

FADE, GONE = 128.0, 2048.0  # angles t z between which exp(i t z) fades to 0
# From 32 to 256 on, errors of alpha are a third larger at alpha = 0.2, beta = 0.95, where the first
# location is off by scales; from 512 to 8192 on, rounding changes estimates by up to 4e-12.
POINTS = 16
HIGHEST, LOWEST = 0.96, 0.05  # |phi| at the first and the last point
PASSES = 3
SUMS = 2 * POINTS  # of cos t_k z and of sin t_k z
SCRATCH = POINTS * (POINTS + 6)
NORMAL = 1.9  # alpha of the weights at most: the points' correlations tend to 1 at alpha = 2
RIDGE = 1e-4  # of the variances, added
IN_S1 = 0.6  # alpha below which the regression is that of S1; not tuned
NO_SKEW = 1.995  # eta vanishes at alpha = 2
GRID = 256.0  # steps in a unit of alpha, beta, log2 scale, and of the location times the largest t
MOST = 3.0  # log of the factor by which a pass changes the scale
_T, _ANGLE, _Y, _X0, _X1 = (POINTS * (POINTS + i) for i in range(5))


@scalar
def level(k):
    """Return |phi| at point number k, equally spaced from `HIGHEST` to `LOWEST`."""
    return HIGHEST - (HIGHEST - LOWEST) / (POINTS - 1) * k


@scalar
def point(k, alpha):
    """Return the t at which |phi| is level(k)."""
    return (-math.log(level(k))) ** (1.0 / min(alpha, NORMAL))


@scalar
def wave(angle):
    """Return cosine and sine of an angle, faded out beyond `FADE`."""
    share, size = 1.0, abs(angle)
    if not size <= FADE:  # seldom, which saves the division
        if not size < GONE:
            return 0.0, 0.0
        fade = (size - FADE) / (GONE - FADE)
        share = 1.0 - fade * fade * (3.0 - 2.0 * fade)
    return share * math.cos(angle), share * math.sin(angle)


@scalar
def _to_s1(alpha, beta):
    """Return the distance from the S1 location to that of S0, in scales; 0 for large alpha."""
    return beta * tan_half_pi(alpha) if alpha < IN_S1 else 0.0


@scalar
def origin(alpha, beta, loc, scale):
    """Return the point about which data of an estimate are summed."""
    return loc - _to_s1(alpha, beta) * scale


@scalar
def eta(t, alpha):
    """Return tan(pi alpha/2) (t^alpha - t), with its limit at alpha = 1."""
    if t == 0.0:
        return 0.0
    off = 1.0 - alpha
    if abs(off) < 1e-9:
        return -2.0 / math.pi * t * math.log(t)
    return t * math.expm1(-off * math.log(t)) / math.tan(0.5 * math.pi * off)


@scalar
def _covariances(alpha, beta, angles, scratch):
    """Write the covariances of log(-log |phi|), or of the angles, times the number of data.

    Only the lower triangle is written.
    """
    for j in range(POINTS):
        for k in range(j + 1):
            near, far = scratch[_T + j] - scratch[_T + k], scratch[_T + j] + scratch[_T + k]
            down = beta * eta(near, alpha) - (scratch[_ANGLE + j] - scratch[_ANGLE + k])
            up = beta * eta(far, alpha) - (scratch[_ANGLE + j] + scratch[_ANGLE + k])
            difference = math.exp(-(near**alpha)) * math.cos(down)
            total = math.exp(-(far**alpha)) * math.cos(up)
            product = level(j) * level(k)
            if angles:
                value = 0.5 * (difference - total) / product
            else:
                value = 0.5 * (difference + total) / product - 1.0
                value /= math.log(level(j)) * math.log(level(k))
            scratch[POINTS * j + k] = value * (1.0 + RIDGE) if j == k else value


@scalar
def _whitened(scratch):
    """Factorize the covariances by Cholesky, and whiten y and both regressors."""
    for j in range(POINTS):
        for k in range(j + 1):
            value = scratch[POINTS * j + k]
            for n in range(k):
                value -= scratch[POINTS * j + n] * scratch[POINTS * k + n]
            if j == k:
                scratch[POINTS * j + j] = math.sqrt(max(value, 1e-300))
            else:
                scratch[POINTS * j + k] = value / scratch[POINTS * k + k]
        for v in (_Y, _X0, _X1):
            value = scratch[v + j]
            for n in range(j):
                value -= scratch[POINTS * j + n] * scratch[v + n]
            scratch[v + j] = value / scratch[POINTS * j + j]


@scalar
def _product(scratch, v, w):
    total = 0.0
    for k in range(POINTS):
        total += scratch[v + k] * scratch[w + k]
    return total


@scalar
def _solved(scratch):
    """Return the coefficients of both regressors."""
    a, b, c = _product(scratch, _X0, _X0), _product(scratch, _X0, _X1), _product(scratch, _X1, _X1)
    p, q = _product(scratch, _X0, _Y), _product(scratch, _X1, _Y)
    determinant = a * c - b * b
    return (c * p - b * q) / determinant, (a * q - b * p) / determinant


@scalar
def _round(value):
    """Return the nearest multiple of 1/`GRID`; that of -value is its negative."""
    return math.copysign(math.floor(abs(value) * GRID + 0.5) / GRID, value)


@scalar
def regress(estimate, sums, count, scratch, is_last):
    """Return the next estimate (alpha, beta, S0 location, scale).

    The sums are those of data about `origin` in units of the last scale; `scratch` is working
    memory. Unless it `is_last`, the next estimate lies on a grid around the last one: then sums in
    another order and data in other units lead to the same points and weights, and rounding errors
    are not amplified from pass to pass. The regression is exact for any units, so the grid costs no
    precision.
    """
    alpha, beta, loc, scale = estimate
    with_skew = beta if alpha <= NORMAL else 0.0
    weights_alpha = min(alpha, NORMAL)
    for k in range(POINTS):
        t = point(k, alpha)
        scratch[_T + k], scratch[_ANGLE + k] = t, with_skew * eta(t, weights_alpha)
        size = math.hypot(sums[k], sums[POINTS + k]) / count
        size = min(max(size, 1e-6), 1.0 - 1e-9)
        scratch[_Y + k] = math.log(-math.log(size))
        scratch[_X0 + k], scratch[_X1 + k] = 1.0, math.log(t)
    _covariances(weights_alpha, with_skew, False, scratch)
    _whitened(scratch)
    height, slope = _solved(scratch)
    result = min(max(slope, ALPHA_RANGE[0]), ALPHA_RANGE[1])
    factor = math.exp(min(max(height / result, -MOST), MOST))
    # For small alpha eta is nearly a multiple of t: its other term takes its place, as in S1.
    to_s1, moved = _to_s1(result, 1.0), _to_s1(alpha, beta)
    for k in range(POINTS):
        # The angle next to that of the last estimate: it may be larger than pi.
        last = scratch[_ANGLE + k] + moved * scratch[_T + k]
        c, s = math.cos(last), math.sin(last)
        real, imaginary = sums[k], sums[POINTS + k]
        # Adding 0 turns -0 to 0: the angle of vanishing sums is the last one, too.
        off = math.atan2(imaginary * c - real * s + 0.0, real * c + imaginary * s + 0.0)
        scratch[_Y + k] = scratch[_ANGLE + k] + off
        t = factor * scratch[_T + k]
        scratch[_X0 + k] = t
        scratch[_X1 + k] = to_s1 * t**result if to_s1 > 0.0 else eta(t, min(result, NO_SKEW))
    _covariances(weights_alpha, with_skew, True, scratch)
    _whitened(scratch)
    shift, skew = _solved(scratch)
    if not abs(skew) <= 1.0 or result == 2.0:
        skew = 0.0 if result == 2.0 else math.copysign(1.0, skew)
        remainder = _product(scratch, _X0, _Y) - skew * _product(scratch, _X0, _X1)
        shift = remainder / _product(scratch, _X0, _X0)
    shift += skew * to_s1
    if not (abs(shift) < math.inf and abs(skew) <= 1.0):
        return alpha, beta, loc, scale
    if not is_last:
        result, skew = max(_round(result), ALPHA_RANGE[0]), _round(skew)
        shift *= factor * point(POINTS - 1, result)
        factor = 2.0 ** _round(math.log(factor) / math.log(2.0))
        shift = _round(shift) / (factor * point(POINTS - 1, result))
    return result, skew, loc + shift * factor * scale, scale * factor
