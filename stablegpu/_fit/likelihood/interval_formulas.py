"""log P(low < X <= high) and its derivatives, by integration of the density. For both targets.

The density is positive, so nothing cancels in either tail, and the derivatives are means of those
of log pdf over the interval. Gauss's rule is applied to panels in u = asinh(y/width), from the
centre of the distribution outwards, where y is the distance from zeta and `width` that of the peak
there (next to alpha = 1, y is the point in S0). Panels are short where log pdf is steep. Beyond
`farthest` a heavy tail is a power, which is integrated in closed form; a light one ends where it
has become negligible.

The error of log P is below 1e-9 (1e-3 next to alpha = 1, that of the table of log pdf).
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._fit.likelihood.log_pdf_formulas import log_pdf
from stablegpu._fit.likelihood.near_one_formulas import LAST, log_pdf_near_one
from stablegpu._fit.likelihood.rule import FIT
from stablegpu._numerics.asinh_formulas import asinh

_NODES = (
    *(0.0, -math.sqrt(0.6), 0.0, math.sqrt(0.6)),
    *np.polynomial.legendre.leggauss(8)[0].tolist(),
)
_WEIGHTS = (*(1.0, 5 / 18, 8 / 18, 5 / 18), *(0.5 * np.polynomial.legendre.leggauss(8)[1]).tolist())
_ONE, _THREE, _EIGHT = 0, 1, 4  # where the rules of 1, 3 and 8 nodes begin

NARROW = 0.02  # of the distance from the centre: three nodes are then exact to 1e-11
LONGEST_PANEL = 0.5  # in u, or in alpha u if alpha < 1
STEEPEST = 3.0  # change of the integrand's logarithm over a panel, at most
STEEP = 1.0  # change of log pdf over an interval for which three nodes are too few
OPEN = 60.0  # scales beyond the last finite end up to which nodes serve an open interval
NEGLIGIBLE = 1e-17  # part of the integral
MOST_PANELS = 400  # never reached


@scalar_internal
def _farthest(distribution, k):
    """Return the width of the peak at zeta, and the y from which on the tail is a power."""
    if distribution.near_one:
        return 1.0, 0.5 * math.exp(LAST)
    side = distribution.sides[k]
    # Two terms of the series are then exact to 1e-10, and one to e^-24.
    beyond = math.log(side.highest) + FIT.far / side.alpha if side.highest < np.inf else np.inf
    return side.lowest / FIT.next_to_zeta, math.exp(beyond) if beyond < 700.0 else np.inf


@scalar_internal
def score_interval(low, high, loc, distribution, nodes, series, profile):
    """Return log P(low < X <= high) plus log scale and its derivatives, as `score_observation`.

    If low = high it is the log-density. Both may be infinite.
    """
    shift, scale, alpha = distribution.shift, distribution.scale, distribution.alpha
    left = (low - loc) / scale - shift
    extent = (high - low) / scale
    right = left + extent if low > -np.inf else (high - loc) / scale - shift
    reference, total = -np.inf, 0.0
    by_y = by_a = by_b = by_scale = 0.0
    for k in range(2):
        sign = 1.0 if k == 0 else -1.0
        start, end = (left, right) if k == 0 else (-right, -left)
        if end < 0.0 or (start < 0.0 and end == 0.0) or (k == 1 and start == end == 0.0):
            continue
        inside = start >= 0.0
        start = max(start, 0.0)
        width, farthest = _farthest(distribution, k)
        last = min(end, farthest)
        unit = math.hypot(start, width)
        rule, count, length = _EIGHT, 8, 0.0
        if inside and end - start <= NARROW * unit:
            rule, count, length = (_ONE, 1, 1.0) if extent == 0.0 else (_THREE, 3, extent)
        is_panel = length == 0.0
        u_last = asinh(last / width) if is_panel else 0.0
        u = asinh(start / width) if is_panel else 0.0
        node, step, part, slope = (-1 if is_panel else 0), 0.0, 0.0, 0.0
        panels = 0
        while True:
            # One call of the density serves the start of a panel (node -1) and its nodes.
            weight = 0.0
            if not is_panel:
                y = start + 0.5 * length * (1.0 + _NODES[rule + node]) if count > 1 else start
                weight = length * _WEIGHTS[rule + node]
            elif node < 0:
                y = width * math.sinh(u)
            else:
                v = u + 0.5 * step * (1.0 + _NODES[rule + node])
                y = width * math.sinh(v)
                weight = step * _WEIGHTS[rule + node] * math.hypot(y, width)
            y = max(y, 1e-300)
            if distribution.near_one:
                value, d_y, d_a, d_b = log_pdf_near_one(sign * y, profile, alpha, distribution.beta)
            else:
                value, d_y, d_a, d_b = log_pdf(sign * y, distribution, nodes, series)
            if rule == _THREE and node == 0 and abs(d_y) * length > STEEP:
                rule, count, length, is_panel, node = _EIGHT, 8, 0.0, True, -1
                u, u_last = asinh(start / width), asinh(last / width)
                continue
            d_scale = d_y * (sign * y + shift)
            at_end = False
            if is_panel and node < 0:
                slope = sign * d_y * math.hypot(y, width) + y / math.hypot(y, width)
                at_end = y >= farthest * (1.0 - 1e-9)
                if at_end:  # the rest of a power law
                    ratio = (end / y) ** -alpha
                    if ratio < 1.0:
                        weight = y / alpha * (1.0 - ratio)
                        mean_log = 1.0 / alpha
                        mean_log -= (
                            ratio * math.log(end / y) / (1.0 - ratio) if ratio > 0.0 else 0.0
                        )
                        further = (1.0 - ratio * y / end) / (1.0 - ratio) * alpha / (1.0 + alpha)
                        d_y, d_a = d_y * further, d_a - mean_log
                        d_scale = -(1.0 + alpha) + shift * d_y
                else:
                    step = LONGEST_PANEL * max(1.0, 1.0 / alpha)
                    step = min(step, STEEPEST / max(abs(slope), 1e-300))
                    step = step if u + 1.3 * step < u_last else u_last - u
            if weight > 0.0 and value > -np.inf:
                if value > reference + 30.0:
                    factor = math.exp(reference - value)
                    reference = value
                    total, part, by_scale = factor * total, factor * part, factor * by_scale
                    by_y, by_a, by_b = factor * by_y, factor * by_a, factor * by_b
                mass = weight * math.exp(value - reference)
                total, part = total + mass, part + mass
                by_y, by_a, by_b = by_y + mass * d_y, by_a + mass * d_a, by_b + mass * d_b
                by_scale += mass * d_scale
            node += 1
            if at_end:
                break
            if node == count:
                u += step
                panels += 1
                faded = part < NEGLIGIBLE * total and slope < 0.0
                is_done = u >= u_last * (1.0 - 1e-15) and last == end
                if not is_panel or faded or is_done or panels >= MOST_PANELS:
                    break
                node, part = -1, 0.0
        if not is_panel:
            break
    if not total > 0.0:
        return -np.inf, 0.0, 0.0, 0.0, 0.0
    inverse = 1.0 / total
    by_y *= inverse
    result = reference + math.log(total) + (0.0 if extent == 0.0 else math.log(scale))
    by_a = by_a * inverse - by_y * distribution.shift_by_alpha
    by_b = by_b * inverse - by_y * distribution.shift_by_beta
    return result, by_a, by_b, -by_y, -1.0 - by_scale * inverse


@scalar_internal
def observe_interval(i, data, distribution, nodes, series, profile):
    """Return `score_interval` of observation i."""
    bounds = data[2]
    return score_interval(
        bounds[0, i], bounds[1, i], distribution.loc, distribution, nodes, series, profile
    )


@scalar_internal
def observe_interval_at(i, data, loc, distribution, nodes, series):
    """Return the value of `score_interval` for a candidate of a scan, not next to alpha = 1."""
    bounds = data[2]
    return score_interval(bounds[0, i], bounds[1, i], loc, distribution, nodes, series, nodes)[0]


@scalar_internal
def edges_of_intervals(data, s, first, last):
    """Return the least upper and the largest lower end: the support must reach beyond both."""
    return data[3][s, 0], data[3][s, 1]


@scalar_internal
def range_of_intervals(data, s, first, last, scale):
    """Return the range in which the density of set s is needed."""
    ranges = data[3]
    reach = OPEN * scale
    return ranges[s, 2] - reach * ranges[s, 4], ranges[s, 3] + reach * ranges[s, 5]
