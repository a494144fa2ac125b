"""1 - erf(x). See erf for what is known about its values."""

from fractions import Fraction

from tmd.functions.function import Function

FUNCTION = Function(
    "erfc",
    series=lambda x: x.erfc(),
    exact=lambda x: 1 if x == 0 else None,
    value=lambda x: x.erfc(),
    fixed_near_zero=(1, 1),
    limits=(Fraction(2), 0),
    monotone=True,
)
