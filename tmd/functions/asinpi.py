"""arcsin(x)/pi for |x| <= 1. If it is rational, x is 0, 1/2 or 1 or their negatives (Niven).

At 1/2 it is 1/6, which has infinitely many binary digits.
"""

from tmd.functions.function import Function
from tmd.functions.parts import in_half_turns, points_at

_value = in_half_turns(lambda x: x.asin())

FUNCTION = Function(
    "asinpi",
    series=_value,
    exact=lambda x: {-1: (-1, -1), 0: 0, 1: (1, -1)}.get(x),
    value=_value,
    domain=(-1, 1),
    is_singular=True,
    points=points_at(-1, 0, 1),
    symmetry="odd",
    monotone=True,
)
