"""The Householder transformation, for both targets."""

import math

from hetero.jit import scalar


@scalar
def reflection(alpha, tail):
    """(beta, tau, factor) for a vector (alpha, x), tail = x.x: H = 1 - tau v v^T maps it to
    (beta, 0), v = (1, factor x). As LAPACK's larfg: tau = 0 where the tail is 0 already."""
    if tail == 0.0:
        zero = alpha - alpha
        return alpha, zero, zero
    norm = math.sqrt(alpha * alpha + tail)
    beta = -norm if alpha >= 0.0 else norm
    return beta, (beta - alpha) / beta, type(alpha)(1) / (alpha - beta)
