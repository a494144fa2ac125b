"""arsinh x. It is irrational for every rational x but 0 (Lindemann)."""

from tmd.functions.function import Function
from tmd.functions.parts import integrate, points_at

FUNCTION = Function(
    "asinh",
    series=lambda x: integrate(x.derivative() * (1 + x * x).rsqrt(), x[0].asinh()),
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.asinh(),
    points=points_at(0),
    fixed_near_zero=("x", 2),
    symmetry="odd",
    monotone=True,
)
