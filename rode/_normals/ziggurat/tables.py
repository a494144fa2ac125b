"""Tables of the Ziggurat method (Marsaglia and Tsang 2000; Riesinger 2017, section 8.1)."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

TAIL_STARTS = {
    2: 1.3292331281103218,
    4: 1.914928263803744,
    8: 2.3383716982472524,
    16: 2.6755367657376135,
    32: 2.961300121264019,
    64: 3.2136576271588955,
    128: 3.4426198558966514,
    256: 3.654152885361009,
    512: 3.852046150368391,
    1024: 4.038849846109504,
    2048: 4.216370409511896,
    4096: 4.3859450348713045,
    8192: 4.548600609949137,
}
"""r for each number of strips: the largest double with which the strips do not end below the peak.

Bisection in Python takes 60 to 430 ms, so the roots stand here; a test shows that each is one.
"""

STRIPS = tuple(TAIL_STARTS)


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
    """Return the Ziggurat with a power of two of strips, from 2 to 2^13."""
    if strips not in STRIPS:
        raise ValueError(f"strips must be a power of two from 2 to 8192, got {strips!r}")
    r = TAIL_STARTS[strips]
    return Ziggurat(edges_of(r, strips), r, area_of_strip(r))


def area_of_strip(r: float) -> float:
    """Return the area of a strip of the Ziggurat whose tail begins at r."""
    return r * math.exp(-0.5 * r * r) + math.sqrt(0.5 * math.pi) * math.erfc(r / math.sqrt(2.0))


def edges_of(r: float, strips: int) -> np.ndarray:
    """Return x_0 .. x_N, each from the next by the equal areas of the strips.

    If r is too small, the strips end above the peak before x_1, and the others are 0.
    """
    v, x = area_of_strip(r), [0.0] * (strips + 1)
    x[strips], x[strips - 1] = v / math.exp(-0.5 * r * r), r
    for i in range(strips - 2, 0, -1):
        height = v / x[i + 1] + math.exp(-0.5 * x[i + 1] ** 2)
        if height >= 1.0:
            break
        x[i] = math.sqrt(-2.0 * math.log(height))
    return np.array(x)
