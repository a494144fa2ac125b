"""arctan x. It is irrational for every rational x but 0 (Lindemann)."""

from tmd.functions.function import Function
from tmd.functions.parts import points_at

FUNCTION = Function(
    "atan",
    series=lambda x: x.atan(),
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.atan(),
    points=points_at(0),
    fixed_near_zero=("x", 2),
    symmetry="odd",
    monotone=True,
)
