"""tan x, x in radians. Irrational for every rational x but 0 (Lindemann)."""

from tmd.functions import Function, multiple_of_pi

FUNCTION = Function(
    "tan",
    series=lambda x: x.tan(),
    exact=lambda x: 0 if x == 0 else None,
    hole=multiple_of_pi(2, "a zero or a pole"),
    tiny=(1 / 3, 2),
    symmetry="odd",
)
