"""e^x. Irrational for every rational x but 0 (Lindemann)."""

from tmd.functions import Function, never

FUNCTION = Function(
    "exp",
    series=lambda x: x.exp(),
    exact=lambda x: 1 if x == 0 else None,
    hole=never,
    tiny=(1.0, 1),
)
