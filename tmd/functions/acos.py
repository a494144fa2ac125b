"""arccos x for |x| <= 1. It is irrational for every rational x but 1 (Lindemann)."""

from tmd.functions.function import Function
from tmd.functions.parts import points_at

FUNCTION = Function(
    "acos",
    series=lambda x: x.acos(),
    exact=lambda x: 0 if x == 1 else None,
    value=lambda x: x.acos(),
    domain=(-1, 1),
    points=points_at(-1, 1),
    is_singular=True,
    monotone=True,
)
