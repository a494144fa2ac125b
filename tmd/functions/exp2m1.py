"""2^x - 1. It is rational for integers x only, like 2^x."""

import math
from fractions import Fraction

from tmd.functions import expm1
from tmd.functions.function import Function
from tmd.functions.parts import log_of, points_at


def _exact(x: Fraction) -> tuple[int, int] | None:
    if x.denominator != 1 or abs(x) > 1 << 14:
        return None
    n = int(x)
    return ((1 << n) - 1, 0) if n >= 0 else (1 - (1 << -n), n)


FUNCTION = Function(
    "exp2m1",
    series=lambda x: expm1.series(x * log_of(2)),
    exact=_exact,
    value=lambda x: (x * log_of(2)).expm1(),
    points=points_at(0),
    limits=(Fraction(-1), math.inf),
    monotone=True,
)
