"""artanh x for |x| < 1. It is irrational for every rational x but 0 (Lindemann)."""

from typing import Any

from tmd.functions.function import Function, points_at


def _series(x: Any) -> Any:
    from flint import arb_series

    return (x.derivative() / ((1 - x) * (1 + x))).integral() + arb_series([x[0].atanh()])


FUNCTION = Function(
    "atanh",
    series=_series,
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.atanh(),
    domain=(-1, 1),
    points=points_at(-1, 0, 1),
    is_singular=True,
    fixed_near_zero=("x", 2),
    symmetry="odd",
    monotone=True,
)
