"""artanh x for |x| < 1. It is irrational for every rational x but 0 (Lindemann)."""

from tmd.functions.function import Function
from tmd.functions.parts import integrate, points_at

FUNCTION = Function(
    "atanh",
    series=lambda x: integrate(x.derivative() / ((1 - x) * (1 + x)), x[0].atanh()),
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.atanh(),
    domain=(-1, 1),
    points=points_at(-1, 0, 1),
    is_singular=True,
    fixed_near_zero=("x", 2),
    symmetry="odd",
    monotone=True,
)
