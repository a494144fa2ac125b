"""Nolan's integrals for parameters that differ from point to point, for both targets.

Nothing can be prepared here: a point builds its own `HalfLine`, finds where g = 1, and sums some
ninety nodes. The variable t and the integrals are those of `_density/nolan_formulas.py`. The
integrands are analytic on the whole line and vanish at its ends, so the trapezoidal rule converges
exponentially. It needs a map t(q) whose steps are `step` in log g where e^-g changes, and elsewhere
a fraction of the distance to the nearest singularity:

    t = centre + width (q + stretch (e^(rate q) - 1) - lead (e^-q - 1)).

q > 0 is the side of small g. There log g has singularities at t = 0 +- i pi and, where the interval
is nearly one of a light tail, at log(pi/nearest_gap) +- i pi; `rate` is the angle subtended by the
nearest one. Towards large g steps must not grow before e^-g is gone.

Of the integrals of e^-g and 1 - e^-g the smaller one has its mass near g = 1 and is summed; the
other is the remainder of the interval. As everywhere, all terms are positive.

Near alpha = 1, log g needs the differences of `_density/nolan_formulas.py` (see
`_density/pointwise/near_one_formulas.py`). At alpha = 1 itself and far out in light tails no rule
works. Such a point is called hard: `lay_out_nodes` gives it no nodes, and quadrature evaluates it.
"""

import math
from typing import NamedTuple

import numpy as np

from hetero.intrinsics.bits import select
from hetero.jit import FUSED, SUMS, scalar
from stablegpu._density.half_line_formulas import extent, half_line_at_one, half_line_of
from stablegpu._density.nolan_formulas import T_MAX, distances, log_factor, log_v, slope_of_log_g
from stablegpu._density.pointwise.points import value_for_point
from stablegpu._density.pointwise.rule import POINTWISE
from stablegpu._density.value_formulas import assemble
from stablegpu._density.zeta_formulas import NEXT_TO_ZETA, zeta_in_parts
from stablegpu._numerics.branchless_formulas import lesser, power
from stablegpu._numerics.exponential_formulas import LARGEST_EXPONENT
from stablegpu._numerics.trigonometry_formulas import sine, tan_half_pi


class Steps(NamedTuple):
    """Map from q to t - centre, and the number of nodes."""

    width: float  # negative where g grows with t
    rate: float
    lead: float
    light: int  # nodes with q >= 0
    heavy: int  # nodes with q < 0
    by_above: bool  # whether 1 - e^-g is summed, not e^-g


NO_STEPS = Steps(0.0, 0.0, 0.0, 0, 0, False)


class NodeLayout(NamedTuple):
    """Layout of the nodes of a point, and the point's constants in g."""

    steps: Steps
    centre: float
    base: float  # g = (base sin r / sin(alpha p))^kappa sin(eta) / sin(r)
    least: float  # limit of g that is subtracted, or 0
    nearest_gap: float  # eta at the end where g is small


# ---- the point ---------------------------------------------------------------------------------


@scalar
def standardize_point(x, alpha, beta, loc, scale, s0):
    """Return y, z, the side of zeta and whether it is mirrored; y is NaN for bad parameters."""
    z = (x - loc) / scale
    fine = 0.0 < alpha <= 2.0 and abs(beta) <= 1.0 and 0.0 < scale < np.inf and abs(loc) < np.inf
    if not fine:
        z, alpha, beta = np.nan, 1.0, 0.0
    if alpha == 1.0:
        if not s0:
            z -= beta * (2.0 / math.pi) * math.log(scale)
        mirrored = beta < 0.0
        z = -z if mirrored else z
        return z, z, half_line_at_one(abs(beta)), mirrored
    zeta = -beta * tan_half_pi(alpha)
    y = z
    if not s0:
        z += zeta
    else:
        y -= zeta
        if abs(y) < NEXT_TO_ZETA * abs(zeta):
            high, low = zeta_in_parts(alpha, beta)
            y = (z - high) - low
    whole, tail_gap = extent(alpha, beta)
    other, other_gap = extent(alpha, -beta)
    mirrored = y < 0.0
    if mirrored:
        y, z, beta, zeta = -y, -z, -beta, -zeta
        whole, tail_gap, other = other, other_gap, whole
    return y, z, half_line_of(alpha, beta, zeta, whole, tail_gap, other), mirrored


