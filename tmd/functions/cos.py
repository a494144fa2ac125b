"""cos x for x in radians. It is irrational for every rational x but 0 (Lindemann)."""

from tmd.functions.function import Function, singularity_at_half_pi_multiples

FUNCTION = Function(
    "cos",
    series=lambda x: x.cos(),
    exact=lambda x: 1 if x == 0 else None,
    singularity=singularity_at_half_pi_multiples(1, "a zero"),
    trivial_near_zero=(1 / 2, 2),
    symmetry="even",
    below_one=True,
)
