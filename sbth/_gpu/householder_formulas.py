"""Householder reflections, for both targets."""

import math

from hetero.intrinsics.floats import constant
from hetero.jit import scalar

_SMALLEST_TAIL = constant(2.0**-103, 2.0**-970)
"""tiny/eps in float32 and float64: smaller sums of squares lose digits to underflow."""


@scalar
def reflection(alpha, tail):
    """Return (beta, tau, factor) of the reflection that eliminates x of a vector (alpha, x).

    H = 1 - tau v v^T with v = (1, factor x) maps the vector to (beta, 0), as in LAPACK's larfg;
    `tail` is x.x. tau = 0 if x is 0, and also if x.x nearly underflows, because H would not be
    orthogonal. `inspection.safe_scale` ensures that the elements that are neglected then are far
    below the rounding error of the largest element.
    """
    if tail < _SMALLEST_TAIL(tail):
        zero = alpha - alpha
        return alpha, zero, zero
    norm = math.sqrt(alpha * alpha + tail)
    beta = -norm if alpha >= 0.0 else norm
    return beta, (beta - alpha) / beta, type(alpha)(1) / (alpha - beta)
