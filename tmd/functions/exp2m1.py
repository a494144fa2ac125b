"""2^x - 1. It is rational for integers x only, like 2^x."""

import math
from fractions import Fraction
from typing import Any

from tmd.functions import expm1
from tmd.functions.function import Function, points_at


def _series(x: Any) -> Any:
    from flint import arb

    return expm1.series(x * arb.const_log2())


def _value(x: Any) -> Any:
    from flint import arb

    return (x * arb.const_log2()).expm1()


def _exact(x: Fraction) -> tuple[int, int] | None:
    if x.denominator != 1 or abs(x) > 1 << 14:
        return None
    n = int(x)
    return ((1 << n) - 1, 0) if n >= 0 else (1 - (1 << -n), n)


FUNCTION = Function(
    "exp2m1",
    series=_series,
    exact=_exact,
    value=_value,
    points=points_at(0),
    limits=(Fraction(-1), math.inf),
    monotone=True,
)
