"""zeta = -beta tan(pi alpha / 2) as the sum of two floats, for parameters that differ by point.

Next to the end of a support in S0 all digits of x - zeta come from the second float. The arithmetic
of such sums is that of Dekker (1971), with fused multiply-adds.
"""

from fractions import Fraction
from math import factorial

from hetero.intrinsics.floats import fma
from hetero.jit import scalar

NEXT_TO_ZETA = 1e-3
"""|x - zeta| over |zeta| below which zeta is needed in two floats."""

_TERMS = 14  # (pi/4)^(2 _TERMS) / (2 _TERMS)! < 1e-32


def _parts(number: Fraction) -> tuple[float, float]:
    high = float(number)
    return high, float(number - Fraction(high))


def _series(first: int) -> tuple:
    """Return coefficients of sin(w)/w (1) or cos(w) (0) in powers of w^2, the highest first."""
    return tuple(
        _parts(Fraction((-1) ** k, factorial(2 * k + first))) for k in reversed(range(_TERMS))
    )


_SINE, _COSINE = _series(1), _series(0)
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17)


@scalar
def _sum(a, b):
    """Return a + b, both of two floats."""
    s = a[0] + b[0]
    t = s - a[0]
    low = (a[0] - (s - t)) + (b[0] - t) + (a[1] + b[1])
    high = s + low
    return high, low - (high - s)


@scalar
def _product(a, b):
    """Return a b, both of two floats."""
    p = fma(a[0], b[0], 0.0)  # no product that the GPU could fuse with the sums below
    low = fma(a[0], b[0], -p) + (a[0] * b[1] + a[1] * b[0])
    high = p + low
    return high, low - (high - p)


@scalar
def _quotient(a, b):
    """Return a / b, both of two floats."""
    q = a[0] / b[0]
    remainder = _sum(a, _product((-q, 0.0), b))
    low = remainder[0] / b[0]
    high = q + low
    return high, low - (high - q)


@scalar
def _horner(coefficients, square):
    value = coefficients[0]
    for c in coefficients[1:]:
        value = _sum(_product(value, square), c)
    return value


@scalar
def zeta_in_parts(alpha, beta):
    """Return zeta for alpha != 1 as the sum of two floats, to some 30 digits."""
    near_one = 0.5 < alpha < 1.5
    distance = 1.0 - alpha if near_one else (alpha if alpha < 1.0 else alpha - 2.0)  # exact
    w = _product(_HALF_PI, (distance, 0.0))
    square = _product(w, w)
    sine, cosine = _product(_horner(_SINE, square), w), _horner(_COSINE, square)
    tangent = _quotient(cosine, sine) if near_one else _quotient(sine, cosine)
    return _product((-beta, 0.0), tangent)
