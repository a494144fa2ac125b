"""The log-likelihood of a data set, its gradient and the products of its scores, for both targets.

Steps that `lanes` share, with a wait for all of them in between: `prepare` (which lane 0 does),
then `build`, `sum_up` and `link` for the nodes, and `observe` for the data.
"""

import math

from hetero.jit import scalar
from stablegpu import _fit_law_math as of_nodes
from stablegpu import _fit_near_one_math as near_one
from stablegpu._fit_density_math import log_pdf, log_pdf_alone
from stablegpu._fit_law_math import FIELDS
from stablegpu._fit_optimum_math import (
    CANDIDATES,
    IN_S1,
    PHASE,
    PLACES,
    SCAN,
    SCANNING,
    SCANS,
    TRIAL,
    X,
)
from stablegpu._points_math import tan_half_pi

ALPHA, LOC, SCALE, SHIFT, SHIFT_A, SHIFT_B, NEAR, BETA = range(2 * FIELDS, 2 * FIELDS + 8)
LAW = 2 * FIELDS + 8  # numbers of a law


@scalar
def prepare(m, unit_loc, unit_scale, lowest, highest, law):
    """The law of the trial point, and where its nodes lie for data in [lowest, highest]."""
    alpha, beta = m[TRIAL], m[TRIAL + 1]
    scale = unit_scale * math.exp(m[TRIAL + 3])
    loc = unit_loc + unit_scale * m[TRIAL + 2]
    near = abs(alpha - 1.0) < near_one.NEAREST
    in_s1 = m[IN_S1] > 0.0
    law[ALPHA], law[BETA], law[LOC], law[SCALE] = alpha, beta, loc, scale
    law[NEAR] = 1.0 if near else 0.0
    law[SHIFT], law[SHIFT_A], law[SHIFT_B] = 0.0, 0.0, 0.0
    if near == in_s1:  # nodes hold the law of S1, the table that of S0
        tangent, sign = tan_half_pi(alpha), 1.0 if in_s1 else -1.0
        law[SHIFT], law[SHIFT_B] = sign * beta * tangent, sign * tangent
        law[SHIFT_A] = sign * beta * 0.5 * math.pi * (1.0 + tangent * tangent)
    if near:
        return
    for k in range(2):
        of_nodes.describe(law, k, alpha, beta if k == 0 else -beta)
    low, high = (lowest - loc) / scale - law[SHIFT], (highest - loc) / scale - law[SHIFT]
    for k in range(2):
        of_nodes.lay_out(law, k, max(low, 0.0), high, alpha)
        low, high = -high, -low
    of_nodes.allot(law)


@scalar
def build(law, nodes, profile, table, lane, lanes):
    """The nodes of the law, or its profile next to alpha = 1."""
    if law[NEAR] > 0.0:
        for knot in range(lane, near_one.PROFILE, lanes):
            near_one.profile_at(knot, table, profile, law[ALPHA], law[BETA])
    else:
        of_nodes.fill(law, nodes, lane, lanes, law[ALPHA])


@scalar
def sum_up(law, nodes, series, lane, lanes):
    """Power series of small g, first for each block of nodes."""
    if law[NEAR] == 0.0:
        of_nodes.add_up(law, nodes, series, lane, lanes)


@scalar
def link(law, series, lane, lanes):
    """And then for all nodes up to the block."""
    if law[NEAR] == 0.0:
        of_nodes.accumulate(law, series, lane, lanes)


@scalar
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


@scalar
def observe_place(x, law, nodes, series):
    """The first of `observe` in a scan of locations, which is not next to alpha = 1."""
    z = (x - law[LOC]) / law[SCALE]
    return log_pdf_alone(z - law[SHIFT], law, nodes, series, law[ALPHA])


@scalar
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


@scalar
def look_around(m, x, unit_loc, unit_scale):
    """Where a scan of locations in S1 begins: data next to where they lie closest, then next to
    the best location so far, are its candidates."""
    if not (m[PHASE] >= SCANNING and m[SCAN] == 0.0):
        return
    if m[SCANS] == 1.0:
        middle = densest(x)
    else:
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
        place = min(max(middle + k - PLACES // 2, 0), x.size - 1)
        m[CANDIDATES + k] = (x[place] - unit_loc) / unit_scale
    m[TRIAL + 2] = m[CANDIDATES]
