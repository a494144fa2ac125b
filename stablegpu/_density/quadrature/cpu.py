"""Fixed-panel Gauss-Kronrod evaluation of Nolan's integrals on the CPU, one point an iteration."""

import math

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, scalar
from stablegpu._density import nolan_formulas as nolan
from stablegpu._density import value_formulas
from stablegpu._density.outputs import write
from stablegpu._density.quadrature.kronrod import MOST_PASSES

_SECTIONS = 12  # of the interval in each step of the search for the peak

_FIRST = 1 << 12
"""Points of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""


@scalar
def _peak(log_y, side):
    """Find the t at which the integrand is largest, and the scale on which it changes there."""
    left, right = -nolan.T_MAX, nolan.T_MAX
    while True:
        step = (right - left) / _SECTIONS
        best = -np.inf
        best_index = 0
        before = after = current = -np.inf
        for i in range(_SECTIONS + 1):
            h = nolan.log_integrand(left + i * step, log_y, side)
            if nolan.is_higher(h, best, side):
                best, best_index, before = h, i, current
            if i == best_index + 1:
                after = h
            current = h
        center = left + best_index * step
        resolved = 0 < best_index < _SECTIONS and before > best - 1.0 and after > best - 1.0
        resolved = resolved and best > nolan.LOST
        if resolved or step < nolan.STEEP:
            return center, step
        left, right = max(center - step, -nolan.T_MAX), min(center + step, nolan.T_MAX)


@scalar
def _reach(direction, center, best, width, base, steep, log_y, side):
    """Return how far in u the integrand matters on one side of its peak."""
    u = 0.0
    while u < nolan.U_MAX:
        tau = direction * width * math.sinh(u + nolan.U_STEP)
        if abs(center + tau) > nolan.T_MAX:
            break
        u += nolan.U_STEP
        log_g, p, r = nolan.log_g_at(tau, base, steep, log_y, side)
        if nolan.log_integrand_of(log_g, p * r / side.length) < best - nolan.DROP:
            break
    return direction * u


@scalar
def _panel(interval, width, base, steep, log_y, g_min, side, rule):
    """Return the three Kronrod sums of a panel, and the distance of Gauss's sums from them.

    `interval` holds the panel's lower end and its size.
    """
    left, size = interval
    nodes, kronrod, gauss = rule
    k0 = k1 = k2 = d0 = d1 = d2 = 0.0
    for j in range(nodes.size):
        for sign in (-1.0, 1.0):
            u = left + 0.5 * size * (1.0 + sign * nodes[j])
            tau = width * math.sinh(u)
            f0, f1, f2 = nolan.evaluate_integrands(tau, base, steep, log_y, g_min, side)
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
def _unfinished(sums, whole, tolerance, forced):
    """Return the first and the last of the panels that must be evaluated again."""
    first, last = len(sums), -1
    for i in range(len(sums)):
        again = forced and sums[i, 0] > 0.01 * whole[0]
        for k in range(3):
            again = again or sums[i, 3 + k] > tolerance * whole[k]
        if again:
            first, last = min(first, i), i
    return first, last


@scalar
def point(y, z, side, rule, panels, tolerance, forced):
    """Return pdf, cdf, sf, their logarithms and the estimated relative error.

    y must be positive unless alpha = 1.
    """
    log_y = nolan.log_factor(y, z, side)
    if nolan.is_far_in_light_tail(log_y, side):
        return value_formulas.evaluate_light_tail(y, log_y, side), 8.0 * nolan.EPSILON
    center, width = _peak(log_y, side)
    p, r = nolan.distances(center, side)
    log_g = log_y + nolan.log_v(p, r, side)
    base = nolan.expansion_point(p, r, log_g, side)
    steep = nolan.is_steep(width, p, r, side)
    if steep:
        base, width = nolan.solve_g_equals_one(base, side)
    elif log_g > nolan.LIGHT:
        return value_formulas.evaluate_light_tail(y, log_g, side), 8.0 * nolan.EPSILON
    best = nolan.log_integrand_of(base[2], base[0] * base[1] / side.length)
    left = _reach(-1.0, center, best, width, base, steep, log_y, side)
    right = _reach(1.0, center, best, width, base, steep, log_y, side)
    g_min, below, above = nolan.cut_ends(
        width * math.sinh(left), width * math.sinh(right), base, steep, log_y, side
    )
    total = np.zeros(6)  # density, below, above, and the estimated error of each
    total[1], total[2] = below, above
    whole = np.zeros(3)  # the first three as the first pass sees them
    sums = np.empty((panels, 6))
    waiting = np.empty((MOST_PASSES + 2, 2))  # intervals to evaluate
    waiting[0, 0], waiting[0, 1] = left, right
    count, attempt = 1, 0
    while count > 0:
        count -= 1
        left, right = waiting[count, 0], waiting[count, 1]
        size = (right - left) / panels
        for i in range(panels):
            interval = left + i * size, size
            six = _panel(interval, width, base, steep, log_y, g_min, side, rule)
            for k in range(6):
                sums[i, k] = six[k]
        if attempt == 0:
            for k in range(3):
                whole[k] = total[k]
                for i in range(panels):
                    whole[k] += sums[i, k]
        first, last = _unfinished(sums, whole, tolerance, forced and attempt == 0)
        attempt += 1
        done = last < 0 or attempt > MOST_PASSES
        for i in range(panels):
            if done or not first <= i <= last:
                for k in range(6):
                    total[k] += sums[i, k]
        if done:
            continue
        middle = first
        if 2 * (last + 1 - first) > panels:  # two distant peaks: each gets the whole rule
            middle = (first + last + 1) // 2
            waiting[count, 0], waiting[count, 1] = left + first * size, left + middle * size
            count += 1
        waiting[count, 0], waiting[count, 1] = left + middle * size, left + (last + 1) * size
        count += 1
    result = value_formulas.assemble(y, g_min, total[0], total[1], total[2], side)
    relative = 8.0 * nolan.EPSILON
    for k in range(3):
        # Beyond, only the logarithms are left, and to those the sums are a small addition.
        if total[k] > 0.0 and g_min < nolan.UNDERFLOW:
            relative = max(relative, total[3 + k] / total[k])
    return result, relative


@parallel
def _evaluate_points(x, frame, right, left, rule, settings, outputs, error):
    """Evaluate the integrals of each point in one iteration of the parallel loop."""
    panels, tolerance, forced = settings
    for i in prange(x.size):
        y, z, mirrored = value_formulas.standardize(x[i], frame, right.alpha)
        side = left if mirrored else right
        e = 0.0
        if value_formulas.is_trivial(z, y, side):
            result = value_formulas.evaluate_trivial(z, y, side)
        else:
            result, e = point(y, z, side, rule, panels, tolerance, forced)
        write(outputs, i, value_formulas.restore_side(result, mirrored, frame.scale))
        error[i] = e


def evaluate(x, frame, half_lines, rule, settings, outputs, error, stream=0):
    """Write pdf, cdf, sf and their logarithms at points, with the estimated relative error."""
    constants = (frame, *half_lines, rule, settings)
    for a, b in ranges(x.size, first=_FIRST):
        parts = tuple(values[a:b] for values in outputs)
        _evaluate_points(x[a:b], *constants, parts, error[a:b])