def make_standardize_at(decorate):
    """Make `standardize_at(i, points)`: `standardize_point` of point i, and its scale.

    It takes arrays, so each target compiles it for its own.
    """
    value_at = decorate(value_for_point)

    def standardize_at(i, points):
        result = standardize_point(
            value_at(points.x, i),
            value_at(points.alpha, i),
            value_at(points.beta, i),
            value_at(points.loc, i),
            value_at(points.scale, i),
            value_at(points.in_s0, i),
        )
        return result, value_at(points.scale, i)

    return decorate(standardize_at)


# ---- the nodes ---------------------------------------------------------------------------------


@scalar
def solve_log_g(target, precision, t, log_y, side):
    """Return t where log g is near `target`, and the slope there, by Newton's method in bounds."""
    low, high = -T_MAX, T_MAX
    slope = 0.0
    for _ in range(60):
        p, r = distances(t, side)
        excess = log_y + log_v(p, r, side) - target
        slope = slope_of_log_g(p, r, side)
        if abs(excess) < precision:
            break
        if (excess > 0.0) == side.g_increases_with_theta:
            high = t
        else:
            low = t
        t -= excess / slope
        if not low < t < high:
            t = 0.5 * (low + high)
    return t, slope


@scalar
def singularity_angle(distance, height, fall):
    """Return the angle of the nearest singularity, or 1 if the integrands do not reach it."""
    if fall * distance < POINTWISE.decay:
        return POINTWISE.angle_fraction * math.atan2(height, distance)
    return 1.0


@scalar
def choose_steps(sign, steepest, ahead, to_end, rate, by_above, most):
    """Choose the steps between the nodes of a point; none if there would be too many nodes.

    `steepest` is the largest slope of log g, `ahead` the way in t to where weights fall again,
    `to_end` that to where e^-g is gone.
    """
    heavy = to_end * steepest
    lead = 0.0
    if by_above:
        lead = POINTWISE.lead * math.exp(-heavy)
        heavy += math.log(POINTWISE.decay * steepest / POINTWISE.lead)
    length = (ahead + POINTWISE.decay) * steepest  # all fall off as e^-|t|
    light = min(length, math.log1p(length / POINTWISE.stretch) / rate)
    if not light + heavy < most * POINTWISE.step:
        return NO_STEPS
    light = _whole_vectors(light / POINTWISE.step + 1.0)
    heavy = _whole_vectors(heavy / POINTWISE.step)
    return Steps(sign / steepest, rate, lead, light, heavy, by_above)


