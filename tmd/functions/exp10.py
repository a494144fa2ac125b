"""10^x. It is rational for integers x only, and has finitely many binary digits for x >= 0.

For x = a/b in lowest terms, b > 1, it would be a rational root of 10^a, but 5 divides that a times.
"""

import math
from typing import Any

from tmd.functions.function import Function
from tmd.functions.parts import log_of


def _value(x: Any) -> Any:
    return (x * log_of(10)).exp()


FUNCTION = Function(
    "exp10",
    series=_value,
    exact=lambda x: 10 ** int(x) if x.denominator == 1 and 0 <= x <= 4096 else None,
    value=_value,
    fixed_near_zero=(1, 1),
    limits=(0, math.inf),
    monotone=True,
)
