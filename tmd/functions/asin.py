"""arcsin x for |x| <= 1. It is irrational for every rational x but 0 (Lindemann)."""

from tmd.functions.function import Function
from tmd.functions.parts import points_at

FUNCTION = Function(
    "asin",
    series=lambda x: x.asin(),
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.asin(),
    domain=(-1, 1),
    points=points_at(-1, 0, 1),
    is_singular=True,
    fixed_near_zero=("x", 2),
    symmetry="odd",
    monotone=True,
)
