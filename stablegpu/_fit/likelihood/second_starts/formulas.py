"""A rough profile of the likelihood over alpha, for second starts of ascents. For both targets.

McCulloch's estimate is the start of every ascent, but data in clusters, small samples of heavy
tails and the like have maxima elsewhere. Here distributions of a few alpha and beta (`profile.npz`)
are laid on a sample in many ways: the mode on the densest eighth, quarter and half of the data and
on all of them, with scales that match quantiles of the distance from there. The log-likelihood of
at most `POINTS` order statistics comes from tables of log pdf, without an exponential or a
logarithm. Its maximum for each alpha is the profile, one for each beta; each of its peaks is a
start.
"""

import math

import numpy as np

from hetero.intrinsics.floats import float_of_signed, signed_bits_of
from hetero.jit import scalar_internal
from stablegpu._fit.records import PEAKS
from stablegpu._numerics.trigonometry_formulas import tan_half_pi

ALPHAS = (0.12, 0.2, 0.3, 0.45, 0.65, 0.85, 1.2, 1.5, 1.8, 2.0)
BETAS = (-0.95, 0.0, 0.95)
FRACTIONS = (0.1, 0.3, 0.6)  # of the data: their distance from the mode gives the scale
WINDOWS = (0.125, 0.25, 0.5, 1.0)  # fractions of the data that lie closest
LOWEST, HIGHEST = -46, 40  # exponents of the least and the largest tabulated distance
KNOTS = 2 * (HIGHEST - LOWEST)
POINTS = 128

DISTRIBUTIONS = len(ALPHAS) * len(BETAS)
SPOTS, SPOT = len(WINDOWS) * len(BETAS), 1 + len(FRACTIONS)
WAYS = len(WINDOWS) * len(FRACTIONS)  # of laying a distribution on the data
CANDIDATES = DISTRIBUTIONS * WAYS

# The table of a distribution: its parameters, mode and quantiles of the distance from there; then
# for each side of zeta a value and a slope at every knot.
OF_ALPHA, OF_BETA, MODE, DISTANCES = 0, 1, 2, 3
VALUES = DISTANCES + len(FRACTIONS)
DISTRIBUTION_SIZE = VALUES + 4 * KNOTS

_FIRST_KNOT = (1023 + LOWEST) << 1  # exponent and first bit of the significand
_PER_KNOT = 0.5 * math.log(2.0)


@scalar_internal
def gather(x, weights, first, last, sample, lane, lanes):
    """Write order statistics of sorted data to `sample`; return their number.

    With weights they are those of data of which each is repeated as often as it counts.
    """
    count = last - first
    size = min(count, POINTS)
    if weights.size == 0:
        for k in range(lane, size, lanes):
            sample[k] = x[first + int((k + 0.5) * count / size)]
    elif lane == 0:
        total = 0.0
        for i in range(first, last):
            total += weights[i]
        i, reached = first, weights[first]
        for k in range(size):
            while reached < (k + 0.5) / size * total and i < last - 1:
                i += 1
                reached += weights[i]
            sample[k] = x[i]
    return size


@scalar_internal
def find_spot(spot, sample, size, spots):
    """Set a location for the mode, and the distances that hold shares of the data.

    It is the end, middle or start of the shortest interval that holds the window's
    share of the data, where beta is negative, 0 or positive.
    """
    window, kind = spot // len(BETAS), spot % len(BETAS)
    span = min(max(int(WINDOWS[0] * 2.0**window * size), 2), size) - 1
    start, least = 0, np.inf
    for i in range(size - span):
        width = sample[i + span] - sample[i]
        if width < least:
            start, least = i, width
    centre = start + span * (2 - kind) // 2
    mode = sample[centre]
    spots[spot * SPOT] = mode
    for k in range(len(FRACTIONS)):
        fraction = 0.1 if k == 0 else 0.3 * k  # FRACTIONS[k], without an array in memory
        others = min(max(int(fraction * size), 1), size - 1)
        # Of the intervals of that many neighbours, the one whose farther end is nearest.
        i = max(centre - others, 0)
        while (
            i < centre
            and i + others + 1 < size
            and sample[i + others + 1] - mode < mode - sample[i]
        ):
            i += 1
        spots[spot * SPOT + 1 + k] = max(sample[i + others] - mode, mode - sample[i])


