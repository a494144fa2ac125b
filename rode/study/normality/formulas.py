"""The part of one number in the statistics, for both targets."""

import math

import numpy as np

from hetero.jit import scalar
from rode.study.normality.limits import BINS

_ROOT = math.sqrt(0.5)


@scalar
def bin_of(x):
    """The interval of equal probability that x is in."""
    return min(np.int64(0.5 * math.erfc(-x * _ROOT) * BINS), BINS - 1)
