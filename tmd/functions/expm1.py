"""e^x - 1. It is irrational for every rational x but 0 (Lindemann)."""

import math
from fractions import Fraction
from typing import Any

from tmd.functions.function import Function
from tmd.functions.parts import integrate, points_at


def series(x: Any) -> Any:
    """Return e^x - 1 for a power series, whose value must not cancel."""
    return integrate(x.exp().derivative(), x[0].expm1())


FUNCTION = Function(
    "expm1",
    series=series,
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.expm1(),
    points=points_at(0),
    fixed_near_zero=("x", 1),
    limits=(Fraction(-1), math.inf),
    monotone=True,
)
