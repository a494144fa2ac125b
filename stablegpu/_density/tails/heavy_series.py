"""The series of a heavy tail in powers of y^-alpha, and the limit of a light one.

    sf = 1/pi sum_k (-1)^(k+1) Gamma(k alpha)/k! sin(k alpha (pi/2 + theta0))
         cos(alpha theta0)^-k y^(-k alpha)

(Bergstrom 1952) converges for alpha < 1 and is asymptotic otherwise. `heavy_formulas.py` sums it;
`_fit/likelihood/half_line_formulas.py` has the derivatives of its first terms.
"""

from __future__ import annotations

import math

from stablegpu._density.half_line import HalfLine

TAIL_TERMS = 4
"""Terms of the series: where y^alpha >= e^12 they are exact to the last digit."""

FAR_LOG = 12.0
"""log of y^alpha from which on the four terms are exact."""

_INTEGRATED_TERMS = 6
"""Terms of the series' integral: where it is used they fall by 1e-5 each."""


def tail_coefficients(side: HalfLine) -> tuple[float, ...]:
    """Return the coefficients of sf in powers of y^-alpha; zeros if the tail is light."""
    if side.log_right == -math.inf:
        return (0.0,) * TAIL_TERMS
    angle, sign = side.alpha * side.length, 1.0
    if side.tail_gap < angle:
        angle, sign = side.tail_gap, -1.0  # sin(k (pi - gap)) = -(-1)^k sin(k gap)
    return tuple(
        (-sign) ** (k - 1)
        * math.exp(math.lgamma(k * side.alpha) - math.lgamma(k + 1.0) - k * side.log_cos)
        * math.sin(k * angle)
        / math.pi
        for k in range(1, TAIL_TERMS + 1)
    )


def integrate_tail(side: HalfLine, y: float) -> float:
    """Integrate the series of the tail probability from y to infinity, term by term; alpha > 1."""
    ratio = math.exp(-side.log_cos) * y**-side.alpha
    terms = (
        math.gamma(k * side.alpha)
        / (math.pi * math.factorial(k) * (k * side.alpha - 1.0))
        * math.sin(k * side.tail_gap)
        * ratio**k
        for k in range(1, _INTEGRATED_TERMS + 1)
    )
    return y * math.fsum(terms)


def log_limit_of_light_tail(side: HalfLine) -> float:
    """Return log V_0 of a light tail."""
    return side.log_scale + math.log(abs(1.0 - side.alpha)) - side.kappa * math.log(side.alpha)
