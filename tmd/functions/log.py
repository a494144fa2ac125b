"""ln x for x > 0. It is irrational for every rational x but 1 (Lindemann)."""

from tmd.functions.function import Function
from tmd.functions.parts import log_of, points_at

FUNCTION = Function(
    "log",
    series=lambda x: x.log(),
    exact=lambda x: 0 if x == 1 else None,
    value=lambda x: x.log(),
    domain=(0, None),
    points=points_at(0, 1),
    monotone=True,
    doubling=lambda: log_of(2),
)
