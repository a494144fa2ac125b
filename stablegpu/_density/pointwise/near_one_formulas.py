"""Sums over nodes where alpha is next to 1, as in `_density/pointwise/formulas.py`.

There log g = kappa log(...) is the difference of large numbers, and it is taken instead from its
value at the point where g = 1 (`log_g_difference` in `_density/nolan_formulas.py`). Its slope stays
finite although kappa does not: log g grows as e^|t| towards either end, so the slopes at g = 1 and
where e^-g vanishes set the steps.
"""

import math

from hetero.jit import scalar
from stablegpu._density import nolan_formulas as nolan
from stablegpu._density.pointwise.formulas import (
    NO_STEPS,
    choose_steps,
    map_node,
    singularity_angle,
    solve_log_g,
)
from stablegpu._density.pointwise.rule import POINTWISE
from stablegpu._density.value_formulas import assemble


@scalar
def is_near_one(side):
    """Return whether `place_near_one` may have nodes for a point."""
    is_near = POINTWISE.at_one < abs(side.alpha - 1.0) < POINTWISE.nearest_to_one
    return is_near and abs(side.beta) < POINTWISE.skewed


@scalar
def _end(base, slope, log_above, side):
    """Return the distance in t at which log g reaches a value, and its slope there."""
    tau, log_g = 0.0, base[2]
    for _ in range(20):
        tau += (log_above - log_g) / slope
        log_g, p, r = nolan.log_g_at(tau, base, True, 0.0, side)
        slope = nolan.slope_of_log_g(p, r, side)
        if abs(log_g - log_above) < 0.1:
            break
    return tau, slope


@scalar
def place_near_one(y, z, side):
    """Return the `Steps` of a point, and the expansion point at which g = 1."""
    log_y = nolan.log_factor(y, z, side)
    t, _ = solve_log_g(0.0, 0.1, 0.0, log_y, side)
    p, r = nolan.distances(t, side)
    base, _ = nolan.solve_g_equals_one(
        nolan.expansion_point(p, r, log_y + nolan.log_v(p, r, side), side), side
    )
    p, r = base[0], base[1]
    slope = nolan.slope_of_log_g(p, r, side)
    sign = -1.0 if side.g_increases_with_theta else 1.0
    t = math.log(p / r)
    to_end, last = _end(base, slope, math.log(POINTWISE.largest_g + max(0.0, sign * t)), side)
    ahead = max(-sign * t, 0.0)
    log_g, _, _ = nolan.log_g_at(-t, base, True, 0.0, side)  # where weights are largest
    height, rate = POINTWISE.height_at_one, 1.0
    if log_g + ahead > -POINTWISE.decay:
        rate = singularity_angle(ahead, height, 1.0)
    nearest_gap = side.left_angle if side.g_increases_with_theta else side.tail_gap
    if nearest_gap > 0.0:
        distance = max(0.0, math.log(math.pi / nearest_gap) - sign * t)
        rate = min(rate, singularity_angle(distance, height, 1.0))
    largest = max(1.0, abs(slope), abs(last))
    most = POINTWISE.most_nodes_at_one
    return choose_steps(sign, largest, ahead, abs(to_end), rate, ahead > 0.0, most), base


@scalar
def sum_nodes_near_one(y, steps, base, side):
    """Return pdf, low and high with their logarithms on this side."""
    density = below = above = 0.0
    for k in range(steps.light + steps.heavy):
        q = POINTWISE.step * (k if k < steps.light else steps.light - 1 - k)
        tau, weight = map_node(q, steps)
        log_g, p, r = nolan.log_g_at(tau, base, True, 0.0, side)
        g = math.exp(log_g)
        decay = math.exp(-g)
        weight *= p * (r / side.length)
        density += weight * g * decay if decay > 0.0 else 0.0
        below += weight * decay
        above -= weight * math.expm1(-g)
    density, below, above = POINTWISE.step * density, POINTWISE.step * below, POINTWISE.step * above
    if steps.by_above:
        below = side.length - above
    else:
        above = side.length - below
    return assemble(y, 0.0, density, below, above, side)


@scalar
def try_near_one(y, z, side):
    """Return the result of `sum_nodes_near_one`, and whether the point has a rule."""
    steps, base = NO_STEPS, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if is_near_one(side):
        steps, base = place_near_one(y, z, side)
    return sum_nodes_near_one(y, steps, base, side), steps.light > 0
