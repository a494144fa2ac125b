"""Coefficients of polynomials, computed when the formulas are first used instead of tabulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.polynomial import chebyshev


def economized_series(taylor: Sequence[float], radius: float, count: int) -> tuple[float, ...]:
    """Return `count` coefficients, highest power first, of a polynomial for |x| < radius.

    It is the Taylor series written in Chebyshev polynomials and truncated, so its largest error is
    close to the smallest possible one.
    """
    powers = radius ** np.arange(len(taylor))
    series = chebyshev.poly2cheb(np.array(taylor) * powers)[:count]
    return tuple(float(c) for c in (chebyshev.cheb2poly(series) / powers[:count])[::-1])


def economized_even_series(taylor: Sequence[float], radius: float, count: int) -> tuple[float, ...]:
    """Return `economized_series` coefficients of an even function, all in powers of x^2."""
    spread = [c for pair in zip(taylor, [0.0] * len(taylor), strict=True) for c in pair]
    return economized_series(spread, radius, 2 * count - 1)[::2]


def interpolating_polynomial(
    function: Callable[[np.ndarray], np.ndarray], low: float, high: float, count: int
) -> tuple[float, ...]:
    """Return the polynomial through `function` at Chebyshev's nodes of [low, high].

    Its `count` coefficients, the highest power first, are of powers of x - (low + high)/2.
    """
    nodes = np.cos(math.pi * (np.arange(count) + 0.5) / count)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    series = chebyshev.chebfit(nodes, function(middle + half * nodes), count - 1)
    powers = half ** np.arange(count)
    return tuple(float(c) for c in (chebyshev.cheb2poly(series) / powers)[::-1])
