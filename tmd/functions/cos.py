"""cos x, x in radians. Irrational for every rational x but 0 (Lindemann)."""

from tmd.functions import Function, multiple_of_pi

FUNCTION = Function(
    "cos",
    series=lambda x: x.cos(),
    exact=lambda x: 1 if x == 0 else None,
    hole=multiple_of_pi(1, "a zero"),
    tiny=(1 / 2, 2),
    symmetry="even",
    below_one=True,
)
