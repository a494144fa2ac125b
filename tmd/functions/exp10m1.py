"""10^x - 1. It has finitely many binary digits for integers x >= 0 only, like 10^x."""

import math
from fractions import Fraction
from typing import Any

from tmd.functions import expm1
from tmd.functions.function import Function, points_at


def _series(x: Any) -> Any:
    from flint import arb

    return expm1.series(x * arb.const_log10())


def _value(x: Any) -> Any:
    from flint import arb

    return (x * arb.const_log10()).expm1()


FUNCTION = Function(
    "exp10m1",
    series=_series,
    exact=lambda x: 10 ** int(x) - 1 if x.denominator == 1 and 0 <= x <= 4096 else None,
    value=_value,
    points=points_at(0),
    limits=(Fraction(-1), math.inf),
    monotone=True,
)
