"""Coefficients of the exponential integral E_n, computed for each n when it is first needed."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

EDGE = 0.75
"""End of the power series: up to here its terms cancel by less than exp(2 EDGE) = 4.5."""

_NODES = 48  # of the interpolation; the coefficients that it does not need are dropped
_PRECISION = 320  # bits


class Expansion(NamedTuple):
    """Constants of the expansions of E_n for one n.

    E_n(x) = near(x) - factor x^power log(x) for x <= edge, and exp(-x) t far(t - centre) above,
    where t = 1/(x + shift); `near` and `far` are polynomials.
    """

    shift: float
    centre: float
    edge: float
    power: int
    factor: float
    at_zero: float


@functools.lru_cache(maxsize=64)
def table(n: int, dtype: str) -> tuple[np.ndarray, np.ndarray, Expansion]:
    """Return (near, far, expansion) of E_n, n >= 0, for "float32" or "float64".

    The highest powers come first.
    """
    real = np.dtype(dtype).type
    if n == 0:  # exp(-x)/x
        one, none = np.ones(1, real), np.zeros(1, real)
        zero = real(0.0)
        return none, one, Expansion(zero, zero, zero, 0, zero, real(math.inf))
    digits = np.finfo(real).nmant + 1
    shift = real(max(2.0, n))
    centre, far = _far(n, float(shift), digits)
    near, power, factor = _near(n, digits)
    at_zero = real(1.0 / (n - 1) if n > 1 else math.inf)
    expansion = Expansion(shift, real(centre), real(EDGE), power, real(factor), at_zero)
    return np.array(near, real), np.array(far, real), expansion


def _near(n: int, digits: int) -> tuple[list[float], int, float]:
    """Series about 0 (DLMF 8.19.8), and power and factor of the term with the logarithm."""
    from flint import arb

    terms, k, size = [], 0, 1.0
    while size > 2.0 ** (-digits - 6):
        factorial = arb(k).fac()
        if k == n - 1:
            terms.append((-1) ** k * arb(n).digamma() / factorial)
        else:
            terms.append((-1) ** (k + 1) / ((k - n + 1) * factorial))
        k += 1
        size = EDGE**k / math.factorial(k)
    power = n - 1 if n <= k else 0
    factor = (-1) ** power / math.factorial(power) if n <= k else 0.0
    return [float(c.mid()) for c in reversed(terms)], power, factor


def _far(n: int, shift: float, digits: int) -> tuple[float, list[float]]:
    """Centre and coefficients of exp(x) E_n(x)/t in powers of t - centre, by interpolation."""
    from flint import arb, arb_poly, ctx

    before, ctx.prec = ctx.prec, _PRECISION
    try:
        largest = 1 / (arb(EDGE) + shift)
        centre = float(np.float32(float(largest.mid()) / 2.0))
        angles = [arb(2 * k + 1) * arb.pi() / (2 * _NODES) for k in range(_NODES)]
        values = []
        for angle in angles:
            t = largest * (1 + angle.cos()) / 2
            x = 1 / t - shift
            values.append(x.exp() * x.expint(n) / t)
        series = [
            2 * sum(v * (j * a).cos() for v, a in zip(values, angles, strict=True)) / _NODES
            for j in range(_NODES)
        ]
        sizes = [abs(float(c.mid())) for c in series]
        degree = _NODES - 1
        while degree > 0 and sum(sizes[degree:]) < 2.0 ** (-digits - 3) * sizes[0]:
            degree -= 1
        u = arb_poly([2 * arb(centre) / largest - 1, 2 / largest])
        low, high = arb_poly([0]), arb_poly([0])
        for c in reversed(series[1 : degree + 1]):  # Clenshaw
            low, high = 2 * u * low - high + arb_poly([c]), low
        result = u * low - high + arb_poly([series[0] / 2])
        return centre, [float(result[j].mid()) for j in range(degree, -1, -1)]
    finally:
        ctx.prec = before
