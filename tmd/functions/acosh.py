"""arcosh x for x >= 1. It is irrational for every rational x but 1 (Lindemann)."""

from tmd.functions.function import Function
from tmd.functions.parts import integrate, points_at

FUNCTION = Function(
    "acosh",
    series=lambda x: integrate(x.derivative() * ((x - 1) * (x + 1)).rsqrt(), x[0].acosh()),
    exact=lambda x: 0 if x == 1 else None,
    value=lambda x: x.acosh(),
    domain=(1, None),
    points=points_at(1),
    is_singular=True,
    monotone=True,
)
