"""ln x for x > 0. It is irrational for every rational x but 1 (Lindemann)."""

from fractions import Fraction

from tmd.functions.function import Function


def find_singularity(lo: Fraction, hi: Fraction) -> str | None:
    """Describe the singularity of any logarithm in [lo, hi): x <= 0, or its zero at 1."""
    if lo <= 0:
        return "no value at 0 and below"
    return "a zero at 1" if lo <= 1 < hi else None


FUNCTION = Function(
    "log",
    series=lambda x: x.log(),
    exact=lambda x: 0 if x == 1 else None,
    singularity=find_singularity,
    monotone=True,
)
