"""The Householder transformation, for both targets."""

import math

from hetero._floats import constant
from hetero.jit import scalar

_LEAST = constant(2.0**-103, 2.0**-970)  # tiny/eps: sums of squares beyond have all their digits


@scalar
def reflection(alpha, tail):
    """(beta, tau, factor) for a vector (alpha, x), tail = x.x: H = 1 - tau v v^T maps it to
    (beta, 0), v = (1, factor x). As LAPACK's larfg: tau = 0 where the tail is 0 already.

    Also where it nearly underflows: H would not be orthogonal. `storage.scale_of` makes sure that
    what is dropped then is far below the rounding of the largest element."""
    if tail < _LEAST(tail):
        zero = alpha - alpha
        return alpha, zero, zero
    norm = math.sqrt(alpha * alpha + tail)
    beta = -norm if alpha >= 0.0 else norm
    return beta, (beta - alpha) / beta, type(alpha)(1) / (alpha - beta)
