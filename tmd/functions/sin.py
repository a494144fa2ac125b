"""sin x for x in radians. It is irrational for every rational x but 0 (Lindemann)."""

import math
from fractions import Fraction

from tmd.functions.function import Function
from tmd.functions.parts import count_in, points_at

FUNCTION = Function(
    "sin",
    series=lambda x: x.sin(),
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.sin(),
    points=points_at(0),
    count_points=count_in(math.pi),
    fixed_near_zero=("x", 2),
    symmetry="odd",
    below_one=True,
    singular_phases=(Fraction(0),),
)
