"""sin x, x in radians. Irrational for every rational x but 0 (Lindemann)."""

from tmd.functions import Function, multiple_of_pi

FUNCTION = Function(
    "sin",
    series=lambda x: x.sin(),
    exact=lambda x: 0 if x == 0 else None,
    hole=multiple_of_pi(0, "a zero"),
    tiny=(1 / 6, 2),
    symmetry="odd",
    below_one=True,
)