@scalar_internal
def log_pdf_of(y, table, distribution):
    """Return log pdf at a distance y from zeta; it is linear between knots, beyond them a power."""
    size = abs(y)
    knot = (signed_bits_of(size) >> 51) - _FIRST_KNOT
    inside = min(max(knot, 0), KNOTS - 1)
    index = distribution * DISTRIBUTION_SIZE + VALUES + 2 * (inside if y >= 0.0 else KNOTS + inside)
    off = size - float_of_signed((inside + _FIRST_KNOT) << 51) if inside == knot else 0.0
    beyond = max(knot - inside, 0) * _PER_KNOT
    return (
        table[index]
        + table[index + 1] * off
        - (1.0 + table[distribution * DISTRIBUTION_SIZE]) * beyond
    )


@scalar_internal
def lay_out(candidate, spots, table):
    """Return distribution, location of zeta and scale of a candidate."""
    distribution, way = candidate // WAYS, candidate % WAYS
    window, fraction = way // len(FRACTIONS), way % len(FRACTIONS)
    spot = (window * len(BETAS) + distribution % len(BETAS)) * SPOT
    scale = (
        spots[spot + 1 + fraction] / table[distribution * DISTRIBUTION_SIZE + DISTANCES + fraction]
    )
    return distribution, spots[spot] - scale * table[distribution * DISTRIBUTION_SIZE + MODE], scale


@scalar_internal
def score(candidate, sample, size, spots, table, start):
    """Return the log-likelihood of a candidate for an observation of the sample.

    It is -inf for the distributions that the record `start` excludes.
    """
    row = candidate // WAYS // len(BETAS)
    column = candidate // WAYS % len(BETAS)
    fits = start.first_alpha <= row <= start.last_alpha
    if row == len(ALPHAS) - 1:  # the normal distribution has no beta
        fits = fits and column == 1
    elif start.beta_index >= 0:
        fits = fits and column == start.beta_index
    distribution, loc, scale = lay_out(candidate, spots, table)
    if not (fits and 0.0 < scale < np.inf):
        return -np.inf
    total = 0.0
    for k in range(size):
        total += log_pdf_of((sample[k] - loc) / scale, table, distribution)
    return total / size - math.log(scale)


@scalar_internal
def write_peaks(scores, spots, table, peaks):
    """Write the peaks of the profile, the highest first, to an array of the records `PEAK`.

    Their log-likelihood is -inf where no more exist.
    """
    for n in range(PEAKS):
        peaks[n].loglik = -np.inf
    before, current, best = -np.inf, -np.inf, 0
    for step in range(len(BETAS) * (len(ALPHAS) + 1)):
        kind, row = step // (len(ALPHAS) + 1), step % (len(ALPHAS) + 1)
        after, best_after = -np.inf, 0
        first = (row * len(BETAS) + kind) * WAYS
        for k in range(first, first + (WAYS if row < len(ALPHAS) else 0)):
            if scores[k] > after:
                after, best_after = scores[k], k
        # The least alpha is one in any case: next to it are the sharpest spikes.
        is_peak = current > before and (current >= after or before == -np.inf)
        n = PEAKS - 1
        if is_peak and current > peaks[n].loglik:
            while n > 0 and current > peaks[n - 1].loglik:
                _copy_peak(peaks[n - 1], peaks[n])
                n -= 1
            distribution, loc, scale = lay_out(best, spots, table)
            peak = peaks[n]
            peak.loglik, peak.alpha = current, table[distribution * DISTRIBUTION_SIZE]
            peak.beta = table[distribution * DISTRIBUTION_SIZE + OF_BETA]
            peak.loc = loc + peak.beta * tan_half_pi(peak.alpha) * scale
            peak.scale = scale
        before, current, best = current, after, best_after


@scalar_internal
def _copy_peak(source, target):
    """Copy a record `PEAK` to another."""
    target.loglik, target.alpha, target.beta = source.loglik, source.alpha, source.beta
    target.loc, target.scale = source.loc, source.scale
