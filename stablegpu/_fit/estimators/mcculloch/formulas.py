"""McCulloch's estimator for both targets: from five quantiles to a distribution
(`_fit/estimators/mcculloch/estimate.py`).

alpha and beta follow from two ratios of quantiles by two nested searches, in surfaces over alpha
and the angle whose sine is beta that are interpolated bilinearly.
"""

import math

import numpy as np

from hetero.jit import scalar
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._numerics.root_formulas import next_trial

ALPHAS, ANGLES = 381, 193  # grid of the surfaces: alpha in [0.1, 2], beta in [0, 1]
LOWEST, HIGHEST = ALPHA_RANGE
TOLERANCE = 1e-12  # of the brackets of alpha and the angle, whose ends depend on rounding
TIES, TOTAL, ESTIMATE_SIZE = 4, 5, 6  # after the estimate: largest weight of equal data, and of all
P05, P25, P50, P75, P95 = 0.05, 0.25, 0.5, 0.75, 0.95


@scalar
def _surface(surfaces, k, alpha, angle):
    """Return surface k of four at (alpha, angle).

    They are the logs of nu_alpha, of (q95 - q50)/(q50 - q05) and of the quartile range, each times
    alpha, and the median over that range.
    """
    x = (alpha - LOWEST) * ((ALPHAS - 1) / (HIGHEST - LOWEST))
    y = angle * ((ANGLES - 1) / (0.5 * math.pi))
    i, j = min(max(int(x), 0), ALPHAS - 2), min(max(int(y), 0), ANGLES - 2)
    x -= i
    y -= j
    entry = (k * ALPHAS + i) * ANGLES + j
    low = surfaces[entry] + y * (surfaces[entry + 1] - surfaces[entry])
    entry += ANGLES
    high = surfaces[entry] + y * (surfaces[entry + 1] - surfaces[entry])
    return low + x * (high - low)


@scalar
def _excess(alpha, angle, log_ratio, surfaces):
    """Return the excess of the ratio of ranges over that of a distribution; it rises with alpha."""
    return log_ratio * alpha - _surface(surfaces, 0, alpha, angle)


@scalar
def _alpha_of(angle, log_ratio, surfaces):
    """Return the alpha in range that comes nearest to the ratio of ranges, for a skewness."""
    low, high = LOWEST, HIGHEST
    below = _excess(low, angle, log_ratio, surfaces)
    above = _excess(high, angle, log_ratio, surfaces)
    if above <= 0.0:
        return high
    if below >= 0.0:
        return low
    width = high - low
    reach = 2.0 * width
    while high - low > TOLERANCE:
        alpha = next_trial(low, high, below, above, width, reach)
        value = _excess(alpha, angle, log_ratio, surfaces)
        if value < 0.0:
            low, below = alpha, value
        else:
            high, above = alpha, value
        reach *= 0.5
    return low + (high - low) * (below / (below - above))


@scalar
def _skew_excess(alpha, angle, log_skew, surfaces):
    """Return the excess of a distribution's log ratio of tails over a given one, times alpha."""
    return _surface(surfaces, 1, alpha, angle) - log_skew * alpha


@scalar
def _angle_of(log_skew, log_ratio, surfaces):
    """Return the angle in [0, pi/2] that comes nearest to a log ratio of tails >= 0, and alpha."""
    low, high = 0.0, 0.5 * math.pi
    at_low, at_high = _alpha_of(low, log_ratio, surfaces), _alpha_of(high, log_ratio, surfaces)
    below = _skew_excess(at_low, low, log_skew, surfaces)
    above = _skew_excess(at_high, high, log_skew, surfaces)
    if above <= 0.0:
        return high, at_high
    if below >= 0.0:
        return low, at_low
    width = high - low
    reach = 2.0 * width
    while high - low > TOLERANCE:
        angle = next_trial(low, high, below, above, width, reach)
        value = _skew_excess(_alpha_of(angle, log_ratio, surfaces), angle, log_skew, surfaces)
        if value < 0.0:
            low, below = angle, value
        else:
            high, above = angle, value
        reach *= 0.5
    angle = low + (high - low) * (below / (below - above))
    return angle, _alpha_of(angle, log_ratio, surfaces)


