"""Fixed-panel Gauss-Kronrod evaluation of Nolan's integrals on the CPU, one point an iteration."""

import math

import numpy as np
from numba import prange

from hetero.jit import parallel, scalar
from stablegpu._density_math import (
    DROP,
    HOPELESS,
    T_MAX,
    U_MAX,
    U_STEP,
    UNDERFLOW,
    assemble,
    ends,
    height,
    integrands,
    is_mirrored,
    is_trivial,
    log_factor,
    rounding,
    trivial,
)

_SECTIONS = 12  # of the interval in each step of the search for the peak
_PASSES = 4  # evaluations of all panels, at most


@scalar
def _peak(log_y, side):
    """Where the integrand over t is largest, its height, and the scale on which it changes."""
    left, right = -T_MAX, T_MAX
    while True:
        step = (right - left) / _SECTIONS
        best = -np.inf
        at = 0
        before = after = here = -np.inf
        for i in range(_SECTIONS + 1):
            h = height(left + i * step, log_y, side)
            if h > best:
                best, at, before = h, i, here
            if i == at + 1:
                after = h
            here = h
        center = left + at * step
        resolved = 0 < at < _SECTIONS and before > best - 1.0 and after > best - 1.0
        if resolved or step < 1e-10 * (1.0 + abs(center)):
            return center, best, step
        left, right = max(center - step, -T_MAX), min(center + step, T_MAX)


@scalar
def _reach(direction, center, best, width, log_y, side):
    """How far in u the integrand matters on one side of its peak."""
    u = 0.0
    while u < U_MAX:
        following = center + direction * width * math.sinh(u + U_STEP)
        if abs(following) > T_MAX:
            break
        u += U_STEP
        if height(following, log_y, side) < best - DROP:
            break
    return direction * u


@scalar
def _panel(left, size, center, width, log_y, g_min, side, rule):
    """The three Kronrod sums of a panel, and how far Gauss's differ from them."""
    nodes, kronrod, gauss = rule
    k0 = k1 = k2 = d0 = d1 = d2 = 0.0
    for j in range(nodes.size):
        for sign in (-1.0, 1.0):
            u = left + 0.5 * size * (1.0 + sign * nodes[j])
            f0, f1, f2 = integrands(center + width * math.sinh(u), log_y, g_min, side)
            scale = 0.5 * size * width * math.cosh(u)
            weight, excess = scale * kronrod[j], scale * (kronrod[j] - gauss[j])
            k0 += weight * f0
            k1 += weight * f1
            k2 += weight * f2
            d0 += excess * f0
            d1 += excess * f1
            d2 += excess * f2
    return k0, k1, k2, abs(d0), abs(d1), abs(d2)


@scalar
def _unfinished(sums, total, tolerance, forced):
    """First and last of the panels that still matter and have to be evaluated again."""
    first, last = len(sums), -1
    for i in range(len(sums)):
        again = False
        for k in range(3):
            whole = total[k]
            for other in range(len(sums)):
                whole += sums[other, k]
            again = again or sums[i, 3 + k] > tolerance * whole
            again = again or (forced and k == 0 and sums[i, 0] > 0.01 * whole)
        if again:
            first, last = min(first, i), i
    return first, last


@scalar
def _point(y, side, rule, panels, tolerance, forced):
    """pdf, cdf, sf and the estimated relative error for y > 0 (alpha = 1: any y)."""
    log_y = log_factor(y, side)
    noise = rounding(log_y, side)
    if noise > HOPELESS:
        return math.nan, math.nan, math.nan, math.inf
    center, best, width = _peak(log_y, side)
    if best < -UNDERFLOW:
        pdf, cdf, sf = assemble(y, 0.0, 0.0, 0.0, side.length, side)
        return pdf, cdf, sf, noise
    left = _reach(-1.0, center, best, width, log_y, side)
    right = _reach(1.0, center, best, width, log_y, side)
    g_min, below, above = ends(
        center + width * math.sinh(left), center + width * math.sinh(right), log_y, side
    )
    total = np.zeros(6)  # density, below, above, and the estimated error of each
    total[1], total[2] = below, above
    sums = np.empty((panels, 6))
    for attempt in range(_PASSES):
        size = (right - left) / panels
        for i in range(panels):
            six = _panel(left + i * size, size, center, width, log_y, g_min, side, rule)
            for k in range(6):
                sums[i, k] = six[k]
        first, last = _unfinished(sums, total, tolerance, forced and attempt == 0)
        done = last < 0 or attempt == _PASSES - 1
        for i in range(panels):
            if done or not first <= i <= last:
                for k in range(6):
                    total[k] += sums[i, k]
        if done:
            break
        left, right = left + first * size, left + (last + 1) * size
    pdf, cdf, sf = assemble(y, g_min, total[0], total[1], total[2], side)
    relative = 0.0
    for k in range(3):
        if total[k] > 0.0:
            relative = max(relative, total[3 + k] / total[k])
    return pdf, cdf, sf, relative + noise


@parallel
def _evaluate_points(
    x, loc, scale, shift, flip, right, left, rule, panels, tolerance, forced, pdf, cdf, sf, error
):
    for i in prange(x.size):
        y = (x[i] - loc) / scale - shift
        mirrored = is_mirrored(y, flip, right)
        side = left if mirrored else right
        if mirrored:
            y = -y
        if is_trivial(y, side):
            f, low, high = trivial(y, side)
            e = 0.0
        else:
            f, low, high, e = _point(y, side, rule, panels, tolerance, forced)
        if pdf.size:  # an empty array: not wanted
            pdf[i] = f / scale
        if cdf.size:
            cdf[i] = high if mirrored else low
        if sf.size:
            sf[i] = low if mirrored else high
        error[i] = e


def evaluate(
    x,
    loc,
    scale,
    shift,
    flip,
    right,
    left,
    rule,
    panels,
    tolerance,
    forced,
    pdf,
    cdf,
    sf,
    error,
    stream=0,
):
    """pdf, cdf, sf at (x - loc)/scale, with an estimate of the relative quadrature error."""
    _evaluate_points(
        x,
        loc,
        scale,
        shift,
        flip,
        right,
        left,
        rule,
        panels,
        tolerance,
        forced,
        pdf,
        cdf,
        sf,
        error,
    )
