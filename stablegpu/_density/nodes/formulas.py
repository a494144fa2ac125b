"""Nolan's integrals as sums over nodes that do not depend on x, for both targets.

In log g = kappa log y + log V(theta) the point enters as a factor of V alone. So theta, V and
the weights are computed once for each side of zeta (`build.py`), and a point costs one
exponential per node:

    int e^-g dtheta = sum_j w_j e^(-Y V_j),   Y = y^kappa,

by the trapezoidal rule in the variable t of `_density/nolan_formulas.py`. In t the integrand is
analytic and vanishes at both ends, so the error decays exponentially with the number of nodes.
Where V has a limit V_0 > 0 (light tails), U = V - V_0 takes its place, and e^(-Y V_0) is a factor.

Of the nodes, sorted by U, only a window matters: above it e^-g vanishes and the sum of the
weights is known; below it g is small, and the sum is a power series in Y whose coefficients,
moments of the weights, are known. The window consists of whole blocks. `rule.py` has the constants.
"""

import math
from typing import NamedTuple

from hetero.arrays import Array
from hetero.intrinsics.floats import signed_bits_of
from hetero.jit import FUSED, scalar
from stablegpu._density.tails.heavy_formulas import sum_tail
from stablegpu._density.value_formulas import add_logarithms, assemble, compute_values
from stablegpu._numerics.exponential_formulas import LARGEST_EXPONENT, exp_minus

FIRST_OCTAVE, OCTAVES = -1016, 2032


class NodeRange(NamedTuple):
    """Range of y on one half-line that the nodes serve, and the series of its tail."""

    lowest: float  # below this y the distribution is as at y = 0, or it has vanished
    highest: float  # above this y the tail's series is used, or the distribution has vanished
    limit: float  # V_0, or 0
    log_limit: float
    octave: int  # where this side starts in the arrays by octave
    tail1: float  # coefficients of sf in powers of y^-alpha; 0: light tail
    tail2: float
    tail3: float
    tail4: float


class Nodes(NamedTuple):
    """Nodes of both sides, U ascending in each. The blocks of both are numbered consecutively."""

    values: Array  # U_j
    weights: Array  # w_j
    moments: Array  # by block: coefficients of the power series of the sum over nodes before it
    largest: Array  # by block: largest U before it
    beyond: Array  # by block: sum of the weights from it on
    first: Array  # by octave of Y: first block of the window
    last: Array  # by octave of Y: the block after the window


@scalar(fastmath=FUSED)
def evaluate_node(scale, u, weight):
    """Return the contributions of a node to the integrals of g e^-g, e^-g and 1 - e^-g."""
    g = scale * u
    g = g if g < LARGEST_EXPONENT else LARGEST_EXPONENT
    low = weight * exp_minus(g)
    return low * g, low, weight - low


@scalar(fastmath=FUSED)
def octave_of(scale):
    """Return the row of Y in the arrays by octave."""
    return (signed_bits_of(scale) >> 52) - 1023 - FIRST_OCTAVE


@scalar(fastmath=FUSED)
def complete_sums(window, z, high, slope, before, beyond, g_min, side):
    """Return int g e^-(g - g_min), int e^-(g - g_min), int 1 - e^-g from their parts.

    `window` has the three sums over the window, `high` and `slope` are the power series in z of
    the nodes `before` it (sum of weights) and its derivative, `beyond` the weights behind it.
    """
    density, below, above = window
    density -= slope * z
    below += before + high * z
    above += beyond - high * z
    if g_min > 0.0:
        density += g_min * below
        above = math.exp(-g_min) * above - math.expm1(-g_min) * side.length
    return density, below, above


@scalar
def assemble_requested(y, g_min, density, below, above, side, logs):
    """Return what `assemble` returns, but logarithms only if `logs`: they take most of the time."""
    if logs:
        return assemble(y, g_min, density, below, above, side)
    pdf, low, high = compute_values(y, g_min, density, below, above, side)
    return pdf, low, high, 0.0, 0.0, 0.0


@scalar
def is_outside(y, side, node_range):
    """Return whether no sum is needed: NaN, outside the support, next to zeta, far tail."""
    return not node_range.lowest < y < node_range.highest


@scalar
def evaluate_outside(y, side, node_range):
    """Return pdf, low and high with their logarithms where `is_outside`."""
    if y != y:
        return add_logarithms(y, y, y)
    if side.length <= 0.0 or not y < math.inf:
        return add_logarithms(0.0, 1.0, 0.0)
    if node_range.limit > 0.0 and (y > node_range.lowest) == (side.alpha > 1.0):
        return evaluate_vanished(y, side, node_range)
    if y <= node_range.lowest:
        low, high = side.left_angle / math.pi, side.length / math.pi
        return add_logarithms(side.peak, min(low, 1.0), min(high, 1.0))
    return sum_tail(y, side.alpha, node_range)


@scalar
def evaluate_vanished(y, side, node_range):
    """Return the values in a light tail so far out that only e^-g counts in its logarithm."""
    log_g = side.kappa * math.log(y) + node_range.log_limit if y > 0.0 else math.inf
    g = math.exp(log_g)
    log_pdf = math.log(side.front / y) - g if g < math.inf else -math.inf
    if side.g_increases_with_theta:
        low, high = 0.0, 1.0
        return 0.0, low, high, log_pdf, -g, 0.0
    return 0.0, 1.0, 0.0, log_pdf, 0.0, -g
