"""arcosh x for x >= 1. It is irrational for every rational x but 1 (Lindemann)."""

from typing import Any

from tmd.functions.function import Function, points_at


def _series(x: Any) -> Any:
    from flint import arb_series

    return (x.derivative() * ((x - 1) * (x + 1)).rsqrt()).integral() + arb_series([x[0].acosh()])


FUNCTION = Function(
    "acosh",
    series=_series,
    exact=lambda x: 0 if x == 1 else None,
    value=lambda x: x.acosh(),
    domain=(1, None),
    points=points_at(1),
    is_singular=True,
    monotone=True,
)
