"""log2(1 + x) for x > -1. It is rational where 1 + x is a power of two, like log2."""

from typing import Any

from tmd.functions import log1p
from tmd.functions.function import Function, exponent_of_power, points_at


def _series(x: Any) -> Any:
    from flint import arb

    return log1p.series(x) / arb.const_log2()


def _value(x: Any) -> Any:
    from flint import arb

    return x.log1p() / arb.const_log2()


FUNCTION = Function(
    "log2p1",
    series=_series,
    exact=lambda x: exponent_of_power(1 + x, 2),
    value=_value,
    domain=(-1, None),
    points=points_at(-1, 0),
    is_singular=True,
    monotone=True,
)
