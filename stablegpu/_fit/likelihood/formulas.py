"""Log-likelihood of a data set, its gradient and the products of its scores, for both targets.

`lanes` share these steps and wait for each other after each: `choose_candidates` (by lane 0 alone),
`prepare`, `find_node_ends`, `allocate_nodes` (by lane 0 alone), `build`, `block_moments` and
`running_moments`; then `score_observation` for the data, or `score_candidate` for the data and all
candidates of a scan, whose distributions have the same nodes.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._density.pointwise.formulas import tan_half_pi
from stablegpu._fit.likelihood import half_line_formulas as of_half_line
from stablegpu._fit.likelihood import near_one_formulas as near_one
from stablegpu._fit.likelihood import node_formulas as of_nodes
from stablegpu._fit.likelihood.half_line_formulas import FIELDS
from stablegpu._fit.likelihood.log_pdf_formulas import log_pdf, log_pdf_alone
from stablegpu._fit.optimizer import codes, slots
from stablegpu._fit.optimizer.restart_formulas import CENTRE

ALPHA, LOC, SCALE, SHIFT, SHIFT_A, SHIFT_B, NEAR, BETA = range(2 * FIELDS, 2 * FIELDS + 8)
DISTRIBUTION_SIZE = 2 * FIELDS + 8  # numbers that describe a distribution

# Where the ascent of a set begins: alpha, beta, and location and log of the scale in the units
# that follow, location and scale of S0; the least alpha; a number that `_fit/likelihood/cuda.py`
# counts with; the choices of `_fit/second_starts/formulas.py`.
UNITS, LEAST_ALPHA, ARRIVED, CHOICES = 4, 6, 7, 8
BEGINNING = 11


@scalar_internal
def prepare(state, unit_loc, unit_scale, lowest, highest, distribution, lane, lanes):
    """Set the distribution of the trial point, with nodes for data in [lowest, highest]."""
    alpha, beta = state[slots.TRIAL], state[slots.TRIAL + 1]
    scale = unit_scale * math.exp(state[slots.TRIAL + 3])
    near = abs(alpha - 1.0) < near_one.NEAREST
    in_s1 = state[slots.IN_S1] > 0.0
    shift = shift_a = shift_b = 0.0
    if near == in_s1:  # nodes hold the distribution in S1, the table that in S0
        tangent, sign = tan_half_pi(alpha), 1.0 if in_s1 else -1.0
        shift, shift_b = sign * beta * tangent, sign * tangent
        shift_a = sign * beta * 0.5 * math.pi * (1.0 + tangent * tangent)
    if lane == 0:
        distribution[ALPHA], distribution[BETA], distribution[SCALE] = alpha, beta, scale
        distribution[LOC] = unit_loc + unit_scale * state[slots.TRIAL + 2]
        distribution[NEAR] = 1.0 if near else 0.0
        distribution[SHIFT], distribution[SHIFT_A], distribution[SHIFT_B] = shift, shift_a, shift_b
    if near:
        return
    least = most = state[slots.TRIAL + 2]
    if state[slots.PHASE] >= codes.SCANNING:
        least, most = state[slots.CANDIDATES], state[slots.CANDIDATES + slots.CANDIDATE_COUNT - 1]
    low = (lowest - (unit_loc + unit_scale * most)) / scale - shift
    high = (highest - (unit_loc + unit_scale * least)) / scale - shift
    for k in range(lane, 2, lanes):
        of_half_line.set_half_line(distribution, k, alpha, beta if k == 0 else -beta)
        nearest, farthest = (low, high) if k == 0 else (-high, -low)
        of_nodes.set_node_range(distribution, k, max(nearest, 0.0), farthest, alpha)


@scalar_internal
def find_node_ends(distribution, lane, lanes):
    """Locate both ends of the node range of each half-line; one end per lane."""
    if distribution[NEAR] == 0.0:
        for job in range(lane, 4, lanes):
            of_nodes.find_node_ends(distribution, job, distribution[ALPHA])


@scalar_internal
def allocate_nodes(distribution):
    """Allocate room for the nodes of both half-lines."""
    if distribution[NEAR] == 0.0:
        of_nodes.allocate_nodes(distribution, distribution[ALPHA])


@scalar_internal
def build(distribution, nodes, profile, table, lane, lanes):
    """Compute the nodes and the tail series, or the profile next to alpha = 1."""
    if distribution[NEAR] > 0.0:
        for knot in range(lane, near_one.PROFILE, lanes):
            near_one.profile_at(knot, table, profile, distribution[ALPHA], distribution[BETA])
    else:
        of_nodes.evaluate_nodes(distribution, nodes, lane, lanes, distribution[ALPHA])
        # The last lanes have the fewest nodes.
        for term in range(lanes - 1 - lane, 2 * of_half_line.TAIL_TERMS, lanes):
            of_half_line.expand_tail(distribution, term, distribution[ALPHA])


@scalar_internal
def block_moments(distribution, nodes, series, lane, lanes):
    """Compute the power series for small g of each block of nodes."""
    if distribution[NEAR] == 0.0:
        of_nodes.block_moments(distribution, nodes, series, lane, lanes)


@scalar_internal
def running_moments(distribution, series, lane, lanes):
    """Accumulate the power sums of the blocks, unless alpha is near 1."""
    if distribution[NEAR] == 0.0:
        of_nodes.running_moments(distribution, series, lane, lanes)


@scalar_internal
def score_observation(x, distribution, nodes, series, profile):
    """Return log pdf of an observation plus log scale, and its derivatives.

    The derivatives are those by alpha, beta, location over the scale, and log of the scale.
    """
    z = (x - distribution[LOC]) / distribution[SCALE]
    if distribution[NEAR] > 0.0:
        result = near_one.log_pdf_near_one(
            z - distribution[SHIFT], profile, distribution[ALPHA], distribution[BETA]
        )
    else:
        result = log_pdf(z - distribution[SHIFT], distribution, nodes, series, distribution[ALPHA])
    value, by_z, by_a, by_b = result
    by_a -= by_z * distribution[SHIFT_A]
    by_b -= by_z * distribution[SHIFT_B]
    return value, by_a, by_b, -by_z, -1.0 - z * by_z


@scalar_internal
def score_candidate(x, loc, distribution, nodes, series):
    """Return the value of `score_observation` for a candidate of a scan, not next to alpha = 1."""
    z = (x - loc) / distribution[SCALE]
    return log_pdf_alone(z - distribution[SHIFT], distribution, nodes, series, distribution[ALPHA])


@scalar_internal
def half_sample_mode(x):
    """Return the half-sample mode, an index into sorted data.

    This densest spot is found by replacing the interval by its narrowest half again and again.
    """
    first, count = 0, x.size
    while count > 3:
        half = (count + 1) // 2
        best, best_start = x[first + half - 1] - x[first], first
        for i in range(first + 1, first + count - half + 1):
            width = x[i + half - 1] - x[i]
            if width < best:
                best, best_start = width, i
        first, count = best_start, half
    return first + count // 2


@scalar_internal
def choose_candidates(state, x, unit_loc, unit_scale):
    """Choose the candidates of a scan of locations in S1.

    They are the observations around the densest spot; or, if a location is known, the observations
    next to it and the middles between them.
    """
    if state[slots.PHASE] < codes.SCANNING:
        return
    has_location = state[slots.VALUE] > -np.inf
    middle = 0 if has_location else half_sample_mode(x)
    if has_location:
        target = unit_loc + unit_scale * state[slots.X + 2]
        low, high = 0, x.size - 1
        while low < high:
            middle = (low + high) // 2
            if x[middle] < target:
                low = middle + 1
            else:
                high = middle
        middle = low
    for k in range(slots.CANDIDATE_COUNT):
        off = k - CENTRE
        below = min(max(middle + (off // 2 if has_location else off), 0), x.size - 1)
        above = min(below + (k % 2 if has_location else 0), x.size - 1)
        state[slots.CANDIDATES + k] = (
            x[below] + 0.5 * (x[above] - x[below]) - unit_loc
        ) / unit_scale
