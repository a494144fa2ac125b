"""tan x for x in radians. It is irrational for every rational x but 0 (Lindemann)."""

from tmd.functions.function import Function, singularity_at_half_pi_multiples

FUNCTION = Function(
    "tan",
    series=lambda x: x.tan(),
    exact=lambda x: 0 if x == 0 else None,
    singularity=singularity_at_half_pi_multiples(2, "a zero or a pole"),
    trivial_near_zero=(1 / 3, 2),
    symmetry="odd",
)
