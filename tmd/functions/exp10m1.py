"""10^x - 1. It has finitely many binary digits for integers x >= 0 only, like 10^x."""

import math
from fractions import Fraction

from tmd.functions import expm1
from tmd.functions.function import Function
from tmd.functions.parts import log_of, points_at

FUNCTION = Function(
    "exp10m1",
    series=lambda x: expm1.series(x * log_of(10)),
    exact=lambda x: 10 ** int(x) - 1 if x.denominator == 1 and 0 <= x <= 4096 else None,
    value=lambda x: (x * log_of(10)).expm1(),
    points=points_at(0),
    limits=(Fraction(-1), math.inf),
    monotone=True,
)
