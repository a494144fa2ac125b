"""log P(low < X <= high) and its derivatives, by integration of the density. For both targets.

The density is positive, so nothing cancels in either tail, and the derivatives are means of those
of log pdf over the interval. Gauss's rule is applied to panels in u = asinh(y/width), from the
centre of the distribution outwards, where y is the distance from zeta and `width` that of the peak
there (next to alpha = 1, y is the point in S0). Panels are short where log pdf is steep. Beyond
`farthest` a heavy tail is a power, which is integrated in closed form; a light one ends where it
has become negligible.

The error of log P is below 1e-9 (1e-4 next to alpha = 1, that of the table of log pdf).
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
LONGEST_PANEL = 0.5  # in u, or in alpha u if alpha < 1 and u > BEYOND_PEAK
BEYOND_PEAK = 3.0
STEEPEST = 3.0  # change of the integrand's logarithm over a panel, at most
MOST_BENT = 1.0  # change of its slope times the length
SHORTEST_PANEL = 1e-3
STEEP = 1.0  # change of log pdf over an interval for which three nodes are too few
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
def _vanishes_at_zeta(distribution, k):
    """Return whether the density of a half-line decays towards zeta faster than any power."""
    return not distribution.near_one and distribution.sides[k].left_angle == 0.0


@scalar_internal
def _mean_over_tail(y, end, alpha):
    """Return the mass from y to `end` over y pdf(y), and what differs there from a point.

    The density is a power law. The others are the mean of y/x, and that of log(x/y).
    """
    ratio = (end / y) ** -alpha
    mean_log = 1.0 / alpha
    if ratio > 0.0:
        mean_log -= ratio * math.log(end / y) / (1.0 - ratio)
    nearer = (1.0 - ratio * y / end) / (1.0 - ratio) * alpha / (1.0 + alpha)
    return (1.0 - ratio) / alpha, nearer, mean_log


@scalar_internal
def score_interval(low, high, loc, distribution, nodes, series, profile):
    """Return log P(low < X <= high) plus log scale and its derivatives, as `score_observation`.

    If low = high it is the log-density. Both may be infinite.
    """
    shift, scale, alpha = distribution.shift, distribution.scale, distribution.alpha
    left, right = (low - loc) / scale - shift, (high - loc) / scale - shift
    extent = (high - low) / scale
    if extent < 0.5 * abs(left):
        right = left + extent
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
        rule, count = _EIGHT, 8
        is_short = inside and end - start <= NARROW * math.hypot(start, width)
        if is_short:
            rule, count = (_ONE, 1) if extent == 0.0 else (_THREE, 3)
        # u goes from `u` to `u_last`: outwards, or inwards where the density vanishes at zeta.
        u, u_last, outwards = asinh(start / width), asinh(max(last, start) / width), 1.0
        if _vanishes_at_zeta(distribution, k):
            u, u_last, outwards = u_last, u, -1.0
        step, slope, next_slope, part = 0.0, 0.0, 0.0, 0.0
        level = next_level = 0.0
        left_over, node, panels = abs(u_last - u), (0 if is_short else -2), 0
        while True:
            # One call of the density serves the nodes of a panel, both of its ends (node -1 is the
            # next one, -2 the first or the last of all), and short intervals, which have no panels.
            weight = 0.0
            if is_short:
                y = start if count == 1 else start + 0.5 * extent * (1.0 + _NODES[rule + node])
                weight = 1.0 if count == 1 else extent * _WEIGHTS[rule + node]
            elif node < 0:
                y = width * math.sinh(u + (outwards * step if node == -1 else 0.0))
            else:
                y = width * math.sinh(u + 0.5 * outwards * step * (1.0 + _NODES[rule + node]))
                weight = step * _WEIGHTS[rule + node] * math.hypot(y, width)
            y = max(y, 1e-300)
            if distribution.near_one:
                value, d_y, d_a, d_b = log_pdf_near_one(sign * y, profile, alpha, distribution.beta)
            else:
                value, d_y, d_a, d_b = log_pdf(sign * y, distribution, nodes, series)
            if rule == _THREE and node == 0 and abs(d_y) * extent > STEEP:
                rule, count, is_short, node = _EIGHT, 8, False, -2
                continue
            d_scale = d_y * (sign * y + shift)
            size = math.hypot(y, width)
            is_tail = node == -2 and end > farthest and y >= farthest * (1.0 - 1e-9)
            if is_tail:
                mass, nearer, mean_log = _mean_over_tail(y, end, alpha)
                weight, d_y, d_a = y * mass, d_y * nearer, d_a - mean_log
                d_scale = shift * d_y - (1.0 + alpha)
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
            if is_short:
                node += 1
                if node == count:
                    break
                continue
            if node >= 0:
                node += 1
                if node < count:
                    continue
                panels += 1
                u += outwards * step
                left_over = 0.0 if step == left_over else left_over - step
                if (part < NEGLIGIBLE * total and next_slope < 0.0) or panels >= MOST_PANELS:
                    break
                slope, level, part = next_slope, next_level, 0.0
                if left_over == 0.0:
                    if outwards < 0.0 or end <= farthest:
                        break
                    node = -2
                    continue
            elif node == -2:
                if (is_tail and outwards > 0.0) or left_over == 0.0:
                    break
                slope = outwards * (sign * d_y * size + y / size)
                level = value + math.log(size)
            else:  # the next end of a panel
                next_slope = outwards * (sign * d_y * size + y / size)
                next_level = value + math.log(size)
                # Both ends may be flat although the density rises between them.
                excess = next_level - level - 0.5 * (slope + next_slope) * step
                bends = abs(next_slope - slope) * step > MOST_BENT or not value > -np.inf
                bends = bends or abs(excess) > MOST_BENT
                if bends and step > SHORTEST_PANEL:
                    step *= 0.5
                else:
                    node = 0
                continue
            step = LONGEST_PANEL * (max(1.0, 1.0 / alpha) if u > BEYOND_PEAK else 1.0)
            step = min(step, STEEPEST / max(abs(slope), 1e-300))
            step = left_over if left_over < 1.3 * step else step
            node = -1
        if is_short:
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
def range_of_intervals(data, s, first, last):
    """Return the range in which the density of set s is needed."""
    ranges = data[3]
    low = -np.inf if ranges[s, 4] > 0.0 else ranges[s, 2]
    return low, np.inf if ranges[s, 5] > 0.0 else ranges[s, 3]
