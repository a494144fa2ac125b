"""A safeguarded Newton step toward a quantile, for both targets.

The standardized variable a = (x - loc)/scale is sought as +-e^s from the centre a = 0. The function
that has to reach q is the smaller one of cdf and sf, so no probability is subtracted from 1: away
from the centre it falls, a tail, or it rises, next to the end of a light tail that the centre is
close to. Where q is small Newton's method runs on its logarithm against s, in which power laws are
straight; near the centre on the function against a. Every step keeps a bracket, and halves it where
Newton leaves it or crosses more than half of it in a long step: without this safeguard Newton's
method can cycle between the middle and the tail when alpha is near 2.

Far out in a heavy tail no search is needed: s follows from the series of the tail, also
where a = e^s is beyond the range of floats; a small scale may bring the quantile back into it.
"""

import math
from typing import Any, NamedTuple

from hetero.jit import scalar

LOWEST, HIGHEST = -690.0, 709.0  # of s
FARTHEST = 600.0  # s from which on it follows from the series of the tail
MOST_TERMS, MOST_PASSES = 60, 100  # of that series, and of the iteration for s
SMALL_ALPHA = (
    0.1  # up to which Newton's method runs on the function against s, also near the centre
)
LONG = 0.1  # a longer step in s is long: over it, logarithms are curved
MOST_STEPS = 80  # of a search; a bracket of s is halved to rounding in 60
SETTLED = 2e-10  # a Newton step after which the next would be below rounding, also near light ends


class Centre(NamedTuple):
    """The distribution at its centre, and its tails."""

    cdf: float
    sf: float
    pdf: float
    alpha: float
    log_left: float  # log of the tails' constants: T ~ constant a^-alpha; -inf: light tail
    log_right: float
    left: float  # angles alpha (pi/2 -+ theta0) of the tails' series
    right: float
    log_cos: float  # log of cos(alpha theta0)


class Search(NamedTuple):
    """State of the search for a quantile, or of one for each element of arrays."""

    s: Any
    low: Any  # bracket of s, empty once the search has converged
    high: Any


class Values(NamedTuple):
    """Values of the distribution at a trial point, or at those of arrays."""

    log_pdf: Any
    cdf: Any
    sf: Any
    log_cdf: Any
    log_sf: Any


@scalar
def find_target(p, upper, centre):
    """Return whether the quantile is on the right, whether sf (else cdf) is matched, its value."""
    right = p <= centre.sf if upper else p >= centre.cdf
    by_sf = (p <= 0.5) == upper
    return right, by_sf, p if by_sf == upper else 1.0 - p


@scalar
def far_in_tail(q, constant, angle, centre):
    """Return a large s at which a heavy tail is q, by the series of (Bergstrom 1952),

        T = 1/pi sum_k (-1)^(k+1) Gamma(k alpha)/k! sin(k angle) cos(alpha theta0)^-k e^(-k alpha s)

    whose first term is all that counts unless alpha is small; then it converges everywhere.
    """
    alpha = centre.alpha
    first = (constant - math.log(q)) / alpha
    s = first
    for _ in range(MOST_PASSES if alpha < 0.1 and s > FARTHEST else 0):
        remainder, sign = 0.0, -1.0
        for k in range(2, MOST_TERMS):
            size = math.lgamma(k * alpha) - math.lgamma(k + 1.0) - k * centre.log_cos - constant
            term = math.exp(size - (k - 1) * alpha * s) / math.pi
            remainder += sign * term * math.sin(k * angle)
            sign = -sign
            if term < 1e-17:
                break
        before, s = s, first + math.log1p(remainder) / alpha
        if abs(s - before) <= 1e-16 * s:
            break
    return s


@scalar
def choose_first(p, upper, centre):
    """Return the first s: from the tail's power law, or from the density at the centre.

    The density is used if that value is nearer.
    """
    right, by_sf, q = find_target(p, upper, centre)
    at_centre = centre.sf if by_sf else centre.cdf
    constant = centre.log_right if right else centre.log_left
    if q == at_centre:
        return LOWEST
    near = HIGHEST
    if centre.pdf > 0.0:
        near = math.log(abs(at_centre - q) / centre.pdf)
    far = 1.0
    if right == by_sf and q > 0.0 and constant > -math.inf:
        far = far_in_tail(q, constant, centre.right if right else centre.left, centre)
        if far > FARTHEST:
            return far
    s = far if q < 0.2 * at_centre else min(near, far)
    return min(max(s, LOWEST), HIGHEST)


@scalar
def standardized_point(s, p, upper, centre):
    """Return the standardized variable of s.

    It is an end of the line for p = 0 or 1, and NaN for p outside [0, 1].
    """
    if not 0.0 <= p <= 1.0:
        return math.nan
    right, by_sf, q = find_target(p, upper, centre)
    if q <= 0.0:
        return math.inf if by_sf else -math.inf
    a = math.exp(s) if s > LOWEST else 0.0
    return a if right else -a


@scalar
def restore_quantile(a, s, restoration):
    """Return the quantile from the standardized variable and its s."""
    if s > FARTHEST:
        return restoration.loc + math.copysign(math.exp(s + math.log(restoration.scale)), a)
    if abs(a) == math.inf:
        return restoration.high if a > 0.0 else restoration.low
    return restoration.loc + restoration.scale * ((a + restoration.shift) + restoration.shift_low)


@scalar
def advance(search, p, upper, values, centre):
    """Return the next s, its bracket, and how far it moved (0: converged).

    The bracket of a search that has converged is empty, and further steps leave it where it is: a
    quantile has the same bits beside others whose search takes longer.
    """
    s, low, high = search
    if not 0.0 < p < 1.0 or low == high:
        return s, low, high, 0.0
    right, by_sf, q = find_target(p, upper, centre)
    at_centre = centre.sf if by_sf else centre.cdf
    if s > FARTHEST or q == at_centre:
        return s, low, high, 0.0
    tail, log_tail = (values.sf, values.log_sf) if by_sf else (values.cdf, values.log_cdf)
    outward = 1.0 if right == by_sf else -1.0  # where the function falls with s
    a = math.exp(s)
    excess = outward * (log_tail - math.log(q))
    if excess > 0.0:
        low = s
    else:
        high = s
    if q < 0.2 * at_centre or (outward < 0.0 and q < 0.2):
        following = s + excess / math.exp(values.log_pdf + s - log_tail)
    elif centre.alpha > SMALL_ALPHA:
        following = math.log(a + outward * (tail - q) / math.exp(values.log_pdf))
    else:  # the distribution spreads over many powers of a
        slope = math.exp(values.log_pdf + s)
        following = s + outward * (tail - q) / slope if slope < math.inf else math.nan
    if abs(following - s) <= SETTLED:
        return following, following, following, 0.0
    inside = low < following < high
    if not inside or abs(following - s) > max(0.5 * (high - low), LONG):
        following = 0.5 * (low + high)
    moved = abs(following - s)
    if moved <= SETTLED:
        return following, following, following, 0.0
    return following, low, high, moved
