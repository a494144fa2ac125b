"""log2 x for x > 0. It is rational for powers of two only (unique factorization)."""

from typing import Any

from tmd.functions.function import Function, exponent_of_power, points_at


def _value(x: Any) -> Any:
    from flint import arb

    return x.log() / arb.const_log2()


FUNCTION = Function(
    "log2",
    series=_value,
    exact=lambda x: exponent_of_power(x, 2),
    value=_value,
    domain=(0, None),
    points=points_at(0, 1),
    monotone=True,
)