@scalar
def quartiles_of(alpha, beta, surfaces):
    """Return the median and the quartile range of the standard distribution in S0."""
    angle = math.asin(min(abs(beta), 1.0))
    width = math.exp(_surface(surfaces, 2, alpha, angle) / alpha)
    sign = -1.0 if beta < 0.0 else 1.0
    return sign * _surface(surfaces, 3, alpha, angle) * width, width


@scalar
def estimate(q05, q25, q50, q75, q95, surfaces):
    """Return alpha, beta, S0 location, scale; NaN where the quartiles are equal or not finite."""
    quartiles, span = q75 - q25, q95 - q05
    if not 0.0 < quartiles < np.inf or not span < np.inf:
        return np.nan, np.nan, np.nan, np.nan
    log_ratio = math.log(span / quartiles)
    above, below = q95 - q50, q50 - q05
    sign = -1.0 if above < below else 1.0
    least = min(above, below)
    # nu_beta, the difference of both over their sum, would lose its digits next to 1.
    log_skew = math.log(max(above, below)) - math.log(least) if least > 0.0 else np.inf
    angle, alpha = _angle_of(log_skew, log_ratio, surfaces)
    if alpha == HIGHEST:
        angle = 0.0
    beta = 1.0 if angle == 0.5 * math.pi else math.sin(angle)
    scale = quartiles / math.exp(_surface(surfaces, 2, alpha, angle) / alpha)
    loc = q50 - sign * _surface(surfaces, 3, alpha, angle) * quartiles
    return alpha, sign * beta, loc, scale


@scalar
def quantile(x, weights, start, stop, total, p):
    """Return a quantile of sorted data with McCulloch's correction for continuity.

    It is linear between the data, which are quantiles at (i - 1/2)/n. With weights, n is their sum;
    a datum of weight w counts as w equal data, one of a weight below 1 as a part of one.
    """
    count = stop - start
    if weights.size == 0:
        position = min(max(count * p - 0.5, 0.0), count - 1.0)
        below = min(int(position), count - 2)
        lower, upper = x[start + below], x[start + below + 1]
        return lower + (position - below) * (upper - lower)
    target, reached = p * total, 0.0
    before, last = 0.0, x[start]
    for i in range(start, stop):
        if weights[i] == 0.0:
            continue
        half = 0.5 * min(weights[i], 1.0)
        middle = reached + half  # of the first of the equal ones
        if middle >= target:
            share = (target - before) / (middle - before)
            return last + share * (x[i] - last) if reached > 0.0 else x[i]
        reached += weights[i]
        before, last = reached - half, x[i]
        if before >= target:
            return last
    return last


@scalar
def estimate_within(low, q05, q25, q50, q75, q95, high, surfaces):
    """Return `estimate`, with bad data flagged in the alpha slot: +inf if data are not finite, -inf
    if their range overflows float64, NaN if the quartiles are equal."""
    result = estimate(q05, q25, q50, q75, q95, surfaces)
    if not (-np.inf < low and high < np.inf):
        return np.inf, result[1], result[2], result[3]
    if not high - low < np.inf:
        return -np.inf, result[1], result[2], result[3]
    return result


@scalar
def weight_of_equals(x, weights, offset, weighted, i, stop):
    """Return the weight of the sorted data x[i:stop] that equal x[i]; 0 if x[i - 1] does, too.

    Their weights are at weights[offset + i].
    """
    if i > 0 and x[i - 1] == x[i]:
        return 0.0
    value, total = x[i], 0.0
    while i < stop and x[i] == value:
        total += weights[offset + i] if weighted else 1.0
        i += 1
    return total


@scalar
def start_of(x, weights, start, stop, surfaces):
    """Return McCulloch's estimate for sorted data, as `estimate_within`."""
    total = 0.0
    for i in range(start, stop if weights.size else start):
        total += weights[i]
    return estimate_within(
        x[start],
        quantile(x, weights, start, stop, total, P05),
        quantile(x, weights, start, stop, total, P25),
        quantile(x, weights, start, stop, total, P50),
        quantile(x, weights, start, stop, total, P75),
        quantile(x, weights, start, stop, total, P95),
        x[stop - 1],
        surfaces,
    )
