"""cos x for x in radians. It is irrational for every rational x but 0 (Lindemann)."""

import math
from fractions import Fraction

from tmd.functions.function import Function
from tmd.functions.parts import count_in, points_at

FUNCTION = Function(
    "cos",
    series=lambda x: x.cos(),
    exact=lambda x: 1 if x == 0 else None,
    value=lambda x: x.cos(),
    points=points_at(0),
    count_points=count_in(math.pi),
    fixed_near_zero=(1, 2),
    symmetry="even",
    below_one=True,
    singular_phases=(Fraction(1, 2),),
)
