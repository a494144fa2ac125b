"""e^x. It is irrational for every rational x but 0 (Lindemann)."""

import math

from tmd.functions.function import Function

FUNCTION = Function(
    "exp",
    series=lambda x: x.exp(),
    exact=lambda x: 1 if x == 0 else None,
    value=lambda x: x.exp(),
    fixed_near_zero=(1, 1),
    limits=(0, math.inf),
    monotone=True,
)
