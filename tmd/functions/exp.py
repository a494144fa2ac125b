"""e^x. Irrational for every rational x but 0 (Lindemann)."""

from tmd.functions import Function, never

FUNCTION = Function(
    "exp", series=lambda x: x.exp(), exact=lambda x: x == 0, hole=never, tiny=(1.0, 1)
)
