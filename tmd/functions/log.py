"""ln x for x > 0. Irrational for every rational x but 1 (Lindemann)."""

from tmd.functions import Function


def hole(lo, hi):
    """Of every logarithm: x <= 0, and the zero at 1."""
    if lo <= 0:
        return "no value at 0 and below"
    return "a zero at 1" if lo <= 1 < hi else None


FUNCTION = Function(
    "log", series=lambda x: x.log(), exact=lambda x: 0 if x == 1 else None, hole=hole
)
