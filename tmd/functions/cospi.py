"""cos(pi x) = sin(pi (x + 1/2)); see sinpi for its rational values."""

from fractions import Fraction

from tmd.functions import sinpi
from tmd.functions.function import Function

FUNCTION = Function(
    "cospi",
    series=lambda x: x.cos_pi(),
    exact=lambda x: sinpi.exact(x + Fraction(1, 2)),
    value=lambda x: x.cos_pi(),
    lattices=(Fraction(1, 2), Fraction(1, 2)),
    fixed_near_zero=(1, 2),
    symmetry="even",
    below_one=True,
)
