"""e^x. It is irrational for every rational x but 0 (Lindemann)."""

from tmd.functions.function import Function, no_singularity

FUNCTION = Function(
    "exp",
    series=lambda x: x.exp(),
    exact=lambda x: 1 if x == 0 else None,
    singularity=no_singularity,
    trivial_near_zero=(1.0, 1),
    monotone=True,
)
