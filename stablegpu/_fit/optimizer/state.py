"""The parameters in the state of an ascent, their bounds, and the tolerance. For both targets.

The state is an array of floats (`_fit/optimizer/slots.py`). Its parameters are alpha, beta, the
location over the unit, and the logarithm of the scale over the unit. The location is that of S0,
which is smooth at alpha = 1; for small alpha it is that of S1, where the density has a spike that
other parameters must not move away from the data.
"""

import math

import numpy as np

from hetero.jit import scalar_internal
from stablegpu._fit.limits import ALPHA_RANGE, BETA_RANGE
from stablegpu._fit.optimizer import slots

SMALLEST_LOG_SCALE = math.log(1e-8)
"""Least scale over the unit, which is McCulloch's scale: it keeps fits from spikes on data that are
nearly equal."""

MARGIN = 1e-9
"""Free parameters stay this far from their bounds, where derivatives are one-sided."""

TO_S1, TO_S0 = 0.45, 0.85
"""The location becomes that of S1 below the first alpha, and that of S0 above the second."""

GAIN_TOLERANCE, RELATIVE = 1e-9, 3e-12
"""An ascent stops when a step promises a smaller gain of log-likelihood than the first number. The
second, times the log-likelihood, is added for rounding."""

MAX_GAIN_TOLERANCE = 0.01
"""Upper bound of that tolerance. One outlier far away makes log-likelihoods of -1e12, where steps
promise gains of 1/2 at first."""

MAX_EVALUATIONS = 250
"""Evaluations of the likelihood after which an ascent is given up."""


@scalar_internal
def size_of(state):
    """Return the number of parameters (4).

    It is read from memory so that the compiler does not unroll loops.
    """
    return int(state[slots.SIZE])


@scalar_internal
def lower_bound(state, k):
    """Return the lower bound of parameter k of the fit."""
    if k == 3:
        return SMALLEST_LOG_SCALE
    return state[slots.LOWEST_ALPHA] if k == 0 else (BETA_RANGE[0] + MARGIN if k == 1 else -np.inf)


@scalar_internal
def upper_bound(k):
    """Return the upper bound of parameter k of the fit."""
    if k == 0:
        return ALPHA_RANGE[1] - MARGIN
    return BETA_RANGE[1] - MARGIN if k == 1 else np.inf


@scalar_internal
def gain_tolerance(state):
    """Return the smallest gain in log-likelihood that justifies another step."""
    return min(GAIN_TOLERANCE + RELATIVE * abs(state[slots.VALUE]), MAX_GAIN_TOLERANCE)


@scalar_internal
def moves_location(state):
    """Return whether the location is that of S1 and free."""
    return state[slots.IN_S1] > 0.0 and state[slots.FREE + 2] > 0.0


@scalar_internal
def try_point(state):
    """Set the trial point to the current point."""
    for k in range(size_of(state)):
        state[slots.TRIAL + k] = state[slots.X + k]
