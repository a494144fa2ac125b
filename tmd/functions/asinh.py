"""arsinh x. It is irrational for every rational x but 0 (Lindemann)."""

from typing import Any

from tmd.functions.function import Function, points_at


def _series(x: Any) -> Any:
    from flint import arb_series

    return (x.derivative() * (1 + x * x).rsqrt()).integral() + arb_series([x[0].asinh()])


FUNCTION = Function(
    "asinh",
    series=_series,
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.asinh(),
    points=points_at(0),
    fixed_near_zero=("x", 2),
    symmetry="odd",
    monotone=True,
)
