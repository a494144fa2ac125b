"""arctan(x)/pi. For rational x it is rational at 0, 1 and -1 only (Niven)."""

from fractions import Fraction

from tmd.functions.function import Function
from tmd.functions.parts import in_half_turns, points_at

_value = in_half_turns(lambda x: x.atan())

FUNCTION = Function(
    "atanpi",
    series=_value,
    exact=lambda x: {-1: (-1, -2), 0: 0, 1: (1, -2)}.get(x),
    value=_value,
    points=points_at(0),
    limits=(Fraction(-1, 2), Fraction(1, 2)),
    symmetry="odd",
    monotone=True,
)
