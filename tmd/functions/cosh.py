"""cosh x. It is irrational for every rational x but 0 (Lindemann)."""

import math

from tmd.functions.function import Function
from tmd.functions.sinh import hyperbolic

FUNCTION = Function(
    "cosh",
    series=lambda x: hyperbolic(x, False),
    exact=lambda x: 1 if x == 0 else None,
    value=lambda x: x.cosh(),
    fixed_near_zero=(1, 2),
    limits=(math.inf, math.inf),
    symmetry="even",
    monotone=True,
)
