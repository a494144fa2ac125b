"""Sizes of the statistics of normal numbers, and the interval of a number, for both targets."""

import math

import numpy as np

from hetero.jit import scalar

BINS = 64_000
"""Number of equally likely intervals of the normal distribution."""

ORDERS = 8
"""Highest power whose mean is compared."""

LAGS = 4
"""Largest distance in a sequence at which correlations are compared."""

SUMS = ORDERS + 2 * LAGS + 4
"""Number of sums: powers 1 .. 8; x and x^2 - 1 times those `lag` later; x and x^2 - 1 times the
other path's; numbers beyond 4 and beyond 5."""

_ROOT = math.sqrt(0.5)


@scalar
def bin_of(x):
    """Return the number of the interval of equal probability that x is in."""
    return min(np.int64(0.5 * math.erfc(-x * _ROOT) * BINS), BINS - 1)
