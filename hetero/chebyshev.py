"""Coefficients of polynomials, computed when the formulas are first used instead of tabulated."""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import chebyshev


def economized_series(taylor, radius: float, count: int) -> tuple[float, ...]:
    """`count` coefficients, highest power first, of a polynomial near a series on |x| < radius.

    The series in Chebyshev polynomials, cut off: nearest but for a factor close to 1.
    """
    powers = radius ** np.arange(len(taylor))
    series = chebyshev.poly2cheb(np.array(taylor) * powers)[:count]
    return tuple(float(c) for c in (chebyshev.cheb2poly(series) / powers[:count])[::-1])


def economized_even_series(taylor, radius: float, count: int) -> tuple[float, ...]:
    """Return `economized_series` coefficients of an even function, all in powers of x^2."""
    spread = [c for pair in zip(taylor, [0.0] * len(taylor), strict=True) for c in pair]
    return economized_series(spread, radius, 2 * count - 1)[::2]


def interpolating_polynomial(function, low: float, high: float, count: int) -> tuple[float, ...]:
    """`count` coefficients in powers of x less the middle, highest first: Chebyshev's nodes."""
    nodes = np.cos(math.pi * (np.arange(count) + 0.5) / count)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    series = chebyshev.chebfit(nodes, function(middle + half * nodes), count - 1)
    powers = half ** np.arange(count)
    return tuple(float(c) for c in (chebyshev.cheb2poly(series) / powers)[::-1])
