"""Maximum likelihood for many data sets on the CPU: an iteration of the parallel loop fits one."""

import numpy as np
from numba import prange

from hetero.jit import parallel, serial
from stablegpu._fit_law_math import BLOCKS, NODES, SERIES
from stablegpu._fit_likelihood_math import (
    LAW,
    SCALE,
    build,
    densest,
    link,
    observe,
    prepare,
    sum_up,
)
from stablegpu._fit_near_one_math import PROFILE
from stablegpu._fit_optimum_math import (
    CANDIDATES,
    DONE,
    PHASE,
    PLACES,
    STATE,
    SUMS,
    TRIAL,
    advance,
    begin,
)


@serial
def _evaluate(m, x, weights, unit_loc, unit_scale, table, law, nodes, series, profile, sums):
    """Log-likelihood, gradient and products of scores at the trial point of m; x is sorted."""
    prepare(m, unit_loc, unit_scale, x[0], x[-1], law)
    build(law, nodes, profile, table, 0, 1)
    sum_up(law, nodes, series, 0, 1)
    link(law, series, 0, 1)
    sums[:] = 0.0
    to_units = np.exp(-m[TRIAL + 3])
    log_scale = np.log(law[SCALE])
    for i in range(x.size):
        value, a, b, c, d = observe(x[i], law, nodes, series, profile)
        weight = weights[i] if weights.size else 1.0
        scores = (a, b, c * to_units, d)
        sums[0] += weight * (value - log_scale)
        at = 5
        for k in range(4):
            sums[1 + k] += weight * scores[k]
            for j in range(k + 1):
                sums[at] += weight * scores[k] * scores[j]
                at += 1


@parallel
def _maximize(data, weights, starts, stops, initial, free, table, states):
    for index in prange(starts.size):
        s = np.int64(index)
        x = data[starts[s] : stops[s]].copy()
        w = weights[starts[s] : stops[s]] if weights.size else weights
        if w.size:
            order = np.argsort(x)
            x, w = x[order], w[order]
        else:
            x.sort()
        law, nodes = np.zeros(LAW), np.zeros(NODES)
        series, profile = np.zeros(SERIES * BLOCKS), np.zeros(3 * PROFILE)
        m, sums = np.zeros(STATE), np.zeros(SUMS)
        loc, scale = initial[s, 2], initial[s, 3]
        middle = densest(x)
        for k in range(PLACES):
            place = min(max(middle + k - PLACES // 2, 0), x.size - 1)
            m[CANDIDATES + k] = (x[place] - loc) / scale
        begin(m, initial[s, 0], initial[s, 1], 0.0, 0.0, free)
        while m[PHASE] < DONE:
            _evaluate(m, x, w, loc, scale, table, law, nodes, series, profile, sums)
            advance(m, sums)
        states[s] = m


def maximize(data, weights, starts, stops, initial, free, table, states, stream=0):
    """The final states of the optimiser, one row a data set.

    `data` is flat; set s is data[starts[s]:stops[s]]. `initial`: alpha, beta, and the S0 location
    and scale that serve as units; bits of `free`: what may move.
    """
    _maximize(data, weights, starts, stops, initial, free, table, states)
