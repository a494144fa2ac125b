"""tanh x. It is irrational for every rational x but 0 (Lindemann)."""

from fractions import Fraction

from tmd.functions.function import Function
from tmd.functions.parts import points_at
from tmd.functions.sinh import hyperbolic

FUNCTION = Function(
    "tanh",
    series=lambda x: hyperbolic(x, True) / hyperbolic(x, False),
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.tanh(),
    points=points_at(0),
    fixed_near_zero=("x", 2),
    limits=(Fraction(-1), Fraction(1)),
    symmetry="odd",
    below_one=True,
    monotone=True,
)
