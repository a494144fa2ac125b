"""Sums over nodes where alpha is next to 1, as in `_density/pointwise/formulas.py`.

There log g = kappa log(...) is the difference of large numbers, and it is taken instead from its
value at the point where g = 1 (`gain` in `_density/nolan_formulas.py`). Its slope stays finite
although
kappa does not: log g grows as e^|t| towards either end, so the slopes at g = 1 and where e^-g is
gone set the steps.
"""

import math

from hetero.jit import scalar
from stablegpu._density.nolan_formulas import (
    distances,
    expansion_point,
    log_factor,
    log_g_at,
    log_v,
    slope_of_log_g,
    solve_g_equals_one,
)
from stablegpu._density.pointwise.formulas import (
    ABOVE,
    DECAY,
    NEAREST,
    NO_STEPS,
    STEP,
    choose_steps,
    map_node,
    singularity_angle,
    solve_log_g,
)
from stablegpu._density.value_formulas import assemble

AT_ONE = 1e-6  # of alpha to 1: nearer, there is no rule
SKEWED = 0.99  # abs(beta) from which g has a limit at one end, nearly
MOST = 1000  # nodes: those of a quadrature take as long
HEIGHT = 0.42 * math.pi  # of the singularities: where log g grows as e^|t|, a bit below pi/2


@scalar
def is_near_one(side):
    """Return whether `place_near_one` may have nodes for a point."""
    return AT_ONE < abs(side.alpha - 1.0) < NEAREST and abs(side.beta) < SKEWED


@scalar
def _end(base, slope, log_above, side):
    """Return the distance in t at which log g reaches a value, and its slope there."""
    tau, log_g = 0.0, base[2]
    for _ in range(20):
        tau += (log_above - log_g) / slope
        log_g, p, r = log_g_at(tau, base, True, 0.0, side)
        slope = slope_of_log_g(p, r, side)
        if abs(log_g - log_above) < 0.1:
            break
    return tau, slope


@scalar
def place_near_one(y, z, side):
    """Return the `Steps` of a point, and the expansion point at which g = 1."""
    log_y = log_factor(y, z, side)
    t, _ = solve_log_g(0.0, 0.1, 0.0, log_y, side)
    p, r = distances(t, side)
    base, _ = solve_g_equals_one(expansion_point(p, r, log_y + log_v(p, r, side), side), side)
    p, r = base[0], base[1]
    slope = slope_of_log_g(p, r, side)
    sign = -1.0 if side.g_increases_with_theta else 1.0
    t = math.log(p / r)
    to_end, last = _end(base, slope, math.log(ABOVE + max(0.0, sign * t)), side)
    ahead = max(-sign * t, 0.0)
    log_g, _, _ = log_g_at(-t, base, True, 0.0, side)  # where weights are largest
    rate = singularity_angle(ahead, HEIGHT, 1.0) if log_g + ahead > -DECAY else 1.0
    nearest_gap = side.left_angle if side.g_increases_with_theta else side.tail_gap
    if nearest_gap > 0.0:
        rate = min(
            rate,
            singularity_angle(max(0.0, math.log(math.pi / nearest_gap) - sign * t), HEIGHT, 1.0),
        )
    largest = max(1.0, abs(slope), abs(last))
    return choose_steps(sign, largest, ahead, abs(to_end), rate, ahead > 0.0, MOST), base


@scalar
def summed_near_one(y, steps, base, side):
    """Return pdf, low and high with their logarithms on this side."""
    density = below = above = 0.0
    for k in range(steps.light + steps.heavy):
        q = STEP * (k if k < steps.light else steps.light - 1 - k)
        tau, weight = map_node(q, steps)
        log_g, p, r = log_g_at(tau, base, True, 0.0, side)
        g = math.exp(log_g)
        decay = math.exp(-g)
        weight *= p * (r / side.length)
        density += weight * g * decay if decay > 0.0 else 0.0
        below += weight * decay
        above -= weight * math.expm1(-g)
    density, below, above = STEP * density, STEP * below, STEP * above
    if steps.by_above:
        below = side.length - above
    else:
        above = side.length - below
    return assemble(y, 0.0, density, below, above, side)


@scalar
def point_near_one(y, z, side):
    """Return the result of `summed_near_one`, and whether the point has a rule."""
    steps, base = NO_STEPS, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if is_near_one(side):
        steps, base = place_near_one(y, z, side)
    return summed_near_one(y, steps, base, side), steps.light > 0