@scalar
def _whole_vectors(count):
    return (int(count) // POINTWISE.vector + 1) * POINTWISE.vector


@scalar
def lay_out_nodes(y, z, side):
    """Lay out the nodes for a point with y > 0; a hard point gets no nodes."""
    alpha = side.alpha
    nearest_gap = side.left_angle if side.g_increases_with_theta else side.tail_gap
    log_y = log_factor(y, z, side)
    least = 0.0
    if nearest_gap == 0.0:
        log_least = log_y + math.log(abs(1.0 - alpha)) - side.kappa * math.log(alpha)
        least = math.exp(log_least) if log_least < math.log(POINTWISE.lightest) else np.inf
    nearest = POINTWISE.nearest_to_one_light if nearest_gap == 0.0 else POINTWISE.nearest_to_one
    if abs(alpha - 1.0) < nearest or least == np.inf:
        return NodeLayout(NO_STEPS, 0.0, 0.0, 0.0, 0.0)
    t, slope = solve_log_g(math.log1p(least), 0.1 / (1.0 + least), 0.0, log_y, side)
    sign = -1.0 if side.g_increases_with_theta else 1.0
    # Beyond t = 0 the weights have fallen as e^-|t|: nearer to 0, less of e^-g counts as much.
    log_above = math.log(POINTWISE.largest_g + max(0.0, sign * t) + least)
    end, _ = solve_log_g(log_above, 0.1, t + log_above / slope, log_y, side)
    steepest = max(1.0, alpha) / abs(1.0 - alpha)
    if nearest_gap == 0.0:
        steepest = max(steepest, 2.0)
    ahead = max(-sign * t, 0.0)
    # Near alpha = 1, log g falls as -e^|t|, and e^-g grows on half the way to the singularity.
    height = 0.5 * math.pi if abs(alpha - 1.0) < POINTWISE.exponential else math.pi
    rate = singularity_angle(ahead, height, min(1.0, alpha / abs(1.0 - alpha)))
    if nearest_gap > 0.0:
        rate = min(
            rate,
            singularity_angle(max(0.0, math.log(math.pi / nearest_gap) - sign * t), height, 1.0),
        )
    by_above = ahead > 0.0 and least < 1.0
    steps = choose_steps(sign, steepest, ahead, abs(end - t), rate, by_above, POINTWISE.most_nodes)
    base = math.exp(log_y / side.kappa)
    return NodeLayout(steps, t, base, least if least >= 1.0 else 0.0, nearest_gap)


@scalar(fastmath=FUSED, forceinline=True)
def _exponential(x):
    """Return e^x and 1 - e^x, each to full relative accuracy."""
    g, p, q = power(math.e, x)
    whole = p * q
    return whole + whole * g, (1.0 - whole) - whole * g


@scalar(fastmath=FUSED, forceinline=True)
def map_node(q, steps):
    """Return t - centre and dt/dq."""
    growth = POINTWISE.stretch * _exponential(steps.rate * q)[0]
    lead = steps.lead * _exponential(-q)[0]
    tau = steps.width * (q + (growth - POINTWISE.stretch) - (lead - steps.lead))
    return tau, abs(steps.width) * (1.0 + steps.rate * growth + lead)


@scalar(fastmath=FUSED, forceinline=True)
def _node(q, layout, side):
    """Return what a node adds to three integrals.

    They are those of g e^-(g - least), e^-(g - least) and 1 - e^-(g - least). There are no
    branches, so that vector units compute several nodes at once.
    """
    tau, weight = map_node(q, layout.steps)
    t = layout.centre + tau
    tail = _exponential(-abs(t))[0]
    large = side.length / (1.0 + tail)
    small = large * tail
    p, r = select(t > 0.0, large, small), select(t > 0.0, small, large)
    # As in `sines`: each angle from the nearer end.
    angle = side.alpha * p
    sin_r = sine(lesser(r, side.left_angle + p))
    sin_angle = sine(lesser(angle, side.tail_gap + side.alpha * r))
    eta = layout.nearest_gap + abs(1.0 - side.alpha) * select(side.g_increases_with_theta, p, r)
    excess, s0, s1 = power(layout.base * (sin_r / sin_angle), side.kappa)
    g = (1.0 + excess) * s0 * s1 * (sine(lesser(eta, angle + r)) / sin_r)
    g = lesser(g - layout.least, LARGEST_EXPONENT)
    g = select(g > 0.0, g, 0.0)
    decay, complement = _exponential(-g)
    weight *= large * small / side.length
    return weight * (g + layout.least) * decay, weight * decay, weight * complement


@scalar(fastmath=SUMS)
def _sums(layout, side):
    """Return the sums of `_node` over q = 0, h, 2 h, ..., and then over q = -h, -2 h, ..."""
    density = below = above = 0.0
    turn = float(layout.steps.light)
    for k in range(np.uint64(layout.steps.light + layout.steps.heavy)):
        n = float(k)
        n = select(n < turn, n, turn - 1.0 - n)
        f, low, high = _node(POINTWISE.step * n, layout, side)
        density += f
        below += low
        above += high
    return POINTWISE.step * density, POINTWISE.step * below, POINTWISE.step * above


@scalar
def sum_nodes(y, layout, side):
    """Return pdf, low and high with their logarithms on this side."""
    density, below, above = _sums(layout, side)
    if layout.steps.by_above:
        below = side.length - above
    elif layout.least > 0.0:
        above = side.length - math.exp(-layout.least) * below
    else:
        above = side.length - below
    return assemble(y, layout.least, density, below, above, side)
