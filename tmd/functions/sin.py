"""sin x for x in radians. It is irrational for every rational x but 0 (Lindemann)."""

from tmd.functions.function import Function, singularity_at_half_pi_multiples

FUNCTION = Function(
    "sin",
    series=lambda x: x.sin(),
    exact=lambda x: 0 if x == 0 else None,
    singularity=singularity_at_half_pi_multiples(0, "a zero"),
    trivial_near_zero=(1 / 6, 2),
    symmetry="odd",
    below_one=True,
)
