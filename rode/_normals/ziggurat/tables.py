"""Tables of the Ziggurat method (Marsaglia and Tsang 2000; Riesinger 2017, section 8.1)."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

STRIPS = tuple(2**n for n in range(1, 14))


@dataclass(frozen=True, eq=False)
class Ziggurat:
    """N strips of equal area v under f(x) = exp(-x^2/2), x >= 0.

    Attributes
    ----------
    x : (N + 1,) array: 0 = x_0 < x_1 < .. < x_(N-1) = r, and x_N = v/f(r) of the base strip
    r : where the tail begins
    v : area of a strip
    """

    x: np.ndarray
    r: float
    v: float

    @property
    def fast(self) -> float:
        """Probability that a draw needs a table and a product only: the mean of x_k/x_(k+1)."""
        return float(np.mean(self.x[:-1] / self.x[1:]))

    def diverging(self, lanes: int = 32) -> float:
        """Probability that at least one of the lanes of a warp leaves the fast path."""
        return 1.0 - self.fast**lanes


@functools.cache
def ziggurat(strips: int) -> Ziggurat:
    """Return the Ziggurat with a power of two of strips, from 2 to 2^13.

    r is found by bisection: where it is too large, the strips of area v(r) end below the peak
    (Riesinger 2017, figure 8.2), and the residue v - x_1 (1 - f(x_1)) is negative.
    """
    if strips not in STRIPS:
        raise ValueError(f"strips must be a power of two from 2 to 8192, got {strips!r}")
    low, high = 0.1, 10.0
    while True:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if _residue(middle, strips) < 0.0:
            high = middle
        else:
            low = middle
    edges = _edges(low, strips)
    if edges is None:
        raise ArithmeticError(f"no Ziggurat of {strips} strips was found")
    return Ziggurat(edges, low, _area(low))


def _area(r: float) -> float:
    """Return the area of a strip of the Ziggurat whose tail begins at r."""
    return r * math.exp(-0.5 * r * r) + math.sqrt(0.5 * math.pi) * math.erfc(r / math.sqrt(2.0))


def _edges(r: float, strips: int) -> np.ndarray | None:
    """Return x_0 .. x_N, or None if the strips end above the peak before x_1."""
    v, x = _area(r), np.zeros(strips + 1)
    x[strips], x[strips - 1] = v / math.exp(-0.5 * r * r), r
    for i in range(strips - 2, 0, -1):
        height = v / x[i + 1] + math.exp(-0.5 * x[i + 1] ** 2)
        if height >= 1.0:
            return None
        x[i] = math.sqrt(-2.0 * math.log(height))
    return x


def _residue(r: float, strips: int) -> float:
    """Return the area of a strip less that of the top one.

    It is 0 for the right r and negative if r is too large.
    """
    x = _edges(r, strips)
    if x is None:
        return math.inf
    return _area(r) - x[1] * (1.0 - math.exp(-0.5 * x[1] ** 2))
