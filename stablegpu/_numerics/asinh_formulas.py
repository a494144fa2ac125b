"""The inverse hyperbolic sine without overflow, for both targets."""

import math

from hetero.jit import FUSED, scalar


@scalar(fastmath=FUSED)
def asinh(z: float) -> float:
    """Return the inverse hyperbolic sine, also where the square of z overflows."""
    size = abs(z)
    if size > 1e8:
        u = math.log(size) + 0.6931471805599453
    else:
        u = math.log1p(size + size * size / (1.0 + math.sqrt(1.0 + size * size)))
    return u if z > 0.0 else -u
