"""Log-likelihood of a data set, its gradient and the products of its scores, for both targets.

`lanes` share these steps and wait for each other after each: `choose_candidates` (by lane 0 alone),
`prepare`, `find_node_ends`, `allocate_nodes` (by lane 0 alone), `build`, `block_moments` and
`running_moments`; then `score_observation` for the data, or `score_candidate` for the data and all
candidates of a scan, whose distributions have the same nodes.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._fit.likelihood import half_line_formulas as of_half_line
from stablegpu._fit.likelihood import near_one_formulas as near_one
from stablegpu._fit.likelihood import node_formulas as of_nodes
from stablegpu._fit.likelihood.half_line_formulas import HALF_LINE
from stablegpu._fit.likelihood.log_pdf_formulas import log_pdf, log_pdf_alone
from stablegpu._fit.likelihood.optimizer import codes
from stablegpu._fit.likelihood.optimizer.restart_formulas import CENTRE
from stablegpu._fit.likelihood.optimizer.state import CANDIDATE_COUNT, location_of
from stablegpu._fit.likelihood.rule import FIT
from stablegpu._numerics.trigonometry_formulas import tan_half_pi

DISTRIBUTION = np.dtype(
    [
        ("alpha", np.float64),
        ("beta", np.float64),
        ("loc", np.float64),
        ("scale", np.float64),
        ("shift", np.float64),  # from the state's parameterization to that of nodes or table,
        ("shift_by_alpha", np.float64),
        ("shift_by_beta", np.float64),  # in scales, with its derivatives
        ("near_one", np.bool_),  # whether the table next to alpha = 1 replaces nodes
        ("knots", np.int64, 2),  # of its profile that the data need: the first, one past the last
        ("sides", HALF_LINE, 2),  # the right one first; unused next to alpha = 1
    ],
    align=True,
)
"""The distribution at a trial point."""


@scalar_internal
def prepare(state, start, lowest, highest, distribution, lane, lanes):
    """Set the distribution of the trial point, with nodes for data in [lowest, highest]."""
    trial, unit_loc, unit_scale = state.trial, start.unit_loc, start.unit_scale
    location = least = most = unit_loc + unit_scale * location_of(state, trial)
    if state.phase >= codes.SCANNING:
        least = unit_loc + unit_scale * state.candidates[0]
        most = unit_loc + unit_scale * state.candidates[CANDIDATE_COUNT - 1]
    parameters = trial[0], trial[1], location, unit_scale * math.exp(trial[3])
    extent = lowest - most, highest - least
    set_distribution(distribution, parameters, state.current.in_s1, extent, lane, lanes)


@scalar_internal
def set_distribution(distribution, parameters, in_s1, extent, lane, lanes):
    """Set a distribution, with nodes for data whose distances from its location are in `extent`.

    `parameters` are alpha, beta, location and scale; the location is that of S1 or S0.
    """
    alpha, beta, loc, scale = parameters
    near = abs(alpha - 1.0) < FIT.nearest_to_one
    shift = shift_a = shift_b = 0.0
    if near == in_s1:  # nodes hold the distribution in S1, the table that in S0
        tangent, sign = tan_half_pi(alpha), 1.0 if in_s1 else -1.0
        shift, shift_b = sign * beta * tangent, sign * tangent
        shift_a = sign * beta * 0.5 * math.pi * (1.0 + tangent * tangent)
    low, high = extent[0] / scale - shift, extent[1] / scale - shift
    if lane == 0:
        distribution.alpha, distribution.beta = alpha, beta
        distribution.loc, distribution.scale = loc, scale
        distribution.near_one, distribution.shift = near, shift
        distribution.shift_by_alpha, distribution.shift_by_beta = shift_a, shift_b
        if near:
            distribution.knots[0], distribution.knots[1] = near_one.knots_between(low, high)
    if near:
        return
    for k in range(lane, 2, lanes):
        side = distribution.sides[k]
        of_half_line.set_half_line(side, alpha, beta if k == 0 else -beta)
        nearest, farthest = (low, high) if k == 0 else (-high, -low)
        of_nodes.set_node_range(side, max(nearest, 0.0), farthest)


@scalar_internal
def find_node_ends(distribution, lane, lanes):
    """Locate both ends of the node range of each half-line; one end per lane."""
    if not distribution.near_one:
        for job in range(lane, 4, lanes):
            of_nodes.find_node_end(distribution.sides[job // 2], job % 2)


@scalar_internal
def allocate_nodes(distribution):
    """Allocate room for the nodes of both half-lines."""
    if not distribution.near_one:
        of_nodes.allocate_nodes(distribution)


@scalar_internal
def build(distribution, nodes, profile, table, lane, lanes):
    """Compute the nodes and the tail series, or the profile next to alpha = 1."""
    if distribution.near_one:
        for knot in range(distribution.knots[0] + lane, distribution.knots[1], lanes):
            near_one.profile_at(knot, table, profile, distribution.alpha, distribution.beta)
    else:
        of_nodes.evaluate_nodes(distribution, nodes, lane, lanes)
        # The last lanes have the fewest nodes.
        for job in range(lanes - 1 - lane, 2 * FIT.tail_terms, lanes):
            side = distribution.sides[job // FIT.tail_terms]
            of_half_line.expand_tail(side, job % FIT.tail_terms)


@scalar_internal
def block_moments(distribution, nodes, series, lane, lanes):
    """Compute the power series for small g of each block of nodes."""
    if not distribution.near_one:
        of_nodes.block_moments(distribution, nodes, series, lane, lanes)


@scalar_internal
def running_moments(distribution, series, lane, lanes):
    """Accumulate the power sums of the blocks, unless alpha is near 1."""
    if not distribution.near_one:
        of_nodes.running_moments(distribution, series, lane, lanes)


@scalar_internal
def score_observation(x, distribution, nodes, series, profile):
    """Return log pdf of an observation plus log scale, and its derivatives.

    The derivatives are those by alpha, beta, location over the scale, and log of the scale.
    """
    z = (x - distribution.loc) / distribution.scale
    if distribution.near_one:
        result = near_one.log_pdf_near_one(
            z - distribution.shift, profile, distribution.alpha, distribution.beta
        )
    else:
        result = log_pdf(z - distribution.shift, distribution, nodes, series)
    value, by_z, by_a, by_b = result
    by_a -= by_z * distribution.shift_by_alpha
    by_b -= by_z * distribution.shift_by_beta
    return value, by_a, by_b, -by_z, -1.0 - z * by_z


@scalar_internal
def score_candidate(x, loc, distribution, nodes, series):
    """Return the value of `score_observation` for a candidate of a scan, not next to alpha = 1."""
    z = (x - loc) / distribution.scale
    return log_pdf_alone(z - distribution.shift, distribution, nodes, series)


# What differs between observations that are points and those that are intervals: `data` holds
# points and weights; of intervals also their bounds, and the ranges of the sets (`Loops.maximize`).


@scalar_internal
def observe_point(i, data, distribution, nodes, series, profile):
    """Return `score_observation` of observation i."""
    return score_observation(data[0][i], distribution, nodes, series, profile)


@scalar_internal
def observe_point_at(i, data, loc, distribution, nodes, series):
    """Return `score_candidate` of observation i."""
    return score_candidate(data[0][i], loc, distribution, nodes, series)


@scalar_internal
def edges_of_points(data, s, first, last):
    """Return the least and the largest observation of set s, which is sorted."""
    return data[0][first], data[0][last - 1]


@scalar_internal
def range_of_points(data, s, first, last):
    """Return the range in which the density of set s is needed."""
    return data[0][first], data[0][last - 1]


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
def choose_candidates(state, start, x):
    """Choose the candidates of a scan of locations in S1.

    They are the observations around the densest spot; or, if a location is known, the observations
    next to it and the middles between them.
    """
    if state.phase < codes.SCANNING:
        return
    unit_loc, unit_scale = start.unit_loc, start.unit_scale
    has_location = state.current.loglik > -np.inf
    middle = 0 if has_location else half_sample_mode(x)
    if has_location:
        target = unit_loc + unit_scale * state.current.parameters[2]
        low, high = 0, x.size - 1
        while low < high:
            middle = (low + high) // 2
            if x[middle] < target:
                low = middle + 1
            else:
                high = middle
        middle = low
    for k in range(CANDIDATE_COUNT):
        off = k - CENTRE
        below = min(max(middle + (off // 2 if has_location else off), 0), x.size - 1)
        above = min(below + (k % 2 if has_location else 0), x.size - 1)
        state.candidates[k] = (x[below] + 0.5 * (x[above] - x[below]) - unit_loc) / unit_scale
