"""Sine and cosine of angles that need no reduction, and a tangent, for both targets."""

from hetero.jit import scalar
from stablegpu import _parameters

tan_half_pi = scalar(_parameters.tan_half_pi)


@scalar
def sinc_excess(x: float) -> float:
    """Return sin(x)/x - 1 for |x| < 1.7, to full relative accuracy."""
    q = x * x
    s = -1.0 / 51090942171709440000.0 + q / 25852016738884976640000.0
    s = 1.0 / 121645100408832000.0 + q * s
    s = -1.0 / 355687428096000.0 + q * s
    s = 1.0 / 1307674368000.0 + q * s
    s = -1.0 / 6227020800.0 + q * s
    s = 1.0 / 39916800.0 + q * s
    s = -1.0 / 362880.0 + q * s
    s = 1.0 / 5040.0 + q * s
    s = -1.0 / 120.0 + q * s
    s = 1.0 / 6.0 + q * s
    return -q * s


@scalar
def sine(x: float) -> float:
    """Return sin(x) for |x| < 1.7 by its series.

    The library's function brings the reduction of large arguments with it, which would be most of
    a kernel.
    """
    return x + x * sinc_excess(x)


@scalar
def cosine(x: float) -> float:
    """Return cos(x) for |x| < 3.4, to absolute accuracy."""
    half = sine(0.5 * x)
    return 1.0 - 2.0 * half * half
