"""The choice of peaks of a profile at which another ascent starts, compiled for the host."""

import numpy as np

from hetero.jit import serial
from stablegpu._fit.records import PEAKS

MARGIN, MARGIN_OF_FEW = 0.03, 6.0
"""Largest distance of another peak, at which an ascent starts, below the likelihood that was
reached and below the highest peak: for each observation, and in all. The profile is rough, by 0.02
to 0.05 for an observation."""

MANY = 15
"""Observations from which on a peak near a distribution that was reached is its own: of fewer any
may have a maximum beside it."""

NEARBY = 2.0
"""Scales between two locations that belong to one peak."""

_LOWEST_FLOAT = -np.finfo(np.float64).max


@serial
def find_other_peaks(outcomes, ties, units, scales, tangents, alphas, chosen):
    """Write to `chosen` (sets, PEAKS) which peaks of the profiles need an ascent; return if any.

    A peak that belongs to the distribution at the end of the first ascent is not climbed again, nor
    one that is much lower. `scales`, in units, and `tangents` of pi alpha/2 are those at the end of
    the ascents, `alphas` the rows of the table of profiles; ties[s, 1] is the weight of all data.
    """
    found = False
    for s in range(outcomes.size):
        outcome, size = outcomes[s], ties[s, 1]
        highest, reached = outcome.peaks[0].loglik, outcome.loglik / size
        if np.isnan(highest) or reached > highest:
            highest = reached
        least = max(highest - MARGIN - MARGIN_OF_FEW / size, _LOWEST_FLOAT)
        alpha, scale = outcome.parameters[0], units[s, 1] * scales[s]
        loc = units[s, 0] + units[s, 1] * outcome.parameters[2]
        if outcome.in_s1:
            loc += outcome.parameters[1] * scale * tangents[s]
        for k in range(PEAKS):
            peak = outcome.peaks[k]
            row = 0
            while row < alphas.size and alphas[row] < peak.alpha:
                row += 1
            near = alpha >= alphas[max(row - 1, 0)] or row <= 1
            near = near and (
                alpha <= alphas[min(row + 1, alphas.size - 1)] or row >= alphas.size - 2
            )
            near = near and abs(peak.loc - loc) < NEARBY * max(peak.scale, scale)
            chosen[s, k] = peak.loglik > least and not (near and size >= MANY)
            found = found or chosen[s, k]
    return found
