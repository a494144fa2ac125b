"""2^x. It is rational for integers x only; else it is a root of a power of two."""

import math
from typing import Any

from tmd.functions.function import Function
from tmd.functions.parts import log_of


def _value(x: Any) -> Any:
    return (x * log_of(2)).exp()


FUNCTION = Function(
    "exp2",
    series=_value,
    exact=lambda x: (1, int(x)) if x.denominator == 1 else None,
    value=_value,
    fixed_near_zero=(1, 1),
    limits=(0, math.inf),
    monotone=True,
)
