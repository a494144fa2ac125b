"""ln(1 + x) for x > -1. It is irrational for every rational x but 0 (Lindemann)."""

from typing import Any

from tmd.functions.function import Function
from tmd.functions.parts import integrate, points_at


def series(x: Any) -> Any:
    """Return ln(1 + x) for a power series, whose value must not cancel."""
    return integrate((x + 1).log().derivative(), x[0].log1p())


FUNCTION = Function(
    "log1p",
    series=series,
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.log1p(),
    domain=(-1, None),
    points=points_at(-1, 0),
    is_singular=True,
    fixed_near_zero=("x", 1),
    monotone=True,
)
