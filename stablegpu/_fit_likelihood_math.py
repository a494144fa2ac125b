"""The log-likelihood of a data set, its gradient and the products of its scores, for both targets.

Steps that `lanes` share, with a wait for all of them in between: `look_around` (by lane 0 alone),
`prepare`, `seek`, `allot` (by lane 0 alone), `build`, `sum_up` and `link`; then `observe` for the
data, or `observe_place` for the data and all candidates of a scan, whose laws have the same nodes.
"""

import math

import numpy as np

from hetero.jit import inner
from stablegpu import _fit_law_math as of_law
from stablegpu import _fit_near_one_math as near_one
from stablegpu import _fit_nodes_math as of_nodes
from stablegpu._fit_again_math import HERE
from stablegpu._fit_density_math import log_pdf, log_pdf_alone
from stablegpu._fit_law_math import FIELDS
from stablegpu._fit_state_math import (
    CANDIDATES,
    IN_S1,
    PHASE,
    PLACES,
    SCANNING,
    TRIAL,
    VALUE,
    X,
)
from stablegpu._points_math import tan_half_pi

ALPHA, LOC, SCALE, SHIFT, SHIFT_A, SHIFT_B, NEAR, BETA = range(2 * FIELDS, 2 * FIELDS + 8)
LAW = 2 * FIELDS + 8  # numbers of a law

# Where the ascent of a set begins: alpha, beta, and location and log of the scale in the units
# that follow, location and scale of S0; the least alpha; a number that `_fit_cuda.py` counts with;
# what `_fit_profile_math.py` may choose from.
UNITS, LEAST_ALPHA, ARRIVED, CHOICES = 4, 6, 7, 8
BEGINNING = 11


@inner
def prepare(m, unit_loc, unit_scale, lowest, highest, law, lane, lanes):
    """The law of the trial point, and how far nodes must reach for data in [lowest, highest]."""
    alpha, beta = m[TRIAL], m[TRIAL + 1]
    scale = unit_scale * math.exp(m[TRIAL + 3])
    near = abs(alpha - 1.0) < near_one.NEAREST
    in_s1 = m[IN_S1] > 0.0
    shift = shift_a = shift_b = 0.0
    if near == in_s1:  # nodes hold the law of S1, the table that of S0
        tangent, sign = tan_half_pi(alpha), 1.0 if in_s1 else -1.0
        shift, shift_b = sign * beta * tangent, sign * tangent
        shift_a = sign * beta * 0.5 * math.pi * (1.0 + tangent * tangent)
    if lane == 0:
        law[ALPHA], law[BETA], law[SCALE] = alpha, beta, scale
        law[LOC] = unit_loc + unit_scale * m[TRIAL + 2]
        law[NEAR] = 1.0 if near else 0.0
        law[SHIFT], law[SHIFT_A], law[SHIFT_B] = shift, shift_a, shift_b
    if near:
        return
    least = most = m[TRIAL + 2]
    if m[PHASE] >= SCANNING:
        least, most = m[CANDIDATES], m[CANDIDATES + PLACES - 1]
    low = (lowest - (unit_loc + unit_scale * most)) / scale - shift
    high = (highest - (unit_loc + unit_scale * least)) / scale - shift
    for k in range(lane, 2, lanes):
        of_law.describe(law, k, alpha, beta if k == 0 else -beta)
        nearest, farthest = (low, high) if k == 0 else (-high, -low)
        of_nodes.aim(law, k, max(nearest, 0.0), farthest, alpha)


@inner
def seek(law, lane, lanes):
    """Where the nodes of both sides end, by end."""
    if law[NEAR] == 0.0:
        for job in range(lane, 4, lanes):
            of_nodes.seek(law, job, law[ALPHA])


@inner
def allot(law):
    """Room for the nodes."""
    if law[NEAR] == 0.0:
        of_nodes.allot(law, law[ALPHA])


@inner
def build(law, nodes, profile, table, lane, lanes):
    """The nodes of the law and the series of its tails, or its profile next to alpha = 1."""
    if law[NEAR] > 0.0:
        for knot in range(lane, near_one.PROFILE, lanes):
            near_one.profile_at(knot, table, profile, law[ALPHA], law[BETA])
    else:
        of_nodes.fill(law, nodes, lane, lanes, law[ALPHA])
        # The last lanes have the fewest nodes.
        for term in range(lanes - 1 - lane, 2 * of_law.TAIL_TERMS, lanes):
            of_law.expand_tail(law, term, law[ALPHA])


@inner
def sum_up(law, nodes, series, lane, lanes):
    """Power series of small g, first for each block of nodes."""
    if law[NEAR] == 0.0:
        of_nodes.add_up(law, nodes, series, lane, lanes)


@inner
def link(law, series, lane, lanes):
    """And then for all nodes up to the block."""
    if law[NEAR] == 0.0:
        of_nodes.accumulate(law, series, lane, lanes)


@inner
def observe(x, law, nodes, series, profile):
    """log pdf of an observation but for log scale, and its derivatives by alpha, beta, location
    over the scale, and log of the scale."""
    z = (x - law[LOC]) / law[SCALE]
    if law[NEAR] > 0.0:
        found = near_one.log_pdf_near_one(z - law[SHIFT], profile, law[ALPHA], law[BETA])
    else:
        found = log_pdf(z - law[SHIFT], law, nodes, series, law[ALPHA])
    value, by_z, by_a, by_b = found
    by_a -= by_z * law[SHIFT_A]
    by_b -= by_z * law[SHIFT_B]
    return value, by_a, by_b, -by_z, -1.0 - z * by_z


@inner
def observe_place(x, loc, law, nodes, series):
    """The first of `observe` for a candidate of a scan, which is not next to alpha = 1."""
    z = (x - loc) / law[SCALE]
    return log_pdf_alone(z - law[SHIFT], law, nodes, series, law[ALPHA])


@inner
def densest(x):
    """Where half of half of ... the sorted data lie closest: an index."""
    first, count = 0, x.size
    while count > 3:
        half = (count + 1) // 2
        best, at = x[first + half - 1] - x[first], first
        for i in range(first + 1, first + count - half + 1):
            width = x[i + half - 1] - x[i]
            if width < best:
                best, at = width, i
        first, count = at, half
    return first + count // 2


@inner
def look_around(m, x, unit_loc, unit_scale):
    """The candidates of a scan of locations in S1: data next to where they lie closest; or, if a
    location is known, the data next to it and the middles between them."""
    if m[PHASE] < SCANNING:
        return
    known = m[VALUE] > -np.inf
    middle = 0 if known else densest(x)
    if known:
        target = unit_loc + unit_scale * m[X + 2]
        low, high = 0, x.size - 1
        while low < high:
            middle = (low + high) // 2
            if x[middle] < target:
                low = middle + 1
            else:
                high = middle
        middle = low
    for k in range(PLACES):
        off = k - HERE
        below = min(max(middle + (off // 2 if known else off), 0), x.size - 1)
        above = min(below + (k % 2 if known else 0), x.size - 1)
        m[CANDIDATES + k] = (x[below] + 0.5 * (x[above] - x[below]) - unit_loc) / unit_scale
