"""One step of an Ornstein-Uhlenbeck process with the sums that averages are made of.

State of a stretch of fine steps: the value O and F_d = sum_k C(R - k, d) O_k over its R steps
k = 1..R, d = 0..D. A step adds F_(d-1) to F_d from the last to the first and then the new O to F_0,
so the weights grow by themselves; stretches are joined by the powers of one triangular matrix.
"""

from hetero.intrinsics.floats import fma
from hetero.jit import scalar


@scalar(forceinline=True)
def advance(o, mu_minus_1, noise):
    """Return mu o + noise, with mu_minus_1 = mu - 1.

    For a fine step much shorter than tau, float32(mu) has a wrong distance from 1 and mu o rounds
    the drift away. Here the noise is added first, and its randomness carries the small drift.
    """
    return o + fma(mu_minus_1, o, noise)
